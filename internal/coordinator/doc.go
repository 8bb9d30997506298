// Package coordinator runs the effects of internal/round: it holds the links of
// the sites, opens masked sums, makes them private and publishes what the log
// has committed (docs/protocol.md). What it knows for good is in Machine,
// which changes only through the Log; everything else dies with the process and
// is asked for again.
//
// All state is one leader, behind Machine's lock (docs/adr/0013-leader.md). Three parties want it:
// the log, which calls Machine.Apply; the sites' streams and the operator's requests, which call
// methods of Coordinator; and the goroutines of effects, which come back through core.inTerm. Each
// takes the leader from lock, calls its methods, which never wait, and gives it back. Only then may
// it wait, as core.apply does for the log.
package coordinator

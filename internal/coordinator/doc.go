// Package coordinator runs the effects of internal/round: it holds the links of the sites, has
// internal/session open masked sums and make them private, and publishes what the log has committed
// (docs/protocol.md). What must outlive the process is in Machine, which changes only through the
// Log; everything else dies with the process and is asked for again.
//
// A message of a site comes in at server.receive. Its session makes an event of it, round.State
// makes effects of that (leader.step), and leader.run does them: a message goes out (leader.send),
// or an entry into the log (leader.propose), which comes back as Machine.Apply.
//
// All state is one leader, behind Machine's lock (docs/adr/0013-leader.md). Three parties want it:
// the log, which calls Machine.Apply; the sites' streams and the operator's requests, which call
// methods of Coordinator; and the goroutines of effects, which come back through core.inTerm. Each
// takes the leader from lock, calls its methods, which never wait, and gives it back. Only then may
// it wait, as core.apply does for the log.
package coordinator

// Package round is the state machine of one study: decisions, setup, queries,
// retries, result (docs/protocol.md). It is pure: Step takes a state and
// an event and gives effects. Deadlines are events; randomness, sums, signatures'
// verification and the network belong to internal/coordinator, which runs
// the effects on the leader and none of them on a follower.
//
// What must survive a crash is in Durable and changes only by a Committed
// event. Everything else is what the leader has seen since it began to lead: a
// crash loses it, and the sites are asked again and answer with the same bytes.
package round

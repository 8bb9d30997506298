// Package doctor is `agent check`: it looks at all that an agent needs and changes nothing. It
// opens neither the ledger nor a link, so it may run beside the agent.
//
// Whatever it finds is a Finding with a code, which scripts rely on, and with a remedy where
// something is not in order.
package doctor

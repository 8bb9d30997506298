// Package uplink keeps a site's one outbound link to its coordinator: it finds the one that leads,
// says hello, reads requests and hands them to the site in the order of each study, sends the
// answers, puts every message on the egress record before it is sent, and meanwhile renews the
// certificate. It also says how many and how long the messages of a study are.
//
// One gRPC stream carries messages both ways, each cut into frames of at most 1 MiB, 512 MiB a
// message. The agent pings every 30 s, with or without a stream, and gives up on an answer after
// 20 s; the coordinator's enforcement policy allows that. The numbers are in internal/frame, for
// both sides.
//
// Nothing here decides what is answered: that is internal/agent's.
package uplink

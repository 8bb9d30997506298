// Package uplink keeps a site's one outbound link to the leading coordinator. It finds the leader,
// says hello, hands requests to the site in the order of each study, records every message in the
// egress log before it sends it, and renews the certificate. It also computes how many and how long
// a study's messages are.
//
// One gRPC stream carries messages both ways, each cut into frames of at most 1 MiB, 512 MiB a
// message. The agent pings every 30 s, with or without a stream, and gives up on an answer after
// 20 s; the coordinator's enforcement policy allows that. The numbers are in internal/frame, for
// both sides.
//
// Nothing here decides what is answered: that is internal/agent's.
//
// # Rules
//
// Rules of docs/protocol.md that this package keeps, at length.
//
//   - AG-18: The agent opens one gRPC stream over mTLS with frames of at most 1 MiB (31 KiB are
//     sent). It pings every 30 s, with or without a stream, and waits 20 s. A message that does
//     not decode ends the link.
//   - AG-22: An agent MUST call only its configured addresses, any of which will do. It calls a
//     named leader at once if that is configured, and never follows the hint of a hint.
//   - AG-27: A decision whose link ended meanwhile MUST be sent on the present link, behind its
//     hello, or its study be in the next hello.
//   - AG-28: While answers are not read, a site MUST keep a bounded number of them and MUST NOT
//     read further questions. It MUST read at most 100,000 messages at once, and then 50 a second.
//   - AG-34: Each message that leaves MUST be recorded under the study that it names.
//   - AG-36: A message longer than the approved studies need (the bound is 33 to 512 MiB) MUST end
//     the link. Before it is decoded it MUST be one body, once, of at most two entries for each
//     site of the largest roster. What is read and not yet processed MUST be at most 66 MiB, or
//     one message. A proposal MUST have at most 2^19 of `[`, `{` and `,`, and MUST be refused at
//     its first unknown key. Waiting proposals MUST be at most 64 MiB together, a logged reason
//     500 bytes.
//   - AG-26: The hello has the head of the chain that the site kept (CH-2). It names studies by 16
//     bytes of their digests, in 60 KiB altogether. `open` MUST list every waiting proposal and
//     every approved study that the ledger has not finished, whether or not its last result is on
//     record; `all_open` MUST be set only if none is left out. `over` MUST list only finished and
//     rejected ones, the newest that fit. An unreadable ledger or folder is left out.
package uplink

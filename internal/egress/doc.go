// Package egress keeps a site's record of what left it: egress.jsonl, one line for each message,
// with its kind, its study, its size and its hash, and never its content. The lines are chained, so
// that a change to the file shows.
//
// Log is the agent's, which appends. Verify reads the file by itself, beside a running agent or
// without one. The package knows no messages: the agent describes each by a Line.
//
// # Rules
//
// The rules of docs/protocol.md that this package keeps, at length.
//
//   - EGR-1: A line of `egress.jsonl`, which nobody moved or cut since, MUST be written before its
//     message is sent, renewals, standing calls, questions for results and notifications included.
//     It has the message's SHA-256 and `prev`, the link before: 64 zeros, then the SHA-256, in hex,
//     of the link before and the line without its break. A study's first line MUST be on the disk
//     then.
//   - EGR-2: `agent egress --verify` MUST find a line changed, removed, inserted or moved, a file
//     without the last line that the running agent has recorded, and, unless the file says that it
//     was begun anew, one without any message of a study that the ledger was charged for. Where it
//     can read neither the agent's record nor the ledger, it MUST say so. The next whole line
//     covers one that a crash cut off; other missing last lines show only against a link noted
//     elsewhere.
//   - AG-37: Answers about studies neither pending nor on the ledger MUST be paced: 256, and one
//     more every ten seconds; about studies on record and not approved, 4,096 and one a second. No
//     request about a proposal that waits, but for its end, MUST have it read again.
//     `egress.jsonl` holds all that leaves and nothing else.
package egress

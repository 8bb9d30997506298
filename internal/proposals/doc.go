// Package proposals keeps a site's files about studies that no ledger holds: the proposals that
// await its operator, how those that are over here ended, and how many of each analyst's came in a
// day. Losing a file loses no budget and decides nothing. What a proposal is, and its bytes, are
// package proposal's.
//
// # Rules
//
// Rules of docs/protocol.md that this package keeps, at length.
//
//   - AG-32: Records of proposals that are over MUST be at most 100 and 64 MiB, the oldest dropped
//     first. No answer depends on them.
//   - AG-54: Of one analyst's key a site MUST take at most 5 proposals that are open (being
//     decided, waiting, or approved and not over), one open of a name and data set, and 20 new
//     ones in 24 hours of its clock, each of at most 3 MiB; it MUST answer any more with
//     `too_many`. The day's count is on disk before a proposal is looked at. A policy MUST NOT
//     approve a proposal that nobody signed while 20 such studies that it approved are not over.
package proposals

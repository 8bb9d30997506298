// Package secagg masks sites' sums so that a coordinator can open only their total: the protocol of
// Bonawitz and others (2017), with its setup batched into one-time slots (docs/protocol.md). It is
// pure: messages in, messages out. It checks all that must be checked. What must happen only once
// (one upload and one survivor set a slot, one opening a query) is for the caller's journal to
// keep.
//
// Site indices are roster order from 0; site i holds the Shamir shares at x = i+1.
// Vectors are over Z_2^b, b in 32..64, held in []uint64 below 2^b.
//
// # Why "continue" signs in a trip of its own
//
// With "wait" the signature comes with the upload, and the shares are recorded with it: U can only
// be all sites. With "continue" it is a trip of its own. Signing all sites as U with the upload
// would open no second sum: sites sign one U a slot (L6), the honest sites that sent shares in a
// slot and those that signed in a later one are disjoint (L9, L10), and 2(q - η) > N - η. But it
// would bind each slot to all sites. One
// that drops out would cost the query the slot, a deadline, and an upload of every site in a spare
// slot, and a corrupt site could do so as often as there are spares. And a signature would no
// longer mean that its U was committed: a restored coordinator, which adopts the U that sites hold
// (R7), would adopt one that waits for sites that are away. Sites with long links can use "wait".
//
// # Rules
//
// The rules of docs/protocol.md about masks, shares and signatures, at length. internal/graph
// keeps A13 to A18; what must happen once is the ledger's.
//
//   - A1: Before a box is sealed all N announcements MUST be checked: exact header and length,
//     signature by the roster's key, an X25519 key that is not of low order, an ML-KEM key that
//     `crypto/mlkem` takes, P of numbers below ℓ. On the sparse graph ML-KEM keys and bodies are
//     for the leader, for the sites that seal to it and for its holders. The site is named
//     (`bad_announcement`); a key or body that its head does not name is nobody's.
//   - A2: With every dealer's shares a site MUST find c_x again: of the leaves of its shares and
//     of y_0 = P(x) - Σ g^m y_m, which it MUST forget and never send. Every key MUST give the tag
//     in its box. Else the sender is at fault (AG-60).
//   - A3, AG-9: No upload MUST leave a site before it has checked all N confirmations of one
//     transcript. A wrong one is `bad_confirmation` of nobody: the coordinator relayed it.
//   - A4: Masks, signatures and shares MUST depend on ctx.
//   - A5, A9, A17: A release signature and shares MUST be refused unless U has at least U_min
//     sites, ascending, each with at least r mask neighbors in U. Two certificates for one slot
//     MUST be impossible with η sites that sign twice.
//   - A6: Shares MUST be sent only for a certificate of q valid signatures of distinct sites: of
//     b_j for j in U, of e_j for j outside, never both.
//   - A7: Each opened secret MUST be compared with its hash, exactly, before a mask is removed. If
//     one does not fit, the T helpers whose shares made it MUST be asked for proofs, one dealer at
//     a time. One whose leaves and share do not make the dealer's c_x is at fault (`bad_share`),
//     and its shares no longer count; one that does not answer by the deadline, or whose link ends,
//     loses them until its next link, without a fault, if the others' are enough. If T have proved
//     and it still differs the dealer is at fault: the study ends (`bad_dealer`) if it is in U,
//     else none of its keys counts (A60).
//   - A8: Fewer than q helpers MUST NOT open a sum; q MUST, exactly.
//   - A10: Secrets, keys of pairs and pads among them, MUST print as [redacted] and stay out of
//     logs and JSON.
//   - A11: On a restart or under a new leader a setup MUST be read with the signatures of its
//     announcements and all N confirmations checked; there is nothing else to check.
//   - A12: What a site sends for given secrets MUST be the same bytes in all versions of one
//     label.
//   - A13: Above 64 sites every site MUST itself compute the plan's K, T, m, r (docs/graph.md):
//     2·U_min > N+η; 2T > K+c for the corrupt holders c of every site and of the committee, and
//     connected survivors, each but with 2^-42.
//   - A14: Every site MUST derive the graph from the seed as docs/protocol.md has it, in every
//     version of one label.
//   - A15: A site MUST show its nonce only after it has checked and stored all N heads, MUST take
//     part in one setup of a study, and MUST NOT upload for a graph of other heads or nonces than
//     it confirmed.
//   - A16: A graph in which a site has fewer than r mask neighbors MUST be refused.
//   - A18: Only signatures of the committee count, T of distinct members. Only holders of j hold
//     shares of j, at their place among its holders.
//   - A60: The key of a pair with a site outside U MUST be of that site's e, if it is the owner's,
//     else of its deposit; and be taken only if it gives the pair's tag. Tags that are not at hand
//     MUST be made of the owner's e, if all of the slot have the log's hash. A site outside U
//     whose e, keys or deposits do not fit is at fault (`wrong_deposit`). For its pairs, and where
//     a deposit is not at hand, the survivors MUST be asked (Keys); a key that misses its tag is
//     that survivor's fault (`bad_share`), and the opening waits for the right one.
package secagg

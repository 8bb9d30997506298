// Package responder answers the queries of a study that a site approved: with a masked sum over its
// rows, its signature on who is in the sum, the shares that open it, and proofs and keys if these
// are not enough. It takes the coordinator's signed releases, follows by them what comes next, and
// signs the study's result at the end.
//
// Nothing here trusts the coordinator: a query is checked against the plan and against what
// this site was told before. What leaves is first charged and then stored in the ledger, and sent
// from there, so that a process that is started again sends the same bytes.
//
// # Rules
//
// The rules of docs/protocol.md about a site's answers to queries, at length.
//
//   - AG-10: An agent MUST answer only the query that its releases lead to (AG-40), of the
//     confirmed setup, that fits the plan (S3, S9). A refused query is not charged.
//   - AG-11, L6: A site MUST sign at most one (context, U) a slot, recorded before the signature
//     leaves. Asked for another it MUST return what it holds. It repeats no signature for a slot
//     before the latest it signed.
//   - AG-12, L8: A site MUST send shares only on a certificate (A6) for the slot it was asked
//     about, for one (slot, context, U) a query, ever, recorded before they leave. It MUST send
//     proofs and keys only for that (slot, context, U), while it would send those shares again.
//     Keys are those of all its pairs with sites outside U; it MUST send none if it is outside
//     itself, nor in a whole setup.
//   - AG-13: An agent MUST take as final only the first release that the proposal's coordinator
//     key signed, for that query and slot, that fits the plan and follows from those before it
//     (AG-41), with the certificate of its U (V13), which is stored with it.
//   - AG-21: Asked again for a query in whose slot it signed, it MUST say what it signed (`held`)
//     and whether shares there are on record (`shared`) before it sends the upload (R7).
//   - AG-24: With distributed noise it MUST add its share to its vector before it masks it.
//   - AG-25: While a final result is being written it MAY add up rows for the next query. It MUST
//     NOT store or send anything for that query before the result is durable. Before the erasure
//     is durable it MUST NOT answer anything but that upload. A query that it refuses MUST NOT wait
//     for a sum over rows.
//   - AG-70: An agent MUST sign a result only if the verifier's own function finds no fault in the
//     whole but the sites' signatures (V2 to V13), with the releases, certificates and
//     confirmations that it holds itself filled in; else it refuses with `bad_result`, or with
//     `out_of_order` and what it lacks. A certificate that it checked for AG-13, of these bytes of
//     the release and in this setup, need not be checked again.
//   - AG-71: It MUST sign one draft of a study, ever, recorded before the signature leaves: the
//     same draft gets the same bytes, also after the end, and another is refused with
//     `second_result`.
//   - AG-72: It MUST refuse with `broken_chain` to sign a result whose `chain_head` is not a link
//     of the chain that it was shown, or not that of the study's last release.
package responder

// Package chain is the hash chain over what the coordinators' log decides: which sites joined and
// were revoked, proposals, releases and the ends of studies (docs/protocol.md). A coordinator
// extends it with each such entry ([Log]); a site follows it ([Follower]) and recomputes every
// link, so that a coordinator which shows another past than before cannot hide it.
//
// # Its size
//
// A step is 32 bytes: 100 studies of 500 queries are 1.6 MB, which a site that was away for all of
// them is shown once. A chain has at most 2^20 entries. A site that kept none of them holds 72
// bytes for each that it is shown until it has kept it: 75 MB at most, and three times that while
// the list grows. The signature bounds none of this: who leads has the key.
//
// # Rules
//
// The rules of docs/protocol.md about the chain, at length; internal/agent and
// internal/coordinator keep them with this package.
//
//   - CH-1: The chain MUST be a function of the log, the same on every coordinator, after a
//     restart and from a snapshot.
//   - CH-2: A leader MUST send a Head before each query and draft, which shows all entries applied
//     since the head that the site kept, or was shown on this link.
//   - CH-3: A site MUST recompute every link, and MUST refuse Query, Release, Open and Attest with
//     `broken_chain` where a link is not the one that it kept, where the chain ends before what it
//     kept, does not begin where it was shown last, has no signature by the proposal's coordinator
//     key, or does not hold the study's last release on record, or else its proposal; or if no
//     Head came on this link.
//   - CH-4: It MUST keep every link that it was shown, and the last signature, on its ledger
//     before it answers.
//   - CH-5: Such a refusal MUST charge nothing and end nothing: the site answers again once the
//     chain extends what it kept. A query that is final is answered with its result before the
//     chain is looked at, so that a coordinator that lost releases adopts them, and with them the
//     same links.
//   - CH-6: A site that kept an older head, of a restored ledger, is shown what follows that one.
//   - CH-7: Another chain MUST be taken only on the word of the site's operator, who names the
//     link shown. The site then forgets the chain but for that head, is shown all of it on a new
//     link, and MUST refuse one that does not lead there. It MUST log both heads.
//   - CH-8: A leader MUST log both heads where a hello has one that is not of its chain, and show
//     its own at once, and whenever it lists sites: there may be no query to come until the site's
//     operator has accepted the head that the leader's operator reads out.
//   - CH-9: An entry of the log MUST have the head that its proposer had applied, and a coordinator
//     whose chain does not have it MUST end: the log was decided twice.
package chain

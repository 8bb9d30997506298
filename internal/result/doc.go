// Package result makes a study's result from its releases, signs it, verifies result files, and
// puts them in words. It is pure, and asks package study what follows from a release.
//
// # Why T signatures
//
// Signatures are left out of what is signed, so that a coordinator that lost which sites certified
// a sum, and asks them again, makes the same result, and sites that signed it return the same
// bytes. Sites are sent the draft alone: a signature costs each of them a few numbers a component,
// and no release travels twice.
//
// Two results of one setup would need 2T signatures of K sites of which c sign twice: 2T > K+c
// (S6, A13) excludes both, as it excludes two certificates. T is that of certificates over 64
// sites, too, not q of all: a holder of T keys of the committee certifies what releases there are,
// so that more signatures on the whole would not make a second result harder for that adversary,
// and only K sites are sent the draft and compute.
//
// # Rules
//
// The rules of docs/protocol.md that this package keeps, at length.
//
//   - V1: Every key MUST be there once, spelled as written, and no other; base64 MUST be in its
//     one form. Layout and the way a number is written are free.
//   - V2: `digest` MUST be the SHA-256 of `proposal`, and a plan MUST follow from it.
//   - V3: There MUST be one release for each query of the study's course, in order, of two
//     branches of `method = "auto"` the one that the releases before it decide. Each MUST have the
//     coordinator key's signature on its one encoding: the JSON that Go's encoding/json writes of
//     it, vectors as packed numbers.
//   - V4: Each release MUST fit the plan (S7), with `on_dropout = "wait"` over all sites, and its
//     slot MUST be later than the slot before.
//   - V5: X_0 MUST be the plan's start, and each later X, center, found, scale, fill, deviations
//     and R what follows from the releases before.
//   - V6: Each charge MUST be the plan's of its query, and the file's `rho` their sum, at most the
//     plan's.
//   - V7: `chain` MUST be that of the signed releases, and each one's `previous` the link of the
//     one before.
//   - V8: `chain_head` MUST have a number above that of releases; every other field MUST be what
//     follows from the proposal and the releases.
//   - V9: `signature` MUST be the coordinator key's over digest, chain and rest: no bit of a file
//     can change, unless a site signs again.
//   - V10: A result that a coordinator signed once MUST verify as long as a version speaks its
//     protocol: later fields are left out where they are empty.
//   - V11: A coordinator MUST NOT sign a result of a proposal that names another key.
//   - V12: A site that is listed in a result and never approved its study MUST refuse it (`agent
//     verify -C DIR`).
//   - V13: Each release MUST have a certificate of exactly T signatures of different sites of the
//     committee, ascending, on transcript, slot, ctx (of what the release says) and H(U), for a U
//     that A17 allows; the committee is that of the transcript (A14), which all N sites MUST have
//     confirmed.
//   - V14: `site_signatures` MUST be of exactly T different sites of the committee, ascending,
//     over this result.
package result

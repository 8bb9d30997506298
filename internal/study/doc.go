// Package study turns a proposal into a plan: parameters to rounds, radius,
// grid, ring, noise, slots and the queries in order (docs/protocol.md). It
// is pure and runs the same on both sides: the coordinator proposes with it,
// an agent checks every query against it, and neither trusts the other's
// numbers.
//
// # What the tolerance is for
//
// The tolerance of AG-40 is for the last digits of X_0 and σ, which hold logarithms and
// exponentials. So does the bound that a histogram's bin must reach: once in 10^10 bins it is
// within a last digit of a whole number, and two processors may differ. The site then refuses
// (plan_mismatch), the study ends or goes on without it, and nothing is charged twice.
//
// A site cannot see whether a release is the sum with its noise, nor whether all sites were told
// the same. But contexts of two histories differ: no certificate has signatures of both, and a sum
// with uploads of both stays masked (S2, A4). Two signed releases with one previous link prove a
// fork.
//
// # Rules
//
// The rules of docs/protocol.md that this package keeps, at length.
//
//   - S1: The digest MUST be of the proposal's exact bytes, which MUST hold every parameter in its
//     final form, under keys in lower case.
//   - S2: A query's context ctx MUST bind digest, transcript, query, slot, its kind and
//     round by the plan, history, X, center, found, scale, fill, deviations, R, g, σ, ring and
//     lanes.
//   - S3: An agent MUST refuse a query whose index or slot is not the plan's; whose X, found or
//     fill vectors are not the plan's number, finite and orthonormal within 1e-9; whose center is
//     not finite, above 2^150 or not in the plan; whose scales are neither 0 nor in 2^-100..2^100,
//     or not in the plan; whose deviations are not in 2^-100..2^100, or not the plan's number;
//     whose R the plan does not allow; whose g is not R's; or whose σ is not the plan's for the Δ
//     recomputed from R, g, the number of values and `sites_per_unit`.
//   - S4: The charges of a plan's queries MUST convert to at most the proposal's (ε, δ).
//   - S5: A plan without a ring that holds n(R/g+√d) + 40σ below 2^(b-1) MUST be refused.
//   - S6: Thresholds MUST have 2q > N+η and U_min >= max(q, η+2), and U_min = N with `on_dropout =
//     "wait"`.
//   - S7: An agent MUST refuse a release unless it is the plan's query over at least U_min roster
//     sites with their units.
//   - S8: Sums and noise MUST be scaled by the same grid, sensitivities and bins, to the bit:
//     those of internal/query.
//   - S9, S10: Queries MUST be answered in the plan's order from its first, less one whole branch
//     of `method = "auto"`, which closes when a query of the other is final. The charges of the
//     branch taken and of what is asked in any case MUST be all that a study may spend.
//   - S11: A plan whose private Λ would rest on too few groups MUST be refused, and a study where
//     none stands out MUST end.
//   - S12: What follows from given releases MUST be the same to the last bit on every processor:
//     sums in a fixed order, each product rounded before it is added.
//   - S13: A plan that counts or scales single columns (`standardize`, `levels`, or gaps that
//     `missing` fills or makes zero) MUST have distributed noise, or the proposal's
//     `central_detail`, which no policy approves by itself.
//   - S14: A plan that pictures sites by themselves MUST have distributed noise, and an agent MUST
//     refuse it unless its policy has `picture_by_site`. A site MUST fill no block but its own.
//   - AG-40: An agent MUST find each query itself from the signed releases that it holds, and MUST
//     refuse another: with `forked` one of another history; with `plan_mismatch` one whose X,
//     found, scale, fill, deviations or R is not what it finds, within 1e-9, or whose center is
//     not, within 1e-9 of its largest coordinate (where scales are learned, of each coordinate's
//     own size or scale); with `out_of_order`, and how many releases it has followed (`lacks`),
//     one that is not due, or the branch that the releases do not lead to.
//   - AG-41: It MUST record no release that does not follow from those that it has followed, nor
//     one in another encoding than its one. One that comes before those it follows is recorded and
//     compared when they are there; if it does not fit then, the agent MUST answer no query of the
//     study any more (`forked`). All of this MUST outlive a restart.
package study

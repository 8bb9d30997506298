// Package graph says who does what for whom in a masked sum (docs/graph.md): who holds shares of
// whose secrets, who shares masks with whom, and whose signatures on a survivor set count. It draws
// the sparse graph of large rosters from a seed, and computes the probabilities that make it safe.
// It knows nothing of keys.
//
// # Holders and committee
//
// Notation and demands are in docs/graph.md. For an honest site j, the number c of corrupt holders
// is hypergeometric (K of N-1, η marked), and its tail is summed exactly. The union is over N + 1:
// if |C| < η, then for any honest site C can be filled up to η without it, which only adds to c.
// The committee is drawn from N, so its tail is lower. At K = N-1, c = η and T is the complete
// graph's.
//
// # Connected survivors
//
// Let |C| = η. If U \ C is the disjoint union of A and B without an edge between them, and a = |A|
// ≤ |B|, every site of A has r neighbors in A ∪ C, and |B| ≥ w - a.
//
//   - Apart. Fixed A and B' of a and b honest sites draw none of each other, independently:
//     (C(N-1-b, m)/C(N-1, m))^a · (C(N-1-a, m)/C(N-1, m))^b.
//   - Inside. Given that, the degrees inside A ∪ C sum to S ≥ a·r; an edge in A counts 2, one from
//     A to C counts 1. A site of A drew a uniform m-subset of N-1-b sites, one of C of N-1. A
//     uniform subset's indicators are negatively associated; so are independent families together
//     and increasing functions of disjoint parts (Joag-Dev and Proschan, Ann. Statist. 11, 1983,
//     3.1, P7, P6); {i,j} is an edge if i drew j or j drew i, so edges are. The bound is below; t
//     is found by halving, and any t ≥ 0 bounds. It is 0 if all edges do not reach a·r.
//   - a = 1 alone is exact: r corrupt neighbors, x drawn (hypergeometric), r-x of the η-x others
//     that drew it (binomial, m/(N-1)).
//
// With p = m/(N-1), p' = m/(N-1-b), ρ_A = 1-(1-p')², ρ_C = 1-(1-p')(1-p), for every t ≥ 0:
//
//	P(S ≥ a·r) ≤ (1+ρ_A(e^{2t}-1))^{a(a-1)/2} · (1+ρ_C(e^t-1))^{aη} · e^{-t·a·r}.
//
// Let n' = N - η. The sum over a = 1..⌊w/2⌋ of the smaller of C(n',a)·inside(a, 0) and
// C(n',a)·C(n'-a, w-a)·apart(a, w-a)·inside(a, w-a) covers A of up to ⌊w/2⌋ (B' any w - a sites of
// B). Larger A and B hold sets of ⌊w/2⌋ and ⌈w/2⌉ that are apart:
// C(n',⌊w/2⌋)·C(n'-⌊w/2⌋,⌈w/2⌉)·apart. All of C is counted, so neither U nor which of C is in U is
// part of the union.
//
// Fewer corrupt sites. Let |C| < η and a split of some U \ C into A and B exist. Fill C up to η at
// random, independently. All of A is filled with probability at most s = η/N, all of B (⌈w/2⌉
// sites or more) with at most s^⌈w/2⌉; otherwise the filled set too has a split of U. So P_C ≤
// P_η/(1 - s - s^⌈w/2⌉), and the sum must be below 2^-42·(1 - s - s^⌈w/2⌉).
//
// # Progress
//
// Privacy does not rest on this. If sites drop out independently with probability δ, then but for
// 10^-6 each, U_min sites remain (where U_min is N, sums wait for all sites, and mask neighbors
// too are all there), T of the committee and of every site's holders, and r neighbors of every
// site. The tails are exact (binomial; for neighbors the convolution of drawn and drawn-by), with
// a union over sites; at K = N-1, T + 1 sites are enough. Sites with fewer than r neighbors are
// left out of U, whose largest such choice is unique.
//
// # Rounding
//
// Probabilities are natural logs in float64, and 10^-3 relative is safe. Tails are right to 10^-8
// against integers of 3,000 digits (TestTailsFarOut) and to 10^-11 against fractions
// (TestTailsAreExact). ln k! is at most 8·10^4 at N = 10,000 (7·10^5 at 65,535), so good to 10^-11
// (10^-10); the apart term uses it at most 4·10^5 times over, where it is far below 2^-42.
// Approximate t, the min of two bounds and stopping at a sum over the limit only overstate. Terms
// left out of a tail are below 10^-13 of it; terms below e^-745, at most 33,000, count as 0. A
// platform whose Lgamma differs by 10^-12 moves a bound by less than 10^-3: numbers that close to
// 2^-42 may pass on one platform alone, and none that misses 2^-40 passes.
package graph

// Package clip turns a site's units and one query into an integer vector whose change under
// replacement of one unit is bounded for every input. A map turns a unit's rows into a vector
// ([Map]: the power step Σ y (yᵀX) of the clipped private power iteration of Ene and Nguyen 2026,
// Algorithm 1, for one direction or a block; the mean; the second moment; variances along
// directions; the total variance; the number of rows); the vector is clipped to size R, rounded
// once to grid g, and added to the other units' as integers (docs/protocol.md). [Histogram] counts
// units by the size of their map, from which a private radius is taken; [Groups] counts groups of
// units by their top eigenvalue. [Matrix.Less], [Matrix.Sphere], [Matrix.Off] and [Matrix.Pairs]
// make the rows of a query about centered, normalized, deflated or paired data.
//
// A unit is a row ([NewMatrix]) or several ([NewUnits]). The results are exact sums and are NOT
// private by themselves: the caller masks them, or adds noise scaled to
// [query.Definition.Sensitivity] or [query.HistogramSensitivity], before they leave the process.
//
// # Why the sensitivity is bounded
//
// A float64 sum over many rows has no useful worst-case sensitivity (Casacuberta et al. 2022),
// because replacing one row changes how all later additions round. Here every unit is turned into
// an integer vector v that depends on that unit and the query alone, and integers are added, so the
// total changes by v' - v and nothing else. Let u = 2^-53, and a the vector of real numbers that v
// rounds: each coordinate once, to the nearest integer, so ‖v-a‖ ≤ √L/2 for L values. We show for
// every unit that
//
//	‖a‖ ≤ (R/g)(1-2^-31), hence ‖v‖ ≤ R/g + √L/2 and ‖v-v'‖ ≤ 2R/g + √L.
//
// One row a unit, one direction: v_j = round(c·y_j), c = clamp(s/g, ±b), s is the computed yᵀx and
// b = (R/g)(1-2^-30)/‖y‖.
//
//   - The clamp bounds |c| whatever s is, so the accuracy of the dot product does not matter.
//   - The computed ‖y‖ is at least the true one times (1-u)^(d/2+1)·(1-2^-95): products and
//     additions of non-negative terms each lose a factor 1-u at most, at most d of them act on one
//     term, the square root halves the exponent and rounds once. Squares that underflow lose at
//     most d·2^-1075 together, at most 2^-95 of any sum of squares that is not below 2^-960; rows
//     below that count as zero rows.
//   - b takes two more roundings, hence ‖c·y‖ ≤ (R/g)(1-2^-30)(1+u)²/((1-u)^(d/2+1)(1-2^-95)),
//     which is below (R/g)(1-2^-31) for every d up to [MaxDim] = 2^20, where the losses are under
//     2^-33.
//   - FMA rounds the exact c·y_j + 1.5·2^52 once, to an integer, since |c·y_j| ≤ 2^40.
//
// One row a unit, k directions: v is round(c_l·y_j), c_l = f·w_l, where w = s·2^-e is the k
// computed products, the largest in [1, 2), and f is the smaller of 2^e/g and b/‖w‖. So ‖a‖ =
// ‖c‖·‖y‖ ≤ b·‖y‖ but for the roundings of ‖w‖ (k/2+1), of the quotient and of c_l: (d+k)/2+6 in
// all, below 2^-32. The accuracy of s does not matter here either. The mean is c·y with c the
// smaller of 1/g and b.
//
// A unit of several rows, all maps but the moment: its rows' vectors are summed in float64 to one
// vector z of L values, and whatever rounding did to z does not matter: z is finite (at most
// [MaxUnitRows] = 2^22 rows of norm about 2^500), it depends on the unit alone, and it is z that is
// clipped. With w = z·2^-e, the largest in [1, 2), v = round(f·w_j), f the smaller of 2^e/g and
// (R/g)(1-2^-30)/‖w‖. ‖w‖ is computed in runs of 1024, so at most 2^10+2^14+1 roundings act on a
// term for L up to [query.MaxValues] = 2^24: a relative loss under 2^-38. The same code clips
// variances, totals and numbers of rows where a unit is one row.
//
// # Maps that are not negative
//
// Variances, totals and numbers of rows have z_j ≥ 0, exactly, so a and a' have no negative
// coordinate and aᵀa' ≥ 0:
//
//	‖a-a'‖² = ‖a‖² + ‖a'‖² - 2aᵀa' ≤ 2(R/g)²,
//
// and ‖v-v'‖ ≤ ‖a-a'‖ + ‖(v-a)-(v'-a')‖ ≤ √2·R/g + √L, as each coordinate of v-a and of v'-a' is at
// most 1/2 in magnitude, so that of their difference at most 1. (The inner product of the rounded
// vectors is not used: for a moment it can be negative.) One value lies in [0, R/g], so |a-a'| ≤
// R/g and |v-v'| ≤ R/g + 1.
//
// A moment M = Σ y yᵀ is positive semidefinite, stored so that the L2 product of two is the trace
// of their product, which is ≥ 0: tr(MM') = Σ (yᵀy')². Its L2 norm is the Frobenius norm, at most
// the trace, and the trace is what is clipped: a is c·M, c the smaller of 1/g and
// (R/g)(1-2^-30)/trace. Here floating point does enter, because the computed matrix is semidefinite
// only nearly. Of m rows, a product goes through at most m/4+5 additions and four other roundings
// (its own, and those of c, √2 and y_j into one factor), so a = P + E, P = c·M exactly and, entry
// by entry, |E| ≤ η·c·Σ|y||y|ᵀ with η < 2^-32 for m up to 2^22; the Frobenius norm of Σ|y||y|ᵀ is
// at most the trace again, so ‖E‖ ≤ η·c·trace. The computed trace is at least (1-2^-32) times the
// true one by the same count and d ≤ 5792 additions more, and c takes two roundings, so c·trace ≤
// (R/g)(1-2^-30)(1+u)²/(1-2^-32) ≤ (R/g)(1-2^-31), and
//
//	‖a-a'‖ ≤ ‖P-P'‖ + ‖E‖ + ‖E'‖ ≤ (√2 + 2η)(R/g)(1-2^-31) < √2·R/g,
//
// since 2η < 2^-31 < √2·2^-31(1-2^-31). Underflow adds less than 2^-700: it matters only where
// entries are below 2^-960, and c ≤ 1/g ≤ 2^240.
//
// # Histograms and groups
//
// A unit is in one bin, a group is in one bin, whatever rounding does to its size: only that it
// depends on the unit, or the group's units, alone. A replaced unit takes 1 from one bin and adds 1
// to another: √2.
//
// # Which unit takes which path
//
// The fused paths and the one for units of several rows round differently in the last bits. Which
// is taken depends on the constructor and the map, both public. If it depended on how many rows
// units have, one unit with a second row would change all others' vectors.
//
// # Derived matrices
//
// A row of Less, Sphere or Off depends on one row, and one of Pairs on two units' that no other row
// depends on. So replacing one unit replaces one unit of the derived matrix, to which the above
// applies: derived values are within the bounds that are checked at ingest.
//
// # Values stored as float32
//
// Every float32 is a float64, and widening one is exact, so a matrix of [NewMatrix32] or
// [NewUnits32] is the matrix of the same float64 values: rows are widened as they are loaded, and
// all arithmetic after that, the products s, the norms and the coefficients included, is the
// float64 arithmetic above, in the same order. So the bounds hold with the same slack, and the
// integers are the same to the bit (float32 values are below 2^128, far inside what ingest allows).
// What rounding a site's values to float32 changes, it changes in one unit at a time, before the
// map.
//
// # Zero and tiny rows
//
// A row whose computed sum of squares is below 2^-960 counts as a zero row in the fused paths and
// totals. That is also what exact arithmetic gives: ‖y‖ < 2^-479, so even the mean's ‖y‖/g <
// 2^-479·2^240 is far below the 1/2 at which a coordinate would round to ±1. So is a vector whose
// largest magnitude is below 2^-1000.
//
// # Same integers everywhere
//
// There is one order in which a dot product is added, and three sets of kernels that follow it to
// the bit: Go, and assembly for amd64 with AVX2 and FMA, and with AVX-512F and VL ([SetPath]). Lane
// l, of eight, starts at +0 and adds the products of places j ≡ l mod 8 from left to right, each
// product rounded before it is added; then t_l = a_l + a_(l+4), u_l = t_l + t_(l+2), s = u_0 + u_1.
// Eight lanes are one register of AVX-512, two of AVX2 and eight variables of Go. A lane is never
// -0, as it starts at +0, so the +0 that a masked load leaves where a row has ended changes
// nothing. In Go each product is written float64(a*b): the language forbids fusing across an
// explicit conversion. (The bound would hold with fused products as well; equal results would not.)
// A term goes through ⌈d/8⌉+2 additions, those to an empty lane are exact, and with its own
// rounding that is never more than the d that the bounds above allow.
//
// Coefficients are made of single operations, the same ones in the same order, four rows at a time
// or one. Several directions are tiles of rows by directions, whose registers change neither order.
//
// The rounding FMA is one operation with one result wherever it is done: math.FMA is exact with and
// without hardware support, and the assembly uses the instruction, in the rounding mode to the
// nearest that Go programs run in. Each product has an FMA of its own, from the constant: see add4
// for why they are not chained. Integer addition commutes, so neither lanes, blocks nor workers
// show. A unit's rows are blended four at a time from its first.
//
// # Rules
//
// The rules of docs/protocol.md that this package keeps, at length.
//
//   - C1: A value that is not finite, or not below 2^500/√d, MUST be refused at ingest by row and
//     column, never by value.
//   - C2: A row's contribution MUST be clamped by b = (R/g)(1-2^-30)/‖y‖.
//   - C3, C4: A row's vector MUST be rounded to integers once, by itself, before it is added to
//     another's. The rounding MUST be of the exact product c·y_j (half to even).
//   - C5: Replacing any row by any other MUST move the total by at most 2R/g + √d.
//   - C6: Rows whose computed sum of squares is below 2^-960 MUST count as zero rows.
//   - C7: The integers MUST NOT depend on workers or block size.
//   - C8: Dot products MUST be added in eight lanes: lane l starts at +0 and adds the products of
//     places j ≡ l mod 8 in order of j, each rounded before it is added; then t_l = a_l + a_(l+4),
//     u_l = t_l + t_(l+2), s = u_0 + u_1. Every path (portable Go, AVX2, AVX-512) MUST produce the
//     same bits.
//   - C9: A query MUST have x finite, of length d and of norm 1 within 1e-9; R in [2^-200, 2^200];
//     g a power of two with R/g in [2^16, 2^40]. A refusal looks at public values only.
//   - C10: A total that could reach 2^62 MUST be refused.
//   - C11: The default grid is g = 2^(⌊log₂R⌋-16), exactly.
//   - C12: A row MUST count in exactly one histogram bin. Edges are 2^(k/4) rounded to nearest; an
//     edge belongs to the bin above.
//   - C13: A unit of several rows MUST be summed, clipped once and rounded once. Replacing a unit
//     MUST move its map's sum by at most the Δ of docs/privacy.md.
//   - C14: A unit's path MUST depend on the map and on whether there is a unit column, and on no
//     row.
//   - C15: Rows MUST be centered, scaled, projected and paired by public values alone, and stay
//     within ingest's bounds for any finite center and scales. Gaps MUST be filled after that and
//     before a row is divided by its length, projected and clipped, each row by itself and by
//     released directions alone.
//   - C16: A group's octave MUST be a function of its own units' rows, for any finite rows.
//   - C17: Each product MUST be rounded to an integer by an FMA of its own from 1.5·2^52, and the
//     bits added as integers.
//   - C18: A row MUST count in one bin of scores along each direction, in one of each picture, or
//     in none. A unit of several rows MUST be their average, each bin rounded down to a multiple
//     of 2^-16.
package clip

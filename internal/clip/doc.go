// Package clip turns a site's rows and one query into an integer vector whose change under replacement of one row is
// bounded for every input: the power sum Σ_i round(clip_R(y_i y_iᵀ x)/g) of the clipped private power iteration (Ene and
// Nguyen 2026, Algorithm 1; design section 5), and the histogram of p_i = ‖y_i‖·|y_iᵀx| from which a private radius is taken.
//
// A row is one privacy unit. The results are exact sums and are NOT private by themselves: the caller masks them, or adds
// noise scaled to [Sensitivity] or [HistogramSensitivity], before they leave the process.
//
// # Why the sensitivity is bounded
//
// A float64 sum over many rows has no useful worst-case sensitivity (Casacuberta et al. 2022), because replacing one row
// changes how all later additions round. Here every row is turned into an integer vector that depends on that row and
// the query alone, and integers are added, so the total changes by the difference of two rows' vectors and nothing else.
// A row's vector is v_ij = round(c_i·y_ij), where c_i = clamp(s_i/g, ±b_i), s_i is the computed y_iᵀx and
// b_i = (R/g)(1-2^-30)/‖y_i‖. Let u = 2^-53.
//
//   - The clamp bounds |c_i| whatever s_i is, so the accuracy of the dot product does not matter.
//   - The computed ‖y_i‖ is at least the true one times (1-u)^(d/2+1)·(1-2^-95): products and additions of non-negative
//     terms each lose a factor 1-u at most, at most d of them act on one term, the square root halves the exponent and
//     rounds once. Squares that underflow lose at most d·2^-1075 together, at most 2^-95 of any sum of squares that is not
//     below 2^-960; rows below that count as zero rows.
//   - b_i takes two more roundings, hence ‖c_i y_i‖ ≤ (R/g)(1-2^-30)(1+u)²/((1-u)^(d/2+1)(1-2^-95)), which is below
//     (R/g)(1-2^-31) for every d up to [MaxDim] = 2^20, where the losses are under 2^-33.
//   - FMA rounds the exact c_i·y_ij + 1.5·2^52 once, to an integer, since |c_i·y_ij| ≤ 2^40. So each coordinate moves by at
//     most 1/2 and the vector by at most √d/2.
//
// Therefore ‖v_i‖ ≤ R/g + √d/2 and replacing one row moves the total by at most 2R/g + √d: the slack is 0.
//
// # Zero and tiny rows
//
// A row whose computed sum of squares is below 2^-960 gets b_i = 0 and contributes 0. That is also what exact arithmetic
// gives: ‖y‖² < 2^-959, so ‖(yᵀx) y‖/g < 2^-958/2^-240, far below the 1/2 at which a coordinate would round to ±1.
//
// # Same integers everywhere
//
// s_i is added from left to right, one product at a time, and each product is written float64(a*b): the language forbids
// fusing across an explicit conversion, so amd64, arm64 and the rest agree to the bit. (The bound would hold with fused
// products as well; equal results would not.) math.FMA is exact with and without hardware support. Integer addition commutes,
// so neither blocks nor workers show.
package clip

// Package noise samples the exact discrete Gaussian and accounts for the privacy loss
// (docs/privacy.md). The sampler turns random bits into integers of the law N_Z(0, σ²), P(x) ∝
// exp(-x²/(2σ²)), by integer arithmetic alone; the accountant converts between σ, ρ-zCDP and (ε,
// δ), rounding against the spender.
//
// # Rules
//
// The rules of docs/protocol.md that this package keeps, at length.
//
//   - N1, N2: Noise MUST be the exact discrete Gaussian of the query's σ. The sampler MUST NOT use
//     floating point.
//   - N3: Draws MUST be a function of the source's bytes alone.
//   - N4: A source that fails MUST cause an error and no draw.
//   - N5: The key MUST be the labeled hash of the lanes mod 2^b, ctx and H(U), the generator
//     AES-256-CTR from zero.
//   - N6: Draws of a key MUST stay the same across versions that share the label.
//   - N7: A generator MUST NOT print its state.
//   - N8: σ on the wire MUST be an integer of 2^-10 grid steps, not below what was planned.
//   - N9: Conversions MUST round against the spender.
//   - N10: A query MUST be charged once, and the ledger MUST refuse a sum above the budget.
//   - N11: A release MUST pass the study's check. The check MUST refuse a good one with
//     probability at most 2^-64.
//   - N12: A charge converts by the Gaussian's curve only if it was computed from σ² - 16 grid
//     steps² and its query's K is at most 2^-120 (a choice: π/2 times ε0²/8). An entry that does
//     not say so, and any population with one, converts by zCDP's. A budget in (ε, δ) MUST NOT grow
//     unless its operator writes `accountant = "gdp"`.
//   - N13: A site's share of noise MUST have the plan's parts (docs/privacy.md), a function of σ,
//     U_min, N and η, in integers: for every u from U_min to N the parts of levels from u on have
//     at least the variance σ²/(u - max(η, 1)); each part is rounded up on the sampler's grid, and
//     none but the first is below 4 grid steps.
//   - N14: A query with distributed noise MUST be charged the maximum over u of `DistributedRho`
//     of the kept parts of u - max(η, 1) sites and of its number of values, never Δ²/(2σ²) alone;
//     every step MUST round up.
//   - N15: A site MUST draw its first part from its own noise's key, which has a label of its own,
//     the part of level l from that of component l, and from nothing else. κ of u MUST give no
//     component l >= u.
//   - N16: A selection MUST draw candidate i with probability exactly proportional to
//     exp(ε0·score_i/2), in integer arithmetic, from scores that `OnCircle` takes off the ring.
//   - N17: A selection MUST be charged ε0²/8, rounded up, and ε0 MUST be bought rounded down.
//   - N18: Draws whose bits end MUST be errors and leave nothing.
//   - N19: What the checks of releases may refuse MUST come out of δ: of each checked query
//     exp(-(√(64 ln 2) - √ρ)²), rounded up, and of a population's (ε, δ) as much as any split of
//     its ρ can cost. No checked query MUST be charged more than ρ = 4.
//   - N20: With `sites_per_unit` = s every query's Δ MUST be s times one unit's, rounded up, and
//     the ε0 of a choice an s-th of what it is charged.
//   - N21: The coordinator MUST subtract, in Z_2^b, exactly the parts of levels below |U| of each
//     survivor whose κ came with its shares before the opening ended, and the release MUST name
//     those survivors in `removed`. It MUST wait for the shares of all of U until the open
//     deadline where parts can be taken away, and no longer. What names others, or any where
//     nothing can be taken away, MUST be refused (S7).
package noise

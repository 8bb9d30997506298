// Package noise is the exact discrete Gaussian and its accountant (docs/privacy.md). The sampler
// turns random bits into integers of the law N_Z(0, σ²), P(x) ∝ exp(-x²/(2σ²)), by integer
// arithmetic alone; the accountant converts between σ, ρ-zCDP and (ε, δ), rounding against whoever
// spends.
package noise

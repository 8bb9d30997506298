package clip

import "math"

// dots sets s[i] to rows[i]ᵀx, added from left to right without fusing: four rows at a time for four independent chains of
// additions, but each row's order is its own, so a row's s does not depend on its neighbours or its place.
func dots(s, rows, x []float64) {
	d := len(x)
	for len(s) >= 4 {
		r0, r1, r2, r3 := rows[:d], rows[d:2*d], rows[2*d:3*d], rows[3*d:4*d]
		r0, r1, r2, r3 = r0[:len(x)], r1[:len(x)], r2[:len(x)], r3[:len(x)] // no bounds check inside
		var s0, s1, s2, s3 float64
		for j, xj := range x {
			s0 += float64(r0[j] * xj)
			s1 += float64(r1[j] * xj)
			s2 += float64(r2[j] * xj)
			s3 += float64(r3[j] * xj)
		}
		s[0], s[1], s[2], s[3] = s0, s1, s2, s3
		s, rows = s[4:], rows[4*d:]
	}
	for i := range s {
		s[i], rows = dot(rows[:d], x), rows[d:]
	}
}

// dot is rᵀx from left to right, without fusing.
func dot(r, x []float64) float64 {
	r = r[:len(x)]
	sum := 0.0
	for j, xj := range x {
		sum += float64(r[j] * xj)
	}
	return sum
}

// accumulate adds to acc the bits of round(c[i]·rows[i]) + 1.5·2^52 for each row.
func accumulate(acc []uint64, rows, c []float64) {
	d := len(acc)
	for len(c) >= 4 {
		add4(acc, rows[:d], rows[d:2*d], rows[2*d:3*d], rows[3*d:4*d], c[0], c[1], c[2], c[3])
		c, rows = c[4:], rows[4*d:]
	}
	for _, ci := range c {
		add1(acc, rows[:d], ci)
		rows = rows[d:]
	}
}

// add4 adds to acc the bits of round(c·r) + 1.5·2^52 for four rows as long as acc. Each product is rounded by itself, from
// the constant: chaining one row's sum into the next FMA would save additions, but a tie would then go up or down with the
// parity of what other rows left, and one row would change all others' contributions.
func add4(acc []uint64, r0, r1, r2, r3 []float64, c0, c1, c2, c3 float64) {
	r0, r1, r2, r3 = r0[:len(acc)], r1[:len(acc)], r2[:len(acc)], r3[:len(acc)] // no bounds check inside
	for j := range acc {
		acc[j] += math.Float64bits(math.FMA(c0, r0[j], round)) +
			math.Float64bits(math.FMA(c1, r1[j], round)) +
			math.Float64bits(math.FMA(c2, r2[j], round)) +
			math.Float64bits(math.FMA(c3, r3[j], round))
	}
}

// add1 is add4 for one row.
func add1(acc []uint64, r []float64, c float64) {
	r = r[:len(acc)]
	for j := range acc {
		acc[j] += math.Float64bits(math.FMA(c, r[j], round))
	}
}

// blend adds Σ_i c[i]·rows[i] to v, four rows at a time and what is left one by one, without fusing. The four are added in pairs, so that a product goes
// through at most rows/4+5 additions.
func blend(v, rows, c []float64) {
	d := len(v)
	for len(c) >= 4 {
		blend4(v, rows[:d], rows[d:2*d], rows[2*d:3*d], rows[3*d:4*d], c[0], c[1], c[2], c[3])
		c, rows = c[4:], rows[4*d:]
	}
	for _, ci := range c {
		blend1(v, rows[:d], ci)
		rows = rows[d:]
	}
}

func blend4(v, r0, r1, r2, r3 []float64, c0, c1, c2, c3 float64) {
	r0, r1, r2, r3 = r0[:len(v)], r1[:len(v)], r2[:len(v)], r3[:len(v)]
	for j := range v {
		v[j] += (float64(c0*r0[j]) + float64(c1*r1[j])) + (float64(c2*r2[j]) + float64(c3*r3[j]))
	}
}

func blend1(v, r []float64, c float64) {
	r = r[:len(v)]
	for j := range v {
		v[j] += float64(c * r[j])
	}
}

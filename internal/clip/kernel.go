package clip

import "math"

// number is how a matrix stores a value. A float32 is widened where it is read, which is exact:
// from there on all is float64.
type number interface{ float32 | float64 }

// dots sets s[i] to rows[i]ᵀx, each as [dot] adds it, on the path in use. The memory far bytes
// after each row may be fetched meanwhile; 0 stands for what follows the rows.
func dots[T number](s []float64, rows []T, x []float64, far int) {
	rows = rows[:len(s)*len(x)]
	if len(rows) == 0 || !dotsVector(s, rows, x, far) {
		dotsPortable(s, rows, x)
	}
}

func dotsPortable[T number](s []float64, rows []T, x []float64) {
	for i := range s {
		s[i], rows = dot(rows[:len(x)], x), rows[len(x):]
	}
}

// dot is rᵀx in the order that every path follows to the bit (package comment): lane l adds the
// products of places j ≡ l mod 8 from left to right, without fusing, and the eight lanes are added
// in halves.
func dot[T number](r []T, x []float64) float64 {
	var a0, a1, a2, a3, a4, a5, a6, a7 float64
	r = r[:len(x)]
	for len(x) >= 8 && len(r) >= 8 {
		a0 += float64(float64(r[0]) * x[0])
		a1 += float64(float64(r[1]) * x[1])
		a2 += float64(float64(r[2]) * x[2])
		a3 += float64(float64(r[3]) * x[3])
		a4 += float64(float64(r[4]) * x[4])
		a5 += float64(float64(r[5]) * x[5])
		a6 += float64(float64(r[6]) * x[6])
		a7 += float64(float64(r[7]) * x[7])
		r, x = r[8:], x[8:]
	}
	switch r = r[:len(x)]; len(x) {
	case 7:
		a6 += float64(float64(r[6]) * x[6])
		fallthrough
	case 6:
		a5 += float64(float64(r[5]) * x[5])
		fallthrough
	case 5:
		a4 += float64(float64(r[4]) * x[4])
		fallthrough
	case 4:
		a3 += float64(float64(r[3]) * x[3])
		fallthrough
	case 3:
		a2 += float64(float64(r[2]) * x[2])
		fallthrough
	case 2:
		a1 += float64(float64(r[1]) * x[1])
		fallthrough
	case 1:
		a0 += float64(float64(r[0]) * x[0])
	}
	return ((a0 + a4) + (a2 + a6)) + ((a1 + a5) + (a3 + a7))
}

// accumulate adds to acc the bits of round(c[i]·rows[i]) + 1.5·2^52 for each row, on the path in
// use. far as in [dots].
func accumulate[T number](acc []uint64, rows []T, c []float64, far int) {
	rows = rows[:len(c)*len(acc)]
	if len(rows) == 0 || !accumulateVector(acc, rows, c, far) {
		accumulatePortable(acc, rows, c)
	}
}

func accumulatePortable[T number](acc []uint64, rows []T, c []float64) {
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

// add4 adds to acc the bits of round(c·r) + 1.5·2^52 for four rows as long as acc. Each product is
// rounded by itself, from the constant: chaining one row's sum into the next FMA would save
// additions, but a tie would then go up or down with the parity of what other rows left, and one
// row would change all others' contributions.
func add4[T number](acc []uint64, r0, r1, r2, r3 []T, c0, c1, c2, c3 float64) {
	// no bounds check inside
	r0, r1, r2, r3 = r0[:len(acc)], r1[:len(acc)], r2[:len(acc)], r3[:len(acc)]
	for j := range acc {
		acc[j] += math.Float64bits(math.FMA(c0, float64(r0[j]), round)) +
			math.Float64bits(math.FMA(c1, float64(r1[j]), round)) +
			math.Float64bits(math.FMA(c2, float64(r2[j]), round)) +
			math.Float64bits(math.FMA(c3, float64(r3[j]), round))
	}
}

// add1 is add4 for one row.
func add1[T number](acc []uint64, r []T, c float64) {
	r = r[:len(acc)]
	for j := range acc {
		acc[j] += math.Float64bits(math.FMA(c, float64(r[j]), round))
	}
}

// blend adds Σ_i c[i]·rows[i] to v, four rows at a time and what is left one by one, without
// fusing, on the path in use. The four are added in pairs, so that a product goes through at most
// rows/4+5 additions.
func blend(v, rows, c []float64) { blendApart(v, rows, c, len(c), len(v), 1) }

// blendApart is blend for n rows that begin every stride values, and coefficients every step.
func blendApart(v, rows, c []float64, n, stride, step int) {
	if len(v) == 0 || n == 0 {
		return
	}
	rows, c = rows[:(n-1)*stride+len(v)], c[:(n-1)*step+1] // the assembly trusts that
	if !blendVector(v, rows, c, n, stride, step) {
		blendPortable(v, rows, c, n, stride, step)
	}
}

func blendPortable(v, rows, c []float64, n, stride, step int) {
	i := 0
	for ; i+4 <= n; i += 4 {
		r, f := rows[i*stride:], c[i*step:]
		blend4(v, r, r[stride:], r[2*stride:], r[3*stride:], f[0], f[step], f[2*step], f[3*step])
	}
	for ; i < n; i++ {
		blend1(v, rows[i*stride:], c[i*step])
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

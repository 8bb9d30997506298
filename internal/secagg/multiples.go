package secagg

import "filippo.io/edwards25519"

// multiples are [16^t]P for t = 0..63, made once to multiply P by many scalars: the 252
// doublings are shared, and what is left to a scalar is about 80 additions. Time depends on the
// scalar: it is for secrets that have been opened, never for a site's own.
type multiples [64]edwards25519.Point

func newMultiples(p *edwards25519.Point) *multiples {
	m := new(multiples)
	m[0].Set(p)
	for t := 1; t < len(m); t++ {
		m[t].Double(&m[t-1])
		for range 3 {
			m[t].Double(&m[t])
		}
	}
	return m
}

// radix16 returns a scalar's 64 digits in -8..7, the highest in 0..2: scalars are below 2^253.
func radix16(s *edwards25519.Scalar) (digits [64]int8) {
	carry := int8(0)
	for t, b := range s.Bytes() {
		for half, d := range [2]int8{int8(b & 15), int8(b >> 4)} {
			d += carry
			carry = 0
			if d >= 8 {
				d, carry = d-16, 1
			}
			digits[2*t+half] = d
		}
	}
	return digits
}

// mult returns [s]P: the powers go into a bucket by the size of their digit, and the
// bucket of d counts d times.
func (m *multiples) mult(s *edwards25519.Scalar) *edwards25519.Point {
	var buckets [9]edwards25519.Point // by |d|
	for d := range buckets {
		buckets[d].Set(identity)
	}
	for t, d := range radix16(s) {
		switch {
		case d > 0:
			buckets[d].Add(&buckets[d], &m[t])
		case d < 0:
			buckets[-d].Subtract(&buckets[-d], &m[t])
		}
	}
	above, sum := edwards25519.NewIdentityPoint(), edwards25519.NewIdentityPoint()
	for d := len(buckets) - 1; d > 0; d-- {
		sum.Add(sum, above.Add(above, &buckets[d]))
	}
	return sum
}

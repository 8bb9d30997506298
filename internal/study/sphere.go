package study

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Public returns a generator of public randomness: keyed by the digest, so that every party can
// recompute it. Whoever proposes can try nonces until it likes what comes: privacy MUST NOT rest
// on it, and it is never used for noise.
func (p *Plan) Public(label string) *rand.Rand {
	key, err := hkdf.Key(sha256.New, p.Digest[:], nil, "covey public randomness v1: "+label, 32)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return rand.New(rand.NewChaCha8([32]byte(key)))
}

// startBlock is X_0 of a run: the proposal's start, or vectors uniform on the unit sphere of R^d
// (Algorithm 1, line 3), made orthogonal to each other and to what was found before.
func (p *Plan) startBlock(run int, found []float64) []float64 {
	label := "x0"
	if run > 0 {
		label = "x0 of run " + strconv.Itoa(run)
	}
	r := p.Public(label)
	basis := split(found, p.D)
	if s := p.Proposal.Spec.Start; s != nil {
		for _, v := range split(s.Vectors, p.D)[run*p.block() : (run+1)*p.block()] {
			if unit, ok := against(v, basis); ok {
				basis = append(basis, unit)
			}
		}
	}
	for len(basis) < len(found)/p.D+p.block() {
		x := make([]float64, p.D)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		if unit, ok := against(x, basis); ok {
			basis = append(basis, unit)
		}
	}
	return flat(basis[len(found)/p.D:])
}

// RandomRound is J of a run, uniform on 0..T-1 (Algorithm 1, line 9).
func (p *Plan) RandomRound(run int) int {
	label := "J"
	if run > 0 {
		label = "J of run " + strconv.Itoa(run)
	}
	return p.Public(label).IntN(p.Rounds)
}

// normalize returns v/‖v‖ in a new slice, or false for a zero or non-finite v.
func normalize(v []float64) ([]float64, bool) {
	n := norm(v)
	if n == 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil, false
	}
	unit := make([]float64, len(v))
	for i := range v {
		unit[i] = v[i] / n
	}
	return unit, true
}

// against returns v less its part in the span of an orthonormal basis, at unit length, or
// false where nothing of it is left. Twice is enough (Kahan; Parlett 1998, section 6.9).
func against(v []float64, basis [][]float64) ([]float64, bool) {
	unit, ok := normalize(v) // a nil v has no direction
	for range 2 {
		if !ok {
			return nil, false
		}
		for _, b := range basis {
			c := dot(unit, b)
			for i := range unit {
				unit[i] -= float64(c * b[i])
			}
		}
		if norm(unit) < 1e-8 {
			return nil, false
		}
		unit, ok = normalize(unit)
	}
	return unit, ok
}

// orthonormalize is the Q of a QR decomposition of the columns, with a positive
// diagonal. A column that depends on those before it is replaced by its fallback, or by
// the first unit vector that is independent.
func orthonormalize(columns, fallback [][]float64) [][]float64 {
	var out [][]float64
	for i, v := range columns {
		unit, ok := against(v, out)
		if !ok {
			unit, ok = against(fallback[i], out)
		}
		for j := 0; !ok; j++ { // at most len(out)+1 turns: as many unit vectors span more
			e := make([]float64, len(fallback[i]))
			e[j] = 1
			unit, ok = against(e, out)
		}
		out = append(out, unit)
	}
	return out
}

// split cuts vectors of d, one after another, apart; flat puts them together.
func split(v []float64, d int) [][]float64 {
	var out [][]float64
	for ; len(v) > 0; v = v[d:] {
		out = append(out, v[:d:d])
	}
	return out
}

func flat(vectors [][]float64) []float64 { return slices.Concat(vectors...) }

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// norm is the Euclidean norm, safe from overflow.
func norm(v []float64) float64 {
	big := 0.0
	for _, x := range v {
		big = max(big, math.Abs(x)) // NaN propagates through max
	}
	if big == 0 || math.IsInf(big, 0) || math.IsNaN(big) {
		return big
	}
	sum := 0.0
	for _, x := range v {
		sum += float64((x / big) * (x / big))
	}
	return big * math.Sqrt(sum)
}

// encoder writes the canonical bytes of what is hashed or signed: big-endian,
// fixed width, every variable part preceded by its length.
type encoder struct{ b []byte }

func newEncoder(label string) *encoder {
	e := &encoder{}
	e.bytes([]byte(label))
	return e
}

func (e *encoder) u64(v uint64)     { e.b = binary.BigEndian.AppendUint64(e.b, v) }
func (e *encoder) f64(v float64)    { e.u64(math.Float64bits(v)) }
func (e *encoder) bytes(v []byte)   { e.u64(uint64(len(v))); e.b = append(e.b, v...) }
func (e *encoder) fixed(v [32]byte) { e.b = append(e.b, v[:]...) }
func (e *encoder) floats(v []float64) {
	e.u64(uint64(len(v)))
	for _, x := range v {
		e.f64(x)
	}
}
func (e *encoder) sum() [32]byte { return sha256.Sum256(e.b) }

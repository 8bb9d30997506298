package study

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// public gives a generator of public randomness: keyed by the digest, so that
// every party can recompute it and none chose it alone. It is never used for noise.
func (p *Plan) public(label string) *rand.Rand {
	key, err := hkdf.Key(sha256.New, p.Digest[:], nil, "covey public randomness v1: "+label, 32)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return rand.New(rand.NewChaCha8([32]byte(key)))
}

// Start is x_0, uniform on the unit sphere of R^d (Algorithm 1, line 3).
func (p *Plan) Start() []float64 {
	r := p.public("x0")
	x := make([]float64, p.D)
	for {
		for i := range x {
			x[i] = r.NormFloat64()
		}
		if unit, ok := normalize(x); ok {
			return unit
		}
	}
}

// RandomRound is J, uniform on 0..T-1 (Algorithm 1, line 9).
func (p *Plan) RandomRound() int { return p.public("J").IntN(p.Rounds) }

// normalize gives v/‖v‖ in a new slice, or false for a zero or non-finite v.
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
		sum += (x / big) * (x / big)
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

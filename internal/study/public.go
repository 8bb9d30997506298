package study

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"math/rand/v2"
	"strconv"

	"covey/internal/linalg"
	"covey/internal/proposal"
)

// Public returns a generator of a study's public randomness: keyed by the digest, so that every
// party can recompute it. A proposer can try nonces until the outcome suits: privacy MUST NOT rest
// on it, and it is never used for noise.
func Public(d proposal.Digest, label string) *rand.Rand {
	key, err := hkdf.Key(sha256.New, d[:], nil, "covey public randomness v1: "+label, 32)
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
	r := Public(p.Digest, label)
	basis := linalg.Split(found, p.D)
	if s := p.Proposal.Spec.Start; s != nil {
		for _, v := range linalg.Split(s.Vectors, p.D)[run*p.block : (run+1)*p.block] {
			if unit, ok := linalg.Against(v, basis); ok {
				basis = append(basis, unit)
			}
		}
	}
	for len(basis) < len(found)/p.D+p.block {
		x := make([]float64, p.D)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		if unit, ok := linalg.Against(x, basis); ok {
			basis = append(basis, unit)
		}
	}
	return linalg.Flat(basis[len(found)/p.D:])
}

// randomRound is J of a run, uniform on 0..rounds-1 (Algorithm 1, line 9).
func randomRound(d proposal.Digest, run, rounds int) int {
	label := "J"
	if run > 0 {
		label = "J of run " + strconv.Itoa(run)
	}
	return Public(d, label).IntN(rounds)
}

// encoder hashes canonical bytes: big-endian, fixed width, every variable part preceded by its
// length. It holds few of them at a time.
type encoder struct {
	of hash.Hash
	b  []byte // not hashed yet
}

func newEncoder(label string) *encoder {
	e := &encoder{of: sha256.New()}
	e.bytes([]byte(label))
	return e
}

func (e *encoder) u64(v uint64) {
	if len(e.b) >= 4096 {
		e.flush()
	}
	e.b = binary.BigEndian.AppendUint64(e.b, v)
}
func (e *encoder) f64(v float64)    { e.u64(math.Float64bits(v)) }
func (e *encoder) bytes(v []byte)   { e.u64(uint64(len(v))); e.b = append(e.b, v...) }
func (e *encoder) fixed(v [32]byte) { e.b = append(e.b, v[:]...) }
func (e *encoder) flush() {
	e.of.Write(e.b) // a hash takes all
	e.b = e.b[:0]
}
func (e *encoder) floats(v []float64) {
	e.u64(uint64(len(v)))
	for _, x := range v {
		e.f64(x)
	}
}
func (e *encoder) sum() [32]byte {
	e.flush()
	return [32]byte(e.of.Sum(nil))
}

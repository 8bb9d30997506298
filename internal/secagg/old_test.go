package secagg

import (
	"bytes"
	"crypto/rand"
	"runtime"
	"sync"

	"filippo.io/edwards25519"
)

// The ways that batches replaced: what tests compare with, and benchmarks.

// oldDecode checks one point by itself, and its encoding by encoding it again.
func oldDecode(raw []byte) (*edwards25519.Point, error) {
	p, err := new(edwards25519.Point).SetBytes(raw)
	if err != nil || !bytes.Equal(p.Bytes(), raw) {
		return nil, errPoint
	}
	if !primeOrder(p) || p.Equal(identity) == 1 {
		return nil, errOrder
	}
	return p, nil
}

// oldSubgroup is what Verify did above reading the points.
func oldSubgroup(s *Setup) error {
	errs := make([]error, len(s.sites))
	tokens := make(chan struct{}, runtime.GOMAXPROCS(0))
	var work sync.WaitGroup
	for i, a := range s.sites {
		work.Go(func() {
			tokens <- struct{}{}
			for _, p := range a.points() {
				if raw := p.Bytes(); len(raw) != 32 || !primeOrder(p) || p.Equal(identity) == 1 {
					errs[i] = &SiteError{i, errOrder}
					break
				}
			}
			<-tokens
		})
	}
	work.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// oldBatch checks shares by one multiplication of all commitments by full-length scalars.
type oldBatch struct {
	powers  []*edwards25519.Scalar
	sum     *edwards25519.Scalar
	scalars []*edwards25519.Scalar
	points  []*edwards25519.Point
}

func newOldBatch(holder, quorum int) *oldBatch {
	b := &oldBatch{sum: edwards25519.NewScalar(), powers: []*edwards25519.Scalar{scalarOf(1)}}
	for k := 1; k < quorum; k++ {
		b.powers = append(b.powers, edwards25519.NewScalar().Multiply(b.powers[k-1], point(holder)))
	}
	return b
}

func (b *oldBatch) add(share *edwards25519.Scalar, c commitment) {
	var raw [32]byte
	rand.Read(raw[:16])
	r, err := decodeScalar(raw[:])
	if err != nil {
		panic(err)
	}
	b.sum.MultiplyAdd(r, share, b.sum)
	for k := range c {
		b.scalars = append(b.scalars, edwards25519.NewScalar().Multiply(r, b.powers[k]))
		b.points = append(b.points, &c[k])
	}
}

func (b *oldBatch) ok() bool {
	want := new(edwards25519.Point).VarTimeMultiScalarMult(b.scalars, b.points)
	return new(edwards25519.Point).ScalarBaseMult(b.sum).Equal(want) == 1
}

func oldReceive(s *Setup, self int, sec Secrets, boxes [][]byte) (Held, error) {
	held := make(Held, s.cfg.Slots)
	var everybody []int
	for i := range s.sites {
		everybody = append(everybody, i)
	}
	own := s.dealt(self, sec, everybody...)[self]
	for dealer := range s.sites {
		shares := own
		if dealer != self {
			var err error
			if shares, err = s.open(self, sec, dealer, boxes[dealer]); err != nil {
				return nil, &SiteError{dealer, err}
			}
		}
		check := newOldBatch(self, s.cfg.Quorum)
		for slot, h := range shares {
			check.add(h.m[0], s.sites[dealer].m[slot])
			check.add(h.b[0], s.sites[dealer].b[slot])
			held[slot].m = append(held[slot].m, h.m[0])
			held[slot].b = append(held[slot].b, h.b[0])
		}
		if !check.ok() {
			return nil, siteError(dealer, "a share does not fit its commitment")
		}
	}
	return held, nil
}

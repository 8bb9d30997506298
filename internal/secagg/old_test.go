package secagg

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
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

// oldExpand adds PRG(key) to v in Z_2^b, or subtracts it, one key at a time.
func oldExpand(v []uint64, key []byte, bits uint, subtract bool) {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	stream := cipher.NewCTR(block, make([]byte, aes.BlockSize))
	width := int(bits / 8)
	const chunk = 4096
	buffer := make([]byte, min(chunk, len(v))*width)
	for len(v) > 0 {
		n := min(chunk, len(v))
		part := buffer[:n*width]
		clear(part)
		stream.XORKeyStream(part, part)
		for i := range v[:n] {
			x := load(part[i*width:], bits)
			if subtract {
				x = -x
			}
			v[i] = (v[i] + x) & ringMask(bits)
		}
		v = v[n:]
	}
}

// oldLagrange inverts once a coefficient.
func oldLagrange(sites []int) []*edwards25519.Scalar {
	out := make([]*edwards25519.Scalar, len(sites))
	for a, i := range sites {
		over, under := scalarOf(1), scalarOf(1)
		for _, k := range sites {
			if k != i {
				over.Multiply(over, point(k))
				under.Multiply(under, edwards25519.NewScalar().Subtract(point(k), point(i)))
			}
		}
		out[a] = over.Multiply(over, under.Invert(under))
	}
	return out
}

// oldOpen is what Add and Unmask did: each helper's shares by one multiplication, each pair by
// another.
func oldOpen(o *Opening, helpers []int, messages [][]byte, sum []uint64) error {
	s := o.s
	shares := map[int][]*edwards25519.Scalar{}
	for at, i := range helpers {
		var err error
		if shares[i], err = parseShares(messages[at], s.sharesHeader(i, o.q, o.u), s.cfg.sites()); err != nil {
			return err
		}
		check := newOldBatch(i, s.cfg.Quorum)
		for j, share := range shares[i] {
			check.add(share, o.revealed(j, &o.s.sites[j]))
		}
		if !check.ok() {
			return siteError(i, "a share does not fit its dealer's commitment")
		}
	}
	coefficients := oldLagrange(helpers)
	for j := range s.sites {
		secret := edwards25519.NewScalar()
		for a, i := range helpers {
			secret.MultiplyAdd(coefficients[a], shares[i][j], secret)
		}
		if new(edwards25519.Point).ScalarBaseMult(secret).Equal(&o.revealed(j, &o.s.sites[j])[0]) != 1 {
			return siteError(j, "the opened secret does not fit its commitment")
		}
		if o.u.Contains(j) {
			oldExpand(sum, s.selfKey(secret, j, o.q), o.q.Bits, true)
			continue
		}
		for _, i := range o.u {
			agreed := s.cleared(i, o.q.Slot)
			agreed.ScalarMult(secret, agreed)
			oldExpand(sum, s.pairKey(agreed.Bytes(), j, i, o.q), o.q.Bits, j < i)
		}
	}
	return nil
}

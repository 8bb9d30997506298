package bench

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"filippo.io/edwards25519"

	"covey/internal/secagg"
	"covey/test/parties"
)

// On the sparse graph what thousands of sites hold is computed from the dealers' secrets, as
// docs/protocol.md derives polynomials from them, in place of dealing, sealing, opening and
// checking some hundred boxes a site, which no round measures. A few sites do all that
// nevertheless, and must hold the same bytes.

// polynomial returns the coefficients of a site's m or b in slot 0.
func polynomial(secret secagg.SlotSecret, label string, site, threshold int) ([]*edwards25519.Scalar, error) {
	out := make([]*edwards25519.Scalar, threshold)
	for k := range out {
		info := binary.BigEndian.AppendUint32([]byte("covey secagg v1 "+label+"\x00"), 0)
		info = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(info, uint16(site)), uint16(k))
		wide, err := hkdf.Key(sha256.New, secret[:], nil, string(info), 64)
		if err != nil {
			return nil, err
		}
		if out[k], err = edwards25519.NewScalar().SetUniformBytes(wide); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// at evaluates a polynomial.
func at(p []*edwards25519.Scalar, x int) ([]byte, error) {
	var raw [32]byte
	binary.LittleEndian.PutUint64(raw[:], uint64(x))
	point, err := edwards25519.NewScalar().SetCanonicalBytes(raw[:])
	if err != nil {
		return nil, err
	}
	v := edwards25519.NewScalar()
	for k := len(p) - 1; k >= 0; k-- {
		v.MultiplyAdd(v, point, p[k])
	}
	return v.Bytes(), nil
}

// computeShares sets what all sites hold in slot 0.
func (g *group) computeShares() error {
	n, graph := len(g.Keys), g.Setup.Graph()
	places, raw, locks := make([][]secagg.Share, n), make([][]byte, n), make([]sync.Mutex, n)
	for i := range n {
		places[i] = graph.Held(i)
		raw[i] = make([]byte, 64*len(places[i]))
	}
	err := parties.Each(n, func(dealer int) error {
		m, err := polynomial(g.Secrets[dealer].Slots[0], "m", dealer, g.Config.Sparse.Threshold)
		if err != nil {
			return err
		}
		b, err := polynomial(g.Secrets[dealer].Slots[0], "b", dealer, g.Config.Sparse.Threshold)
		if err != nil {
			return err
		}
		for k, holder := range graph.Holders(dealer) {
			mine, err := at(m, k+1)
			if err != nil {
				return err
			}
			other, err := at(b, k+1)
			if err != nil {
				return err
			}
			where := slices.IndexFunc(places[holder], func(s secagg.Share) bool { return s.Dealer == dealer })
			locks[holder].Lock()
			copy(raw[holder][64*where:], append(mine, other...))
			locks[holder].Unlock()
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range n {
		held, err := secagg.UnmarshalSlotHeld(raw[i])
		if err != nil {
			return err
		}
		g.Held[i] = secagg.Held{held}
	}
	for _, i := range []int{0, n / 2, n - 1} {
		if err := parties.Each(len(places[i]), func(k int) error { return g.Deal(places[i][k].Dealer) }); err != nil {
			return err
		}
		boxes, bodies := g.Received(i)
		held, err := g.Setup.Receive(i, g.Secrets[i], boxes, bodies)
		if err != nil {
			return err
		}
		if got, err := held[0].MarshalBinary(); err != nil || !bytes.Equal(got, raw[i]) {
			return fmt.Errorf("site %d receives other shares than were computed: %v", i, err)
		}
	}
	return nil
}

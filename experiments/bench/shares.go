package bench

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"filippo.io/edwards25519"

	"covey/internal/secagg"
	"covey/test/parties"
)

// On the sparse graph what thousands of sites hold is computed from the senders' secrets, as
// docs/protocol.md derives it of them, in place of dealing, sealing, opening and checking some
// hundred boxes a site, which no round measures. A few sites do all that nevertheless, and must
// hold the same bytes.

// derive is HKDF with a label of the masks and fields.
func derive(secret, salt []byte, label string, length int, fields []byte) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, salt, "covey secagg v2 "+label+"\x00"+string(fields), length)
}

// field returns slot 0, and then sites or an index.
func field(of ...int) []byte {
	out := make([]byte, 4)
	for _, v := range of {
		out = binary.BigEndian.AppendUint16(out, uint16(v))
	}
	return out
}

// polynomial returns the coefficients of a site's b or e in slot 0.
func polynomial(secret secagg.SlotSecret, label string, site, threshold int) ([]*edwards25519.Scalar, error) {
	out := make([]*edwards25519.Scalar, threshold)
	for k := range out {
		wide, err := derive(secret[:], nil, label, 64, field(site, k))
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

// computeShares sets what all sites hold in slot 0, and the tags and deposits that the coordinator
// keeps.
func (g *group) computeShares() error {
	n, graph, transcript := len(g.Keys), g.Setup.Graph(), g.Setup.Transcript()
	shares, secrets := [2][][][]byte{make([][][]byte, n), make([][][]byte, n)}, make([][]byte, n) // by dealer and place; e
	err := parties.Each(n, func(dealer int) error {
		for which, label := range []string{"b", "e"} {
			p, err := polynomial(g.Secrets[dealer].Slots[0], label, dealer, g.Config.Sparse.Threshold)
			if err != nil {
				return err
			}
			for x := range graph.Holders(dealer) {
				share, err := at(p, x+1)
				if err != nil {
					return err
				}
				shares[which][dealer] = append(shares[which][dealer], share)
			}
			secrets[dealer] = p[0].Bytes()
		}
		return nil
	})
	if err != nil {
		return err
	}
	of := func(label string, secret []byte, i, j int) ([]byte, error) {
		return derive(secret, transcript[:], label, 32, field(min(i, j), max(i, j)))
	}
	g.kept = secagg.Kept{Tags: make([][]byte, n), TagHashes: make([][]byte, n), Deposits: make([][]byte, n)}
	raw := make([][]byte, n)
	err = parties.Each(n, func(site int) error {
		places, owners := graph.Held(site), graph.Owners(site)
		for _, count := range []int{len(places), len(places), len(owners)} {
			raw[site] = binary.BigEndian.AppendUint16(raw[site], uint16(count))
		}
		for which := range shares {
			for _, p := range places {
				raw[site] = append(raw[site], shares[which][p.Dealer][p.X-1]...)
			}
		}
		for _, owner := range owners {
			key, err := of("pair", secrets[owner], site, owner)
			if err != nil {
				return err
			}
			pad, err := of("deposit", secrets[site], site, owner)
			if err != nil {
				return err
			}
			raw[site] = append(raw[site], key...)
			for i := range pad {
				pad[i] ^= key[i]
			}
			g.kept.Deposits[site] = append(g.kept.Deposits[site], pad...)
		}
		for _, other := range graph.Owned(site) {
			key, err := of("pair", secrets[site], site, other)
			if err != nil {
				return err
			}
			tag, err := of("tag", key, site, other)
			if err != nil {
				return err
			}
			g.kept.Tags[site] = append(g.kept.Tags[site], tag...)
		}
		g.kept.TagHashes[site] = g.Setup.TagHashes(site, g.kept.Tags[site])
		held, err := secagg.UnmarshalSlotHeld(raw[site])
		g.Held[site] = secagg.Held{held}
		return err
	})
	if err != nil {
		return err
	}
	for _, i := range []int{0, n / 2, n - 1} {
		senders := graph.Senders(i)
		if err := parties.Each(len(senders), func(k int) error { return g.Deal(senders[k]) }); err != nil {
			return err
		}
		if err := g.Take(i); err != nil {
			return err
		}
		if got, err := g.Held[i][0].MarshalBinary(); err != nil || !bytes.Equal(got, raw[i]) || !bytes.Equal(g.Taken[i].Deposits, g.kept.Deposits[i]) {
			return fmt.Errorf("site %d takes other shares or keys than were computed: %v", i, err)
		}
		from := senders[slices.IndexFunc(senders, func(s int) bool { return slices.Contains(graph.Owned(s), i) })]
		if !bytes.Equal(g.Setup.Tags(from, g.Dealt[from]), g.kept.Tags[from]) {
			return fmt.Errorf("site %d deals other tags than were computed", from)
		}
	}
	return nil
}

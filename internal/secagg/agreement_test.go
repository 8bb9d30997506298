package secagg

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"filippo.io/edwards25519"
)

// TestAgreement: what was agreed on before masks as Mask does, for one slot and any query
// of it, and nothing once it is erased.
func TestAgreement(t *testing.T) {
	g := newGroup(t, 5, 2)
	q := Query{Slot: 1, Context: labelled("agreement"), Bits: 48, Lanes: 4}
	for self := range 5 {
		a, err := g.setup.Agree(self, 1, g.secrets[self].Slots[1])
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			q.Context[0]++
			v := []uint64{1, 2, 3, 4}
			want := g.upload(t, self, q, v)
			if err := a.Mask(q, v); err != nil || !slices.Equal(v, want) {
				t.Fatalf("site %d: another upload, %v", self, err)
			}
		}
		refuse := func(name string, q Query, lanes int) {
			t.Helper()
			v := make([]uint64, lanes)
			if _, ok := errors.AsType[*ConfigError](a.Mask(q, v)); !ok || slices.Max(v) != 0 {
				t.Errorf("%s: was accepted, or changed the vector", name)
			}
		}
		slot, width := q, q
		slot.Slot = 0
		width.Bits = 33
		refuse("another slot", slot, 4)
		refuse("another ring", width, 4)
		refuse("another length", q, 3)
		kept := slices.Clone(a.agreed)
		a.Erase()
		refuse("erased", q, 4)
		for other, agreed := range kept {
			if other != self && !bytes.Equal(agreed, make([]byte, 32)) {
				t.Errorf("site %d: what it shares with %d is left", self, other)
			}
		}
		a.Erase()
	}
	for name, c := range map[string]struct{ self, slot, secret int }{
		"another slot's secret": {0, 1, 0}, "slot": {0, 2, 1}, "no slot": {0, -1, 0}, "site": {5, 1, 1}, "no site": {-1, 1, 1},
	} {
		if _, err := g.setup.Agree(c.self, c.slot, g.secrets[0].Slots[c.secret]); err == nil {
			t.Errorf("%s: agreed", name)
		}
	}
}

// TestMultiples: the library's product, for scalars with every digit and carry.
func TestMultiples(t *testing.T) {
	p := new(edwards25519.Point).ScalarBaseMult(scalarOf(1234567))
	table := newMultiples(p)
	check := func(s *edwards25519.Scalar) {
		t.Helper()
		if table.mult(s).Equal(new(edwards25519.Point).ScalarMult(s, p)) != 1 {
			t.Fatalf("%x: another product", s.Bytes())
		}
	}
	for v := range uint64(300) {
		check(scalarOf(v))
		check(edwards25519.NewScalar().Negate(scalarOf(v)))
	}
	for _, b := range []byte{0x77, 0x78, 0x87, 0x88, 0x8f, 0xf8, 0xff} {
		raw := bytes.Repeat([]byte{b}, 32)
		raw[31] = 0x0f
		s, err := decodeScalar(raw)
		if err != nil {
			t.Fatal(err)
		}
		check(s)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var raw [64]byte
		for i := range raw {
			raw[i] = byte(rng.Uint32())
		}
		s, err := edwards25519.NewScalar().SetUniformBytes(raw[:])
		if err != nil {
			t.Fatal(err)
		}
		check(s)
	}
}

// TestLagrange: one inversion gives what one for each does.
func TestLagrange(t *testing.T) {
	for _, sites := range [][]int{{0}, {7}, {0, 1}, {3, 0, 99, 14}, {5, 4, 3, 2, 1, 0}, {63, 99}} {
		want := oldLagrange(sites)
		for a, c := range lagrange(points(sites)) {
			if c.Equal(want[a]) != 1 {
				t.Errorf("%v: coefficient %d", sites, a)
			}
		}
	}
}

// TestUnmaskNamesTheHelper: shares that got in without Add's check open no sum: the one that
// sent them is named and forgotten, and with another's in its place the sum is right.
func TestUnmaskNamesTheHelper(t *testing.T) {
	g := sharedGroup(t, 5)
	q := Query{Context: labelled("named"), Bits: 64, Lanes: 3}
	for _, u := range []Survivors{{0, 1, 2, 3, 4}, {0, 1, 3, 4}} {
		cert := g.certificate(t, q, u)
		sum, want := make([]uint64, 3), make([]uint64, 3)
		for _, i := range u {
			v := []uint64{uint64(i), 1, 1 << 63}
			SumInto(want, v, 64)
			SumInto(sum, g.upload(t, i, q, v), 64)
		}
		for place := range 5 {
			o, err := g.setup.NewOpening(q, u)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				if err := o.Add(i, g.shares(t, i, q, u, cert)); err != nil {
					t.Fatal(err)
				}
			}
			o.shares[2][place].Add(o.shares[2][place], scalarOf(1))
			opened := slices.Clone(sum)
			if e, ok := errors.AsType[*SiteError](o.Unmask(opened)); !ok || e.Site != 2 || !slices.Equal(opened, sum) || o.Ready() {
				t.Errorf("a wrong share of %d: the helper is not named, or the sum was changed", place)
			}
			if err := o.Add(4, g.shares(t, 4, q, u, cert)); err != nil {
				t.Fatal(err)
			}
			if err := o.Unmask(opened); err != nil || !slices.Equal(opened, want) {
				t.Errorf("with another helper: %v, %v, want %v", err, opened, want)
			}
		}
	}
}

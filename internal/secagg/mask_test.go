package secagg

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"filippo.io/edwards25519"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// TestUploadIsUniform: the bytes of a masked vector of zeros, and of one that is
// all the same, have the counts of uniform bytes. Fixed secrets; another correct mask would
// fail a case with probability 1e-6.
func TestUploadIsUniform(t *testing.T) {
	g := newGroup(t, 3, 1)
	for _, width := range Widths {
		for _, value := range []uint64{0, 0xffffffff} {
			q := Query{Bits: width, Lanes: 40_000}
			v := slices.Repeat([]uint64{value}, q.Lanes)
			raw := Pack(g.upload(t, 1, q, v), width)
			counts := [256]float64{}
			for _, b := range raw {
				counts[b]++
			}
			want := float64(len(raw)) / 256
			statistic := 0.0
			for _, c := range counts {
				statistic += (c - want) * (c - want) / want
			}
			if p := (distuv.ChiSquared{K: 255}).Survival(statistic); p < 1e-6 {
				t.Errorf("b = %d, value %x: p = %g", width, value, p)
			}
		}
	}
}

// TestSlotsAreUnrelated: the same vector in two slots, or under two contexts,
// leaves as unrelated numbers: no lane, and no difference of lanes, repeats.
func TestSlotsAreUnrelated(t *testing.T) {
	g := newGroup(t, 3, 2)
	v := make([]uint64, 1000)
	q := Query{Bits: 64, Lanes: len(v)}
	first := g.upload(t, 0, q, v)
	slot, context := q, q
	slot.Slot = 1
	context.Context[31] = 1
	for name, other := range map[string][]uint64{"slot": g.upload(t, 0, slot, v), "context": g.upload(t, 0, context, v)} {
		for i := range v {
			if first[i] == other[i] || i > 0 && first[i]-other[i] == first[0]-other[0] {
				t.Fatalf("%s: lane %d repeats", name, i)
			}
		}
	}
}

// TestSelfMaskBindsContext: were the self mask the same under two contexts, two
// uploads of a slot would differ by pair masks alone.
func TestSelfMaskBindsContext(t *testing.T) {
	g := newGroup(t, 3, 1)
	_, b := g.secrets[0].Slots[0].polynomials(0, 0, g.cfg.Quorum)
	m, _ := g.secrets[0].Slots[0].polynomials(0, 0, g.cfg.Quorum)
	q := Query{Bits: 64, Lanes: 1}
	other := q
	other.Context[0] = 9
	if slices.Equal(g.setup.selfKey(b[0], 0, q), g.setup.selfKey(b[0], 0, other)) {
		t.Error("the self mask does not depend on ctx")
	}
	if slices.Equal(g.pairKey(m[0], 0, 1, q), g.pairKey(m[0], 0, 1, other)) {
		t.Error("the pair mask does not depend on ctx")
	}
	mine, _ := g.secrets[1].Slots[0].polynomials(0, 1, g.cfg.Quorum)
	if !slices.Equal(g.pairKey(m[0], 0, 1, q), g.pairKey(mine[0], 1, 0, q)) {
		t.Error("two sites do not agree on their pair key")
	}
}

// pairKey is the pair key from one side's secret, by the library's multiplication.
func (g *group) pairKey(m *edwards25519.Scalar, self, other int, q Query) []byte {
	agreed := new(edwards25519.Point).ScalarMult(m, g.setup.cleared(other, q.Slot))
	return g.setup.pairKey(agreed.Bytes(), self, other, q)
}

func TestMaskRefuses(t *testing.T) {
	g := newGroup(t, 3, 2)
	good := Query{Bits: 40, Lanes: 2}
	for name, c := range map[string]struct {
		self   int
		secret SlotSecret
		q      Query
		lanes  int
	}{
		"slot":   {0, g.secrets[0].Slots[0], Query{Slot: 2, Bits: 40, Lanes: 2}, 2},
		"bits":   {0, g.secrets[0].Slots[0], Query{Bits: 33, Lanes: 2}, 2},
		"lanes":  {0, g.secrets[0].Slots[0], good, 3},
		"none":   {0, g.secrets[0].Slots[0], Query{Bits: 40}, 0},
		"site":   {3, g.secrets[0].Slots[0], good, 2},
		"secret": {0, g.secrets[0].Slots[1], good, 2},
	} {
		if _, ok := errors.AsType[*ConfigError](g.setup.Mask(c.self, c.secret, c.q, make([]uint64, c.lanes))); !ok {
			t.Errorf("%s: was accepted", name)
		}
	}
}

func TestNoiseLanes(t *testing.T) {
	g := newGroup(t, 3, 2)
	for _, width := range Widths {
		lanes := NoiseLanes(g.secrets[0].Slots[0], [32]byte{1}, width)
		if len(lanes)*int(width) < 256 || len(lanes) != NoiseLaneCount(width) {
			t.Errorf("b = %d: %d lanes", width, len(lanes))
		}
		for _, other := range [][]uint64{NoiseLanes(g.secrets[0].Slots[1], [32]byte{1}, width), NoiseLanes(g.secrets[0].Slots[0], [32]byte{2}, width)} {
			if slices.Equal(lanes, other) {
				t.Errorf("b = %d: lanes repeat over slots or contexts", width)
			}
		}
		for _, v := range lanes {
			if v > ringMask(width) {
				t.Errorf("b = %d: a lane outside the ring", width)
			}
		}
	}
}

// TestNoiseShareKey: equal for one slot and ctx, so that a resend is identical; unrelated for
// another slot, ctx or site, and to whatever else derives from the slot's secret under that ctx.
func TestNoiseShareKey(t *testing.T) {
	g := newGroup(t, 3, 2)
	secret, ctx := g.secrets[0].Slots[0], [32]byte{1}
	key := NoiseShareKey(secret, ctx)
	if key != NoiseShareKey(secret, ctx) {
		t.Fatal("the key is not a function of slot and ctx")
	}
	for name, other := range map[string][32]byte{
		"slot": NoiseShareKey(g.secrets[0].Slots[1], ctx), "ctx": NoiseShareKey(secret, [32]byte{31: 1}), "site": NoiseShareKey(g.secrets[1].Slots[0], ctx),
	} {
		if key == other {
			t.Errorf("the key repeats over a %s", name)
		}
	}
	for _, width := range Widths {
		lanes := Pack(NoiseLanes(secret, ctx, width), width)
		if bytes.Equal(lanes[:32], key[:]) {
			t.Errorf("b = %d: the key is the noise lanes", width)
		}
	}
	m, b := secret.polynomials(0, 0, g.cfg.Quorum)
	q := Query{Context: ctx, Bits: 64, Lanes: 1}
	for name, known := range map[string][]byte{
		"slot secret": secret[:], "m": m[0].Bytes(), "b": b[0].Bytes(),
		"self mask": g.setup.selfKey(b[0], 0, q), "pair mask": g.pairKey(m[0], 0, 1, q),
	} {
		if bytes.Equal(known, key[:]) {
			t.Errorf("the key is the %s", name)
		}
	}
}

func TestPack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.SampledFrom(Widths).Draw(r, "bits")
		v := rapid.SliceOfN(rapid.Uint64(), 0, 50).Draw(r, "v")
		back, err := Unpack(Pack(v, width), width, len(v))
		if err != nil {
			r.Fatal(err)
		}
		for i := range v {
			if back[i] != v[i]&ringMask(width) {
				r.Fatalf("coordinate %d: %x, want %x mod 2^%d", i, back[i], v[i], width)
			}
		}
	})
	if _, err := Unpack(make([]byte, 9), 40, 2); err == nil {
		t.Error("9 bytes are two numbers of 40 bits")
	}
	if _, err := Unpack(make([]byte, 4), 31, 1); err == nil {
		t.Error("a ring of 31 bits was accepted")
	}
}

package secagg

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestUploadIsUniform: the bytes of a masked vector of zeros, and of one that is all the same, have
// the counts of uniform bytes. Fixed secrets; another correct mask would fail a case with
// probability 1e-6.
func TestUploadIsUniform(t *testing.T) {
	g := sharedGroup(t, 3)
	for _, width := range Widths {
		for _, value := range []uint64{0, 0xffffffff} {
			q := Query{Bits: width, Lanes: 40_000}
			raw := Pack(g.upload(t, 1, q, slices.Repeat([]uint64{value}, q.Lanes)), width)
			counts := [256]float64{}
			for _, b := range raw {
				counts[b]++
			}
			want, statistic := float64(len(raw))/256, 0.0
			for _, c := range counts {
				statistic += (c - want) * (c - want) / want
			}
			if p := (distuv.ChiSquared{K: 255}).Survival(statistic); p < 1e-6 {
				t.Errorf("b = %d, value %x: p = %g", width, value, p)
			}
		}
	}
}

// TestKeysBindEverything: no two keys, tags or pads of other slots, pairs, queries or setups are
// the same, nor is one of them what another is; both ends of a pair have one.
func TestKeysBindEverything(t *testing.T) {
	g := sharedGroup(t, 5)
	later := *g.setup
	later.transcript[0] ^= 1
	e, seen := g.secrets[3].Slots[0].secret(ofE, 0, 3), map[string]string{}
	put := func(key []byte, name string, of ...any) {
		name += fmt.Sprint(of...)
		if before, ok := seen[string(key)]; ok {
			t.Errorf("%s is %s", name, before)
		}
		seen[string(key)] = name
	}
	for k, s := range []*Setup{g.setup, &later} {
		for slot := range 2 {
			for _, other := range []int{1, 2} {
				here, there := s.edge(slot, 3, other), s.edge(slot, other, 3)
				key := here.key(e)
				tag, pad := here.tag(key), here.pad(e)
				fixed := here.tag([32]byte{1})
				put(key[:], "pair ", k, slot, other)
				put(tag[:], "tag ", k, slot, other)
				put(fixed[:], "tag of one key ", k, slot, other)
				put(pad[:], "pad ", k, slot, other)
				if key != there.key(e) || tag != there.tag(key) || pad != there.pad(e) {
					t.Error("the ends of a pair differ")
				}
			}
		}
	}
	for slot := range 2 {
		for ctx := range byte(2) {
			q := Query{Slot: slot, Context: [32]byte{ctx}}
			for _, i := range []int{1, 2} {
				put(maskKey([32]byte{1}, 3, i, q), "mask ", slot, ctx, i)
				put(g.setup.selfKey(e, i, q), "self ", slot, ctx, i)
			}
		}
		for i, sec := range []SlotSecret{g.secrets[3].Slots[0], g.secrets[2].Slots[0]} {
			for _, site := range []int{2, 3} {
				for which := range 2 {
					for k := range 2 {
						put(extract(sec[:], nil).coefficient(which, slot, site, k).Bytes(), "coefficient ", i, slot, site, which, k)
					}
				}
			}
		}
	}
}

func TestMaskRefuses(t *testing.T) {
	g := sharedGroup(t, 3)
	own, held, good := g.secrets[0].Slots[0], g.received[0].Held[0], Query{Bits: 40, Lanes: 2}
	for name, c := range map[string]struct {
		self  int
		own   SlotSecret
		held  SlotHeld
		q     Query
		lanes int
	}{
		"slot":   {0, own, held, Query{Slot: 2, Bits: 40, Lanes: 2}, 2},
		"bits":   {0, own, held, Query{Bits: 33, Lanes: 2}, 2},
		"lanes":  {0, own, held, good, 3},
		"none":   {0, own, held, Query{Bits: 40}, 0},
		"site":   {3, own, held, good, 2},
		"secret": {0, g.secrets[0].Slots[1], held, good, 2},
		"keys":   {0, own, SlotHeld{}, good, 2},
	} {
		if _, ok := errors.AsType[*ConfigError](g.setup.Mask(c.self, c.own, c.held, c.q, make([]uint64, c.lanes))); !ok {
			t.Errorf("%s: was accepted", name)
		}
	}
}

// TestContextsDoNotCancel: a site that was asked something else masks differently, and the sum
// opens to noise.
func TestContextsDoNotCancel(t *testing.T) {
	g := sharedGroup(t, 3)
	u, v, sum := Survivors{0, 1, 2}, []uint64{1, 2, 3, 4}, make([]uint64, 4)
	q := Query{Bits: 64, Lanes: 4}
	for i := range 3 {
		q.Context[0] = byte(i % 2)
		SumInto(sum, g.upload(t, i, q, v), 64)
	}
	q.Context[0] = 0
	if err := g.opening(t, q, u, u).Unmask(sum); err != nil {
		t.Fatal(err)
	}
	for j, x := range sum {
		if x == 3*v[j] {
			t.Fatal("masks of two contexts cancelled")
		}
	}
}

func TestNoiseLanes(t *testing.T) {
	g := sharedGroup(t, 3)
	for _, width := range Widths {
		lanes := NoiseLanes(g.secrets[0].Slots[0], [32]byte{1}, width)
		if len(lanes)*int(width) < 256 || len(lanes) != NoiseLaneCount(width) {
			t.Errorf("b = %d: %d lanes", width, len(lanes))
		}
		for _, other := range [][]uint64{NoiseLanes(g.secrets[0].Slots[1], [32]byte{1}, width), NoiseLanes(g.secrets[0].Slots[0], [32]byte{2}, width)} {
			if slices.Equal(lanes, other) || slices.Max(other) > ringMask(width) {
				t.Errorf("b = %d: lanes repeat over slots or contexts, or are outside the ring", width)
			}
		}
	}
}

// TestNoiseShareKey: equal for one slot and ctx, so that a resend is identical; another for another
// slot or ctx.
func TestNoiseShareKey(t *testing.T) {
	g := sharedGroup(t, 3)
	secret, ctx := g.secrets[0].Slots[0], [32]byte{1}
	if key := NoiseShareKey(secret, ctx); key != NoiseShareKey(secret, ctx) || key == NoiseShareKey(g.secrets[0].Slots[1], ctx) || key == NoiseShareKey(secret, [32]byte{31: 1}) {
		t.Error("the key is not a function of slot and ctx alone")
	}
}

// TestChainOfShares: the chain's key comes with the shares of who is in U, if U is more than U_min.
func TestChainOfShares(t *testing.T) {
	g, ctx := sharedGroup(t, 5), labelled("chain")
	q := Query{Context: ctx, Bits: 32, Lanes: 1, Chain: true}
	all := without(5)
	o := g.opening(t, q, all, []int{0, 1, 2, 3})
	for i := range 5 {
		key, ok := o.Chain(i)
		if ok != (i < 4) || ok && key != NoiseChain(g.secrets[i].Slots[0], ctx, 5, 5) {
			t.Errorf("site %d's key: %t", i, ok)
		}
	}
	if _, ok := g.opening(t, q, Survivors{0, 1, 3, 4}, []int{0}).Chain(0); ok {
		t.Error("a key of the chain at U_min")
	}
	q.Chain = false
	if _, ok := g.opening(t, q, all, []int{0}).Chain(0); ok {
		t.Error("a key of the chain without noise of the site's own")
	}
	six := sharedGroup(t, 6) // U_min is 4: of five survivors one is outside
	q.Chain = true
	o = six.opening(t, q, Survivors{0, 1, 3, 4, 5}, []int{1, 2})
	if _, ok := o.Chain(2); ok || o.Helpers() != 2 {
		t.Error("a key of the chain from outside of U")
	}
	if _, ok := o.Chain(1); !ok {
		t.Error("no key of the chain from inside of U")
	}
}

package secagg

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// subsets returns every subset of n sites with at least least members.
func subsets(n, least int) []Survivors {
	var out []Survivors
	for set := range uint64(1) << n {
		if bits.OnesCount64(set) < least {
			continue
		}
		var u Survivors
		for i := range n {
			if set>>i&1 == 1 {
				u = append(u, i)
			}
		}
		out = append(out, u)
	}
	return out
}

// sums masks a vector at each site of U, and returns the masked sum and the true one.
func (g *group) sums(t rapid.TB, q Query, u Survivors) (masked, want []uint64) {
	t.Helper()
	masked, want = make([]uint64, q.Lanes), make([]uint64, q.Lanes)
	for _, i := range u {
		v := make([]uint64, q.Lanes)
		for k := range v {
			v[k] = uint64(i*1000+k) * 0x9e3779b97f4a7c15
		}
		SumInto(want, v, q.Bits)
		SumInto(masked, g.upload(t, i, q, v), q.Bits)
	}
	return masked, want
}

// opens asserts that the given sites' shares open U's sum, and that one helper less does not.
func (g *group) opens(t rapid.TB, q Query, u Survivors, helpers []int) {
	t.Helper()
	sum, want := g.sums(t, q, u)
	masked := slices.Clone(sum)
	o := g.opening(t, q, u, helpers[:len(helpers)-1])
	if e, ok := errors.AsType[*NotReadyError](o.Unmask(sum)); !ok || e.Have != len(helpers)-1 || !slices.Equal(sum, masked) {
		t.Fatalf("U = %v: opened, or changed, with %d helpers", u, len(helpers)-1)
	}
	last := helpers[len(helpers)-1]
	if err := o.Add(last, g.shares(t, last, q, u, g.certificate(t, q, u))); err != nil {
		t.Fatal(err)
	}
	if err := o.Unmask(sum); err != nil {
		t.Fatalf("U = %v: %v", u, err)
	}
	if !slices.Equal(sum, want) {
		t.Fatalf("U = %v, b = %d, helpers %v: the opened sum is not the sum", u, q.Bits, helpers)
	}
}

// TestOpenedSum: for every N in 2..8, every survivor set of at least U_min and every ring,
// the opened sum is the true one, whichever q sites help. One setup serves an N, which only a test
// may do.
func TestOpenedSum(t *testing.T) {
	sizes := []int{2, 3, 4, 5, 6, 7, 8}
	if testing.Short() {
		sizes = []int{2, 3, 5, 7}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			g := sharedGroup(t, n)
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			for _, width := range Widths {
				q := Query{Slot: rng.IntN(2), Context: labelled("opened sum", n, int(width)), Bits: width, Lanes: 1 + rng.IntN(20), Chain: rng.IntN(2) == 0}
				for _, u := range subsets(n, g.cfg.MinSurvivors) {
					g.opens(t, q, u, rng.Perm(n)[:g.cfg.Quorum])
				}
			}
		})
	}
}

// TestSparseOpens: with sites missing from U and from the helpers, the sum of U is opened
// exactly.
func TestSparseOpens(t *testing.T) {
	if testing.Short() {
		t.Skip("70 sites: seconds of processor time")
	}
	g := sharedSparse(t)
	for _, gone := range [][]int{{0, 13, 69}, nil, {5, 6, 7, 8, 9, 60}} {
		u := without(70, gone...)
		q := Query{Slot: 1, Context: labelled("sparse", len(gone)), Bits: 40, Lanes: 1500}
		sum, want := g.sums(t, q, u)
		if err := g.opening(t, q, u, u).Unmask(sum); err != nil || !slices.Equal(sum, want) {
			t.Fatalf("without %v: another sum, %v", gone, err)
		}
	}
}

// TestWholeOpens: if every sum is over all sites, only b is shared.
func TestWholeOpens(t *testing.T) {
	for _, n := range []int{2, 5, 70} {
		if n == 70 && testing.Short() {
			continue
		}
		g := sharedWhole(t, n)
		q := Query{Slot: 1, Context: labelled("whole"), Bits: 56, Lanes: 33}
		u := without(n)
		sum, want := g.sums(t, q, u)
		helpers := u // of the sparse graph T of every site's holders are needed
		if !g.cfg.sparse() {
			helpers = u[n-g.cfg.threshold():]
		}
		if err := g.opening(t, q, u, helpers).Unmask(sum); err != nil || !slices.Equal(sum, want) {
			t.Fatalf("N = %d: another sum, %v", n, err)
		}
		for i, r := range g.received {
			if r.Deposits != nil || r.Statement != nil || r.Held[0].e != nil || g.setup.Tags(i, g.boxes[i]) != nil {
				t.Fatalf("N = %d: site %d shares or deposits what nobody needs", n, i)
			}
		}
	}
}

// TestOpeningNeedsWhatWasKept: a sum is not opened without the tags and deposits of exactly the
// study's sites.
func TestOpeningNeedsWhatWasKept(t *testing.T) {
	g := sharedGroup(t, 5)
	q := Query{Context: labelled("kept"), Bits: 64, Lanes: 1}
	more, fewer := g.kept, g.kept
	more.Tags = append(slices.Clone(g.kept.Tags), nil)
	fewer.Deposits = g.kept.Deposits[:4]
	for name, kept := range map[string]Kept{"nothing": {}, "tags of six": more, "deposits of four": fewer} {
		_, err := g.setup.NewOpening(q, without(5), kept)
		if _, ok := errors.AsType[*ConfigError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

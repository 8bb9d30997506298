package graph

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// everyGraph runs f with the mask graph of every way in which n sites can each draw m of the
// others, all equally likely: edges[i] has bit j if i and j share masks, arcs[i] if i drew j.
func everyGraph(n, m int, f func(edges, arcs []uint)) (graphs float64) {
	var choices [][]uint
	for i := range n {
		var sets []uint
		for s := uint(0); s < 1<<n; s++ {
			if bits.OnesCount(s) == m && s>>i&1 == 0 {
				sets = append(sets, s)
			}
		}
		choices = append(choices, sets)
	}
	arcs, edges := make([]uint, n), make([]uint, n)
	var draw func(i int)
	draw = func(i int) {
		if i == n {
			copy(edges, arcs)
			for a := range n {
				for b := range n {
					edges[b] |= arcs[a] >> b & 1 << a
				}
			}
			graphs++
			f(edges, arcs)
			return
		}
		for _, arcs[i] = range choices[i] {
			draw(i + 1)
		}
	}
	draw(0)
	return graphs
}

// reach is the part of set that can be reached from its first site along edges inside it.
func reach(edges []uint, set uint) uint {
	seen := set & -set
	for next := seen; next != 0; {
		i := bits.TrailingZeros(next)
		next &^= 1 << i
		next |= edges[i] & set &^ seen
		seen |= edges[i] & set
	}
	return seen
}

// splittable reports whether a coordinator that sees the graph has an acceptable U that is not
// connected without the sites of corrupt.
func splittable(edges []uint, corrupt uint, least, r int) bool {
	for u := uint(0); u < 1<<len(edges); u++ {
		if bits.OnesCount(u) < least {
			continue
		}
		fit := true
		for i := range edges {
			fit = fit && (u>>i&1 == 0 || bits.OnesCount(edges[i]&u) >= r)
		}
		if fit && reach(edges, u&^corrupt) != u&^corrupt {
			return true
		}
	}
	return false
}

// TestSplitBoundsEveryGraph counts, over all graphs of a few sites, those in which the best choice
// of U splits the honest survivors. split must not be below, and what it is made of must be exact
// or not below: the chance that sets are apart, the corrupt neighbors of a site, the degrees of a
// set that is apart.
func TestSplitBoundsEveryGraph(t *testing.T) {
	telling := 0
	for _, c := range []struct{ n, m, corrupt, least, r int }{
		{5, 2, 1, 4, 2}, {5, 2, 1, 5, 1}, {5, 2, 0, 4, 2}, {5, 2, 0, 5, 1}, {5, 3, 1, 4, 2}, {6, 1, 1, 5, 1}, {6, 1, 1, 5, 2}, {6, 1, 2, 5, 3}, {7, 1, 1, 5, 2}, {6, 1, 0, 6, 1}, {5, 3, 2, 5, 2}, {6, 2, 2, 6, 2}, {6, 2, 1, 6, 2},
	} {
		o := newOdds(Numbers{Sites: c.n, Corrupt: c.corrupt, MinSurvivors: c.least})
		corrupt := uint(1)<<c.corrupt - 1
		first := uint(1) << c.corrupt // an honest site
		pair, other := first|first<<1, first<<2
		var splits, surrounded, apart, apartPair, close1, close2 float64
		total := everyGraph(c.n, c.m, func(edges, arcs []uint) {
			if splittable(edges, corrupt, c.least, c.r) {
				splits++
			}
			if bits.OnesCount(edges[c.corrupt]&corrupt) >= c.r {
				surrounded++
			}
			enough := func(set uint) bool {
				for i := range edges {
					if set>>i&1 == 1 && bits.OnesCount(edges[i]&(set|corrupt)) < c.r {
						return false
					}
				}
				return true
			}
			if edges[c.corrupt]&other == 0 {
				apart++
				if enough(first) {
					close1++
				}
			}
			if (edges[c.corrupt]|edges[c.corrupt+1])&other == 0 {
				apartPair++
				if enough(pair) {
					close2++
				}
			}
		})
		same := func(what string, got, count float64) {
			t.Helper()
			if want := count / total; math.Abs(math.Exp(got)-want) > 1e-12 {
				t.Errorf("%+v: %s %g, want %g", c, what, math.Exp(got), want)
			}
		}
		atLeast := func(what string, got, want float64) {
			t.Helper()
			if math.Exp(got) < want*(1-1e-9) {
				t.Errorf("%+v: %s %g, is %g", c, what, math.Exp(got), want)
			}
		}
		same("corrupt neighbors", o.corruptNeighbors(c.m, c.r), surrounded)
		same("one apart", o.apart(c.m, 1, 1), apart)
		same("two apart", o.apart(c.m, 2, 1), apartPair)
		atLeast("one inside", o.apart(c.m, 1, 1)+o.inside(c.m, c.r, 1, 1), close1/total)
		atLeast("two inside", o.apart(c.m, 2, 1)+o.inside(c.m, c.r, 2, 1), close2/total)
		bound := o.split(c.m, c.r, math.Inf(1))
		atLeast("split", bound, splits/total)
		if bound < 0 && splits > 0 {
			telling++
		}
		t.Logf("%+v: %.3g split, bound %.3g", c, splits/total, math.Exp(bound))
	}
	if telling < 3 {
		t.Errorf("only %d of the bounds are below 1 for something that can happen", telling)
	}
}

// TestFewerCorruptSites: a smaller set of corrupt sites finds a split at most 1/(1 - s - s^⌈w/2⌉)
// times as often as a set of η, s = η/N, counted over all graphs, and splitLimit leaves that much
// room.
func TestFewerCorruptSites(t *testing.T) {
	compared := 0
	for _, c := range []struct{ n, m, corrupt, least, r int }{
		{5, 2, 1, 4, 2}, {5, 2, 1, 5, 1}, {6, 1, 1, 5, 1}, {6, 1, 2, 5, 1}, {6, 1, 2, 6, 1},
	} {
		splits := make([]float64, c.corrupt+1)
		total := everyGraph(c.n, c.m, func(edges, _ []uint) {
			for size := range splits {
				if splittable(edges, 1<<size-1, c.least, c.r) {
					splits[size]++
				}
			}
		})
		s := float64(c.corrupt) / float64(c.n)
		left := 1 - s - math.Pow(s, float64((c.least-c.corrupt+1)/2))
		for size, count := range splits[:c.corrupt] {
			if count > 0 {
				compared++
			}
			if count*left > splits[c.corrupt]*(1+1e-12) {
				t.Errorf("%+v: %d corrupt sites split %g of the graphs, %d split %g", c, size, count/total, c.corrupt, splits[c.corrupt]/total)
			}
		}
		n := Numbers{Sites: c.n, Corrupt: c.corrupt, MinSurvivors: c.least}
		if got := math.Exp(n.splitLimit()); math.Abs(got/(left*0x1p-42)-1) > 1e-12 {
			t.Errorf("%+v: limit %g, want %g of 2^-42", c, got, left)
		}
	}
	if compared < 4 {
		t.Errorf("only %d smaller sets split anything", compared)
	}
	// Where all of a split may be corrupt by chance no probability is left, and nothing is safe.
	if n := (Numbers{Sites: 4, Corrupt: 2, MinSurvivors: 4}); !math.IsInf(n.splitLimit(), -1) {
		t.Errorf("limit %g of half the sites", n.splitLimit())
	}
}

// TestSplitOfSampledGraphs: in 3,000 seeded graphs of 60 sites, sites have many corrupt neighbors
// as often as corruptNeighbors says (z within 5), and sets are as well connected inside as
// inside's bound allows. Each check rejects a right build with probability below 1e-6; with this
// seed they pass always.
func TestSplitOfSampledGraphs(t *testing.T) {
	const n, m, corrupt, graphs = 60, 9, 15, 3000
	o := newOdds(Numbers{Sites: n, Corrupt: corrupt, MinSurvivors: 40})
	rng := rand.New(rand.NewPCG(1, 2))
	many, dense, present := make([]float64, n), make([]float64, n), make([]float64, n)
	const a = 6 // sites corrupt..corrupt+a-1
	for range graphs {
		var seed [32]byte
		for i := range seed {
			seed[i] = byte(rng.Uint32())
		}
		all := bothWays(drawOthers(newDrawing(seed, "masks", Numbers{}), n, m))
		count := func(i, from, to int) (c int) {
			for _, j := range all[i] {
				if int(j) >= from && int(j) < to {
					c++
				}
			}
			return c
		}
		for r := range count(corrupt, 0, corrupt) + 1 {
			many[r]++
		}
		sum, stay := 0, 0
		for i := range a {
			sum += count(corrupt+i, 0, corrupt+a)
		}
		for r := 0; r*a <= sum; r++ {
			dense[r]++
		}
		for _, j := range all[n-1] {
			if j%4 != 0 {
				stay++
			}
		}
		for r := range stay + 1 {
			present[r]++
		}
	}
	checked := 0
	for r := 1; r < n; r++ {
		p := math.Exp(o.corruptNeighbors(m, r))
		if p*graphs > 10 && (1-p)*graphs > 10 {
			checked++
			if z := (many[r] - p*graphs) / math.Sqrt(graphs*p*(1-p)); math.Abs(z) > 5 {
				t.Errorf("%g graphs with %d corrupt neighbors of a site, expected %g", many[r], r, p*graphs)
			}
		}
		if bound := math.Exp(o.inside(m, r, a, 0)) * graphs; dense[r] > bound+5*math.Sqrt(bound)+5 {
			t.Errorf("%g graphs in which %d sites have %d neighbors inside each, at most %g expected", dense[r], a, r, bound)
		}
	}
	if checked < 5 {
		t.Errorf("only %d tails checked", checked)
	}
}

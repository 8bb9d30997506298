package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func newGraph(t testing.TB, sites, corrupt, seed int) *Graph {
	t.Helper()
	g, err := New(newNumbers(t, sites, corrupt), labelled("graph seed", seed))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGraphGolden: the graph of a seed is part of the protocol, as sites of different builds must
// derive the same. The value was computed by a second program from the words of docs/protocol.md.
func TestGraphGolden(t *testing.T) {
	n := Numbers{Sites: 65, Corrupt: 3, MinSurvivors: 35, Holders: 36, Threshold: 20, Degree: 13, MinNeighbors: 7}
	g, err := New(n, labelled("graph seed", 0))
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(graphBytes(g))
	if got := fmt.Sprintf("%.8x", hash[:]); got != "c664105d7821147d" {
		t.Errorf("graph %s", got)
	}
	again, err := New(n, labelled("graph seed", 0))
	if err != nil || fmt.Sprint(again) != fmt.Sprint(g) {
		t.Errorf("drawn again: another graph, %v", err)
	}
	n.MinNeighbors++
	if other, err := New(n, labelled("graph seed", 0)); err != nil || slices.Equal(other.Committee(), g.Committee()) {
		t.Errorf("other numbers: the same committee, %v", err)
	}
}

// graphBytes is all of a graph.
func graphBytes(g *Graph) (out []byte) {
	write := func(sites []uint16) {
		for _, i := range sites {
			out = binary.BigEndian.AppendUint16(out, i)
		}
	}
	for i := range g.holders {
		write(g.holders[i])
		write(g.neighbors[i])
	}
	write(g.committee)
	return out
}

// TestGraphFitsTogether: every site has K other holders, shares are held by whom they are dealt to,
// mask neighbors are mutual and at least m, and nothing that a caller does to an answer changes
// the graph.
func TestGraphFitsTogether(t *testing.T) {
	for _, g := range []*Graph{newGraph(t, 65, 21, 1), newGraph(t, 300, 30, 2)} {
		n, dealt := g.numbers, 0
		for j := range n.Sites {
			holders := g.Holders(j)
			for x, i := range holders {
				if !slices.Contains(g.Held(i), Share{Dealer: j, X: x + 1}) {
					t.Errorf("site %d does not hold share %d of %d", i, x+1, j)
				}
			}
			slices.Sort(holders)
			if len(slices.Compact(holders)) != n.Holders || slices.Contains(holders, j) || holders[0] < 0 || holders[n.Holders-1] >= n.Sites {
				t.Errorf("holders of %d: %v", j, holders)
			}
			dealt += len(g.Held(j))
			if !slices.IsSortedFunc(g.Held(j), func(a, b Share) int { return a.Dealer - b.Dealer }) {
				t.Errorf("held by %d: not in order", j)
			}
			neighbors := g.Neighbors(j)
			for k, i := range neighbors {
				if !slices.Contains(g.Neighbors(i), j) || i == j || k > 0 && neighbors[k-1] >= i {
					t.Errorf("neighbors of %d: %v", j, neighbors)
				}
			}
			if len(neighbors) < n.Degree {
				t.Errorf("site %d has %d neighbors", j, len(neighbors))
			}
			neighbors[0], holders[0] = -1, -1
			g.Held(j)[0].X = -1
		}
		committee := g.Committee()
		if len(committee) != n.Holders || !slices.IsSorted(committee) || len(slices.Compact(committee)) != n.Holders {
			t.Errorf("committee %v", committee)
		}
		if dealt != n.Sites*n.Holders {
			t.Errorf("%d shares held", dealt)
		}
		for j := range n.Sites {
			if g.Holders(j)[0] < 0 || g.Neighbors(j)[0] < 0 || g.Held(j)[0].X < 0 {
				t.Fatal("an answer is the graph's own memory")
			}
		}
	}
}

// TestDrawingRejects: of the 2^32 numbers those above the last multiple of the range are passed
// over.
func TestDrawingRejects(t *testing.T) {
	for _, c := range []struct {
		stream []uint32
		n, x   int
	}{{[]uint32{1<<32 - 1, 5}, 3, 2}, {[]uint32{1<<32 - 2}, 3, 2}, {[]uint32{1<<32 - 1}, 1, 0}, {[]uint32{1<<32 - 1}, 65536, 65535}, {[]uint32{1<<32 - 4, 1<<32 - 5}, 7, 6}} {
		var raw []byte
		for _, x := range c.stream {
			raw = binary.BigEndian.AppendUint32(raw, x)
		}
		d := &drawing{rest: raw}
		if got := d.below(c.n); got != c.x || len(d.rest) != 0 {
			t.Errorf("%v: %d, %d bytes left", c, got, len(d.rest))
		}
	}
}

// TestDrawingIsUniform: 24,000 times 2 of the 4 others of each of 5 sites; χ² with 11 degrees of
// freedom over the 12 ordered pairs is above 49 with probability 1e-6, for any of the five 5e-6.
// Consecutive sites' pairs are unrelated: χ² with 143 degrees of freedom is above 230 with
// probability 5e-6.
func TestDrawingIsUniform(t *testing.T) {
	const draws, sites = 24000, 5
	d := newDrawing(labelled("uniform"), "masks", Numbers{})
	var pairs [sites]map[[2]uint16]float64
	for j := range pairs {
		pairs[j] = map[[2]uint16]float64{}
	}
	joint := map[[4]uint16]float64{}
	for range draws {
		drawn := drawOthers(d, sites, 2)
		for j, two := range drawn {
			pairs[j][[2]uint16(two)]++
		}
		joint[[4]uint16{drawn[0][0], drawn[0][1], drawn[1][0], drawn[1][1]}]++
	}
	chi := func(cells int, counts []float64) float64 {
		if len(counts) != cells {
			return math.Inf(1)
		}
		sum, mean := 0.0, draws/float64(cells)
		for _, c := range counts {
			sum += (c - mean) * (c - mean) / mean
		}
		return sum
	}
	for j, counts := range pairs {
		for pair := range counts {
			if pair[0] == pair[1] || int(pair[0]) == j || int(pair[1]) == j {
				t.Errorf("site %d drew %v", j, pair)
			}
		}
		if x := chi(12, values(counts)); x > 49 {
			t.Errorf("site %d: χ² %.1f", j, x)
		}
	}
	if x := chi(144, values(joint)); x > 230 {
		t.Errorf("pairs of two sites: χ² %.1f", x)
	}
}

func values[K comparable](m map[K]float64) (all []float64) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// TestPartsAreUnrelated: over 200 seeds each site is in the committee as often as any, a site's
// holders are its mask neighbors no more often than others are, nor do holders at x sit in the
// committee more often. Each z of 67 is within 5.5 but with 3e-6 in all.
func TestPartsAreUnrelated(t *testing.T) {
	const seeds = 200
	n := newNumbers(t, 65, 3)
	in := make([]float64, n.Sites)
	var both, first float64
	for seed := range seeds {
		g, err := New(n, labelled("parts", seed))
		if err != nil {
			t.Fatal(err)
		}
		committee := g.Committee()
		for _, i := range committee {
			in[i]++
		}
		for j := range n.Sites {
			holders := g.Holders(j)
			for _, i := range g.Neighbors(j) {
				if slices.Contains(holders, i) {
					both++
				}
			}
			if slices.Contains(committee, holders[0]) {
				first++
			}
		}
	}
	z := func(what string, count, trials, p, inflation float64) {
		t.Helper()
		if z := (count - trials*p) / math.Sqrt(trials*p*(1-p)*inflation); math.Abs(z) > 5.5 {
			t.Errorf("%s: z = %.1f", what, z)
		}
	}
	share := float64(n.Holders) / float64(n.Sites)
	for i, count := range in {
		z(fmt.Sprintf("site %d in the committee", i), count, seeds, share, 1)
	}
	// Every pair is a holder of one that is a neighbor, by chance K/(N-1)·d/(N-1); at most twice a
	// variance of independent pairs, as both (i,j) and (j,i) use one edge.
	m := float64(n.Degree) / float64(n.Sites-1)
	pairs := float64(seeds * n.Sites * (n.Sites - 1))
	z("holders among neighbors", both, pairs, float64(n.Holders)/float64(n.Sites-1)*(1-(1-m)*(1-m)), 2)
	z("first holders in the committee", first, seeds*float64(n.Sites), share, 1)
}

// TestUnfitGraph: a graph in which a site could never be in U is refused, and it is named.
func TestUnfitGraph(t *testing.T) {
	n := newNumbers(t, 1000, 50)
	n.MinNeighbors = 70 // safe, and mean degree 55
	_, err := New(n, labelled("unfit"))
	if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), "the seed gives site 0 ") {
		t.Error(err)
	}
	n.Threshold--
	if _, err := New(n, labelled("unfit")); err == nil || !strings.Contains(err.Error(), "threshold") {
		t.Error(err)
	}
}

// TestAcceptable: U is refused for its size, its order, strangers, or one site with a neighbor too
// few.
func TestAcceptable(t *testing.T) {
	g := newGraph(t, 200, 20, 3)
	n := g.numbers
	var all []int
	for i := range n.Sites {
		all = append(all, i)
	}
	if err := g.Acceptable(all); err != nil {
		t.Error(err)
	}
	// Site 7 loses neighbors until r are left, then one more.
	neighbors := g.Neighbors(7)
	without := func(gone []int) []int {
		return slices.DeleteFunc(slices.Clone(all), func(i int) bool { return slices.Contains(gone, i) })
	}
	last := len(neighbors) - n.MinNeighbors
	if err := g.Acceptable(without(neighbors[:last])); err != nil {
		t.Error(err)
	}
	for want, u := range map[string][]int{
		fmt.Sprintf("survivor 7 has %d mask neighbors among the survivors, at least %d", n.MinNeighbors-1, n.MinNeighbors): without(neighbors[:last+1]),
		fmt.Sprintf("%d survivors, at least %d", n.MinSurvivors-1, n.MinSurvivors):                                         all[:n.MinSurvivors-1],
		"ascending": append(slices.Clone(all[1:]), 0),
		"below 200": append(slices.Clone(all), 200),
		"not asc":   append([]int{-1}, all...),
	} {
		err := g.Acceptable(u)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if got := g.largest(without(neighbors[:last+1])); slices.Contains(got, 7) || len(got) != len(all)-last-2 {
		t.Errorf("%d of the sites, 7 among them: %v", len(got), slices.Contains(got, 7))
	}
}

// TestLargest: on small graphs the largest set is the union of all sets of present sites in which
// each has r neighbors.
func TestLargest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "sites")
		g := &Graph{numbers: Numbers{Sites: n, MinNeighbors: rapid.IntRange(1, 4).Draw(t, "r")}, neighbors: make([][]uint16, n)}
		edges := make([]uint, n)
		for i := range n {
			for j := range i {
				if rapid.Bool().Draw(t, "edge") {
					edges[i], edges[j] = edges[i]|1<<j, edges[j]|1<<i
				}
			}
		}
		for i := range n {
			for j := range n {
				if edges[i]>>j&1 == 1 {
					g.neighbors[i] = append(g.neighbors[i], uint16(j))
				}
			}
		}
		present := uint(rapid.IntRange(0, 1<<n-1).Draw(t, "present"))
		var union uint
		for set := range uint(1) << n {
			fit := set&^present == 0
			for i := range n {
				fit = fit && (set>>i&1 == 0 || onesCount(edges[i]&set) >= g.numbers.MinNeighbors)
			}
			if fit {
				union |= set
			}
		}
		// strangers do not matter
		given := append([]int{-1}, append(sitesOf(present), n, n+1)...)
		if got := g.largest(given); !slices.Equal(got, sitesOf(union)) {
			t.Fatalf("%v of %v, want %v", got, sitesOf(present), sitesOf(union))
		}
	})
}

func onesCount(set uint) int { return len(sitesOf(set)) }

func sitesOf(set uint) (u []int) {
	for i := 0; set>>i != 0; i++ {
		if set>>i&1 == 1 {
			u = append(u, i)
		}
	}
	return u
}

// TestQueriesGoThrough: when a tenth of the sites drop out nobody else is left out of U, and all
// secrets and the certificate can be had. 100 queries; a right build fails with at most 100 ·
// 3·10^-6.
func TestQueriesGoThrough(t *testing.T) {
	g := newGraph(t, 300, 60, 4)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		in := make([]bool, g.numbers.Sites)
		var present []int
		for i := range in {
			if in[i] = rng.Float64() >= 0.1; in[i] {
				present = append(present, i)
			}
		}
		if u := g.largest(present); !slices.Equal(u, present) || g.Acceptable(u) != nil {
			t.Errorf("%d of %d present sites: %v", len(u), len(present), g.Acceptable(u))
		}
		live := func(of []int) (n int) {
			for _, i := range of {
				if in[i] {
					n++
				}
			}
			return n
		}
		for j := range in {
			if live(g.Holders(j)) < g.numbers.Threshold {
				t.Errorf("the shares of %d cannot be had", j)
			}
		}
		if live(g.Committee()) < g.numbers.Threshold {
			t.Error("no certificate")
		}
	}
}

func BenchmarkGraph(b *testing.B) {
	for name, sites := range map[string]int{"N=1000": 1000, "N=10000": 10000} {
		n := newNumbers(b, sites, (sites-1)/3)
		b.Run("new/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := New(n, [32]byte{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		g := newGraph(b, sites, (sites-1)/3, 0)
		var present []int
		for i := range sites {
			if i%10 != 0 {
				present = append(present, i)
			}
		}
		b.Run("acceptable/"+name, func(b *testing.B) {
			for b.Loop() {
				if err := g.Acceptable(present); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("largest/"+name, func(b *testing.B) {
			for b.Loop() {
				g.largest(present)
			}
		})
	}
}

// labelled makes fixed bytes of a label and numbers.
func labelled(label string, numbers ...int) [32]byte {
	return sha256.Sum256(fmt.Append(nil, label, numbers))
}

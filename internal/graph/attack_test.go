package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// cutter is a coordinator that sees the graph, knows the corrupt sites and chooses who survives.
type cutter struct {
	g       *Graph
	corrupt []bool
}

// randomCutter has η corrupt sites that were chosen with no regard to the graph.
func randomCutter(g *Graph, rng *rand.Rand) cutter {
	c := cutter{g, make([]bool, g.numbers.Sites)}
	for _, i := range rng.Perm(g.numbers.Sites)[:g.numbers.Corrupt] {
		c.corrupt[i] = true
	}
	return c
}

// split reports whether the sites of U that are not corrupt are not connected.
func (c cutter) split(u []int) bool {
	left := make([]bool, c.g.numbers.Sites) // not reached
	honest := u[:0:0]
	for _, i := range u {
		if !c.corrupt[i] {
			left[i] = true
			honest = append(honest, i)
		}
	}
	left[honest[0]] = false
	next, reached := []int{honest[0]}, 1
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		for _, j := range c.g.neighbors[i] {
			if left[j] {
				left[j] = false
				next = append(next, int(j))
				reached++
			}
		}
	}
	return reached < len(honest)
}

// cut grows a set from one site, always by the neighbor that brings the fewest new ones, and at
// each size claims that all honest neighbors of the set have dropped out, as far as U_min allows.
// It gives how many of the U it asked for were acceptable (with sites taken out that had too few
// neighbors) and how many of those split.
func (c cutter) cut(start int) (acceptable, split int) {
	n := c.g.numbers
	const inside, boundary = 1, 2
	where := make([]int, n.Sites)
	where[start] = inside
	fresh := func(v int) (count int) { // neighbors that v would add to the boundary
		for _, j := range c.g.neighbors[v] {
			if where[j] == 0 && !c.corrupt[j] {
				count++
			}
		}
		return count
	}
	grow := func(v int) {
		where[v] = inside
		for _, j := range c.g.neighbors[v] {
			if where[j] == 0 && !c.corrupt[j] {
				where[j] = boundary
			}
		}
	}
	grow(start)
	for size := 1; size <= (n.MinSurvivors-n.Corrupt)/2; size++ {
		var u []int
		best, least := -1, n.Sites
		for i := range n.Sites {
			if where[i] != boundary {
				u = append(u, i)
			} else if f := fresh(i); f < least {
				best, least = i, f
			}
		}
		if len(u) >= n.MinSurvivors {
			if u = c.g.largest(u); c.g.Acceptable(u) == nil {
				acceptable++
				if c.split(u) {
					split++
				}
			}
		}
		if best < 0 {
			break
		}
		grow(best)
	}
	return acceptable, split
}

// circulant has each site linked to the next half on both sides: a Harary graph.
func circulant(n Numbers, half int) *Graph {
	g := &Graph{numbers: n, neighbors: make([][]uint16, n.Sites)}
	for i := range n.Sites {
		for d := 1; d <= half; d++ {
			g.neighbors[i] = append(g.neighbors[i], uint16((i+d)%n.Sites), uint16((i+n.Sites-d)%n.Sites))
		}
		slices.Sort(g.neighbors[i])
	}
	return g
}

// TestChosenSurvivorsStayConnected: whatever U the coordinator asks for, if every site of it has r
// neighbors in it the honest ones are connected. The same coordinator cuts a circulant of the same
// numbers and a higher degree, whose sites make the same check: this is why the graph is random,
// not a Harary graph.
func TestChosenSurvivorsStayConnected(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range [][2]int{{65, 3}, {100, 10}, {300, 60}, {500, 25}} {
		n := newNumbers(t, size[0], size[1])
		tried := 0
		for seed := range 4 {
			c := randomCutter(newGraph(t, size[0], size[1], seed), rng)
			for start := 0; start < n.Sites; start += 1 + n.Sites/20 {
				if !c.corrupt[start] {
					acceptable, split := c.cut(start)
					tried += acceptable
					if split > 0 {
						t.Errorf("%+v, seed %d: cut from site %d", n, seed, start)
					}
				}
			}
		}
		t.Logf("%+v: %d acceptable sets", n, tried)
		if tried < 10 {
			t.Errorf("%+v: only %d acceptable sets tried", n, tried)
		}
	}
	n := newNumbers(t, 500, 25)
	c := randomCutter(circulant(n, n.Degree), rng) // degree 50, where n's mean is 48.7
	start := slices.Index(c.corrupt, false)
	if acceptable, split := c.cut(start); split < 10 {
		t.Errorf("the circulant was cut %d times of %d: the attack is too weak to show anything", split, acceptable)
	}
}

// TestCorruptAfterTheSeed: sites that are corrupted after the graph is known take r neighbors of
// one site and say that its others dropped out. So the corrupt sites must be fixed before the seed
// is: every site commits to its nonce in the announcement, and one setup is all there is.
func TestCorruptAfterTheSeed(t *testing.T) {
	g := newGraph(t, 500, 50, 7)
	n := g.numbers
	c := cutter{g, make([]bool, n.Sites)}
	neighbors := g.Neighbors(0)
	for _, i := range neighbors[:n.MinNeighbors] {
		c.corrupt[i] = true
	}
	var u []int
	for i := range n.Sites {
		if !slices.Contains(neighbors[n.MinNeighbors:], i) {
			u = append(u, i)
		}
	}
	if err := g.Acceptable(u); err != nil {
		t.Error(err)
	}
	if !c.split(u) {
		t.Error("site 0 is connected to an honest one")
	}
}

package graph

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// leastSurvivors is U_min as for the complete graph: any two such sets have an honest site in
// common.
func leastSurvivors(sites, corrupt int) int { return max((sites+corrupt)/2+1, corrupt+2) }

func newNumbers(t testing.TB, sites, corrupt int) Numbers {
	t.Helper()
	n, err := NewNumbers(sites, corrupt, leastSurvivors(sites, corrupt), 0.1)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// neighborhoods is docs/figures/graph.csv: sites, corrupt; K, T, m, r at a dropout share of
// 0.1.
var neighborhoods = [][6]int{
	{65, 3, 36, 20, 13, 7}, {65, 6, 43, 25, 15, 9}, {65, 13, 56, 35, 21, 15}, {65, 21, 64, 43, 29, 22},
	{100, 5, 42, 24, 15, 9}, {100, 10, 51, 31, 19, 13}, {100, 20, 69, 45, 28, 22}, {100, 33, 90, 62, 39, 34},
	{200, 10, 53, 32, 18, 12}, {200, 20, 69, 45, 26, 21}, {200, 40, 103, 72, 41, 38}, {200, 66, 143, 105, 62, 63},
	{500, 25, 74, 48, 25, 20}, {500, 50, 94, 64, 34, 31}, {500, 100, 138, 100, 54, 56}, {500, 166, 220, 168, 88, 101},
	{1000, 50, 82, 54, 28, 23}, {1000, 100, 103, 71, 37, 35}, {1000, 200, 157, 115, 59, 64}, {1000, 333, 256, 198, 103, 124},
	{10000, 500, 95, 63, 32, 27}, {10000, 1000, 124, 86, 44, 42}, {10000, 2000, 187, 138, 71, 79}, {10000, 3333, 323, 252, 127, 162},
}

// TestNeighborhoodTable: the documented numbers are found, and none of those that safety rests on
// can be one step worse: fewer signatures or shares, more holders of the same threshold, fewer
// neighbors.
func TestNeighborhoodTable(t *testing.T) {
	for _, row := range neighborhoods {
		n := newNumbers(t, row[0], row[1])
		if got := [6]int{n.Sites, n.Corrupt, n.Holders, n.Threshold, n.Degree, n.MinNeighbors}; got != row {
			t.Errorf("%v, want %v", got, row)
		}
		refused := func(what string, worse Numbers) {
			t.Helper()
			if _, ok := errors.AsType[*Error](worse.Validate()); !ok {
				t.Errorf("%+v accepted with %s", worse, what)
			}
		}
		worse := n
		worse.Threshold--
		refused("a lower threshold", worse)
		worse = n
		worse.MinNeighbors--
		refused("fewer neighbors", worse)
		worse = n
		worse.Holders += 2 // by one if K+c is odd; at N-1 there are no more sites
		refused("more holders", worse)
		worse = n
		worse.MinSurvivors -= 1
		refused("fewer survivors", worse)
		worse = n
		worse.Corrupt += 2 // by one if N+η is even
		refused("more corrupt sites", worse)
	}
}

// TestUnsafeNumbersAreNamed: every condition is refused alone, by its name, with all others met.
func TestUnsafeNumbersAreNamed(t *testing.T) {
	good := newNumbers(t, 1000, 100)
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Numbers){
		"2 sites, must be":        func(n *Numbers) { n.Sites = 2 },
		"65536 sites, must be":    func(n *Numbers) { n.Sites = maxSites + 1 },
		"-1 corrupt":              func(n *Numbers) { n.Corrupt = -1 },
		"1000 corrupt":            func(n *Numbers) { n.Corrupt = 1000 },
		"550 survivors at least":  func(n *Numbers) { n.MinSurvivors-- },
		"1001 survivors at least": func(n *Numbers) { n.MinSurvivors = 1001 },
		"0 holders":               func(n *Numbers) { n.Holders = 0 },
		"1000 holders":            func(n *Numbers) { n.Holders = 1000 },
		"threshold 0":             func(n *Numbers) { n.Threshold = 0 },
		"threshold 104":           func(n *Numbers) { n.Threshold = n.Holders + 1 },
		"at least 71 against":     func(n *Numbers) { n.Threshold-- },
		"at least 72 against":     func(n *Numbers) { n.Holders++ },
		"against 102 corrupt":     func(n *Numbers) { n.Corrupt, n.MinSurvivors = 102, 552 },
		"degree 0, must":          func(n *Numbers) { n.Degree = 0 },
		"degree 1000, must":       func(n *Numbers) { n.Degree = 1000 },
		"0 mask neighbors":        func(n *Numbers) { n.MinNeighbors = 0 },
		"1000 mask neighbors":     func(n *Numbers) { n.MinNeighbors = 1000 },
		"37 and 34 mask":          func(n *Numbers) { n.MinNeighbors-- },
		// more corrupt ones among them
		"38 and 35 mask": func(n *Numbers) { n.Degree++ },
		"5 and 5 mask":   func(n *Numbers) { n.Degree, n.MinNeighbors = 5, 5 },
		"by 0 corrupt":   func(n *Numbers) { n.Corrupt, n.Degree, n.MinNeighbors = 0, 3, 1 },
	} {
		n := good
		change(&n)
		err := n.Validate()
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestNeighborhoodOfEverybody: where all others must hold shares nothing is left to chance: the
// corrupt holders are η, and N=65 with a third corrupt needs that. With m = N-1 the mask graph is
// complete, and r = 1 do.
func TestNeighborhoodOfEverybody(t *testing.T) {
	n := newNumbers(t, 65, 21)
	if n.Holders != 64 || 2*n.Threshold <= 64+21 || 2*(n.Threshold-1) > 64+21 {
		t.Errorf("%+v", n)
	}
	n.Degree, n.MinNeighbors = 64, 1
	if err := n.Validate(); err != nil {
		t.Error(err)
	}
	if p := newOdds(n).split(64, 1, 0); !math.IsInf(p, -1) {
		t.Errorf("the complete graph is split with e^%g", p)
	}
}

// TestNoNeighborhood: what cannot be is refused with what to lower, not made unsafe or useless.
func TestNoNeighborhood(t *testing.T) {
	for _, c := range []struct {
		sites, corrupt, least int
		dropout               float64
		want                  string
	}{
		{2, 0, 2, 0.1, "2 sites"},
		{100, 33, 66, 0.1, "survivors at least, must be 67"},
		{100, 99, 100, 0, "survivors at least, must be 101"}, // an honest site alone
		{100, 33, 67, -0.1, "dropout share"},
		{100, 33, 67, 1, "dropout share"},
		{100, 33, 67, math.NaN(), "dropout share"},
		{100, 33, 67, 0.25, "lower the dropout share"},
		{65, 21, 64, 0.1, "least survivors"},
		{66, 21, 44, 0.115, "no threshold of at most 65 holders"},
		{1000, 333, 667, 0.29, "667 survivors of 1000"},
	} {
		n, err := NewNumbers(c.sites, c.corrupt, c.least, c.dropout)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %+v, %v", c, n, err)
		}
	}
}

// TestNeighborhoodOfAll: a sum that waits for every site needs none to be there by luck, and its
// survivors are split by fewer corrupt sites' draws; holders may still drop out.
func TestNeighborhoodOfAll(t *testing.T) {
	all, err := NewNumbers(200, 20, 200, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	some, err := NewNumbers(200, 20, 111, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	if all.Holders != some.Holders || all.Threshold != some.Threshold || all.Degree >= some.Degree {
		t.Errorf("all: %+v, some: %+v", all, some)
	}
	if _, err := NewNumbers(66, 21, 66, 0.4); err == nil {
		t.Error("holders that drop out are counted on")
	}
}

// TestNeighborhoodEverywhere: numbers are found, and safe, for every size from 65 and without
// dropouts or corrupt sites too.
func TestNeighborhoodEverywhere(t *testing.T) {
	for sites := 65; sites < 400; sites += 1 + sites/20 {
		for _, corrupt := range []int{0, 1, sites / 10, (sites - 1) / 3} {
			for _, dropout := range []float64{0, 0.05, 0.1} {
				n, err := NewNumbers(sites, corrupt, leastSurvivors(sites, corrupt), dropout)
				if err == nil {
					err = n.Validate()
				}
				if err != nil {
					t.Errorf("%d sites, %d corrupt, dropout %g: %v", sites, corrupt, dropout, err)
				}
			}
		}
	}
}

func BenchmarkNeighborhood(b *testing.B) {
	for name, sites := range map[string]int{"N=1000": 1000, "N=10000": 10000} {
		n := newNumbers(b, sites, (sites-1)/3)
		b.Run("new/"+name, func(b *testing.B) {
			for b.Loop() {
				newNumbers(b, sites, (sites-1)/3)
			}
		})
		b.Run("validate/"+name, func(b *testing.B) {
			for b.Loop() {
				n.Validate()
			}
		})
	}
}

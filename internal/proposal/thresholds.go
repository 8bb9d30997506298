package proposal

import (
	"fmt"

	"covey/internal/graph"
)

// MaxComplete is the largest roster of the complete graph (docs/protocol.md); above it the
// sparse graph is used. MaxSites is the largest roster.
const (
	MaxComplete = 64
	MaxSites    = 10_000
)

// Thresholds are the numbers of docs/protocol.md for one roster.
type Thresholds struct {
	Sites        int `json:"sites"`         // N
	Corrupt      int `json:"corrupt"`       // η, sites that may collude with the coordinator
	Quorum       int `json:"quorum"`        // q = ⌊(N+η)/2⌋+1
	MinSurvivors int `json:"min_survivors"` // U_min, the fewest sites in a sum: N, or max(q, η+2)
	// Holders is how many sites hold a share of each site's secrets, K; on the complete graph all
	// N.
	Holders int `json:"holders"`
	// Threshold is how many of their shares open a secret, and how many release signatures
	// are a certificate: q, or T on the sparse graph.
	Threshold int `json:"threshold"`
	// Degree is how many sites each site draws to share masks with, m: all others on the complete
	// graph.
	Degree int `json:"degree"`
	// MinNeighbors is how many mask neighbors in a sum each site in it must have, r; 0 on the
	// complete graph, where all are.
	MinNeighbors int `json:"min_neighbors"`
}

// UsualCorrupt is η of n sites where a proposal does not set it.
func UsualCorrupt(n int) int { return (n - 1) / 3 }

// NewThresholds returns the thresholds of n sites that may drop out, without the sparse graph's
// numbers. A
// minSurvivors of 0 means the default: U_min, and all three of three sites, where two would already
// leave each survivor with the other's exact sum plus noise. A larger value than U_min is kept, a
// smaller one refused. A corrupt of 0 means the default η = ⌊(N-1)/3⌋.
func NewThresholds(n, minSurvivors, corrupt int) (Thresholds, error) {
	if n < 2 {
		return Thresholds{}, FieldErrorf("sites", "a study needs at least 2 sites, got %d: a sum over one site is that site's data", n)
	}
	if n > MaxSites {
		return Thresholds{}, FieldErrorf("sites", "at most %d sites, got %d", MaxSites, n)
	}
	eta := UsualCorrupt(n)
	if corrupt != 0 {
		if corrupt < 1 || corrupt > n-2 {
			return Thresholds{}, FieldErrorf("corrupt", "must be in 1..%d for %d sites, got %d; leave it out for %d", n-2, n, corrupt, eta)
		}
		eta = corrupt
	}
	q := (n+eta)/2 + 1
	floor := max(q, eta+2)
	t := Thresholds{Sites: n, Corrupt: eta, Quorum: q, MinSurvivors: floor, Holders: n, Threshold: q, Degree: n - 1}
	if n == 3 {
		t.MinSurvivors = 3
	}
	if minSurvivors != 0 {
		if minSurvivors < floor || minSurvivors > n {
			return Thresholds{}, FieldErrorf("min_survivors", "must be in %d..%d for %d sites, got %d", floor, n, n, minSurvivors)
		}
		t.MinSurvivors = minSurvivors
	}
	return t, nil
}

// Waits reports whether the study needs every site in every sum.
func (s Spec) Waits() bool { return s.OnDropout == DropoutWait }

// thresholds returns those of the spec over n sites, the one place that noise, acceptance, shares
// and screens have U_min from: all n where a sum waits for every site.
func (s *Spec) thresholds(n int) (Thresholds, error) {
	least := s.MinSurvivors
	if s.Waits() {
		least = n
	}
	return NewThresholds(n, least, s.Corrupt)
}

// Graph is the numbers of the sparse graph, written out in a proposal of more than MaxComplete
// sites: the proposer chooses them, and everybody who plans checks that they are safe.
type Graph struct {
	Holders      int `toml:"holders" json:"holders"`
	Threshold    int `toml:"threshold" json:"threshold"`
	Degree       int `toml:"degree" json:"degree"`
	MinNeighbors int `toml:"min_neighbors" json:"min_neighbors"`
}

// newGraph finds the numbers for sites that drop out with probability dropout each.
func newGraph(t Thresholds, dropout float64) (*Graph, error) {
	n, err := graph.NewNumbers(t.Sites, t.Corrupt, t.MinSurvivors, dropout)
	if err != nil {
		return nil, FieldErrorf("sites", "%d sites, %d of them corrupt: %v", t.Sites, t.Corrupt, err)
	}
	return &Graph{n.Holders, n.Threshold, n.Degree, n.MinNeighbors}, nil
}

// with adds the sparse graph's numbers, checked; a graph is there if and only if there are
// more than MaxComplete sites.
func (t Thresholds) with(g *Graph) (Thresholds, error) {
	if t.Sparse() != (g != nil) {
		return t, FieldErrorf("graph", "is for more than %d sites, and for %d of them", MaxComplete, t.Sites)
	}
	if g == nil {
		return t, nil
	}
	t.Holders, t.Threshold, t.Degree, t.MinNeighbors = g.Holders, g.Threshold, g.Degree, g.MinNeighbors
	if err := t.Numbers().Validate(); err != nil {
		return t, FieldErrorf("graph", "%v", err)
	}
	return t, nil
}

// Sparse reports whether the graph is the sparse one.
func (t Thresholds) Sparse() bool { return t.Sites > MaxComplete }

// Whole reports whether every sum is over all sites, so that nothing is stored for a site that
// drops out.
func (t Thresholds) Whole() bool { return t.MinSurvivors == t.Sites }

// Numbers returns the sparse graph's numbers, and the zero value on the complete one.
func (t Thresholds) Numbers() graph.Numbers {
	if !t.Sparse() {
		return graph.Numbers{}
	}
	return graph.Numbers{
		Sites: t.Sites, Corrupt: t.Corrupt, MinSurvivors: t.MinSurvivors,
		Holders: t.Holders, Threshold: t.Threshold, Degree: t.Degree, MinNeighbors: t.MinNeighbors,
	}
}

// Collusion says in words what the thresholds survive.
func (t Thresholds) Collusion() string {
	switch {
	case t.Sites == 2:
		return "2 sites: both are needed, and each can subtract its own part from the noised sum; a site that colludes with the coordinator can expose the other's data"
	case t.Corrupt == 0:
		return fmt.Sprintf("%d sites: one site that colludes with the coordinator can expose the other sites' data", t.Sites)
	case t.Corrupt == 1:
		return "one site may collude with the coordinator and learn no other site's data" + t.chance()
	default:
		return fmt.Sprintf("%d sites may collude with the coordinator and learn no other site's data", t.Corrupt) + t.chance()
	}
}

// chance is what is left to luck where the graph is drawn.
func (t Thresholds) chance() string {
	if !t.Sparse() {
		return ""
	}
	return ", but with probability 2^-40 over the graph that is drawn"
}

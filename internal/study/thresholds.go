package study

import "fmt"

// MaxSites is the largest roster of the complete graph (design section 7).
// Above it the sparse graph of Bell et al. 2020 is needed, which is not built.
const MaxSites = 64

// Thresholds are the numbers of design section 7 for one roster.
type Thresholds struct {
	Sites        int // N
	Corrupt      int // η = ⌊(N-1)/3⌋, sites that may collude with the coordinator
	Quorum       int // q = ⌊(N+η)/2⌋+1, signatures in a certificate, shares to open
	MinSurvivors int // U_min = max(q, η+2), the fewest sites in a sum
}

// NewThresholds gives the thresholds of n sites. A minSurvivors of 0 means the
// default: U_min, and all three of three sites, where two would already leave
// each survivor with the other's exact sum plus noise. A larger value than U_min
// is kept, a smaller one refused.
func NewThresholds(n, minSurvivors int) (Thresholds, error) {
	if n < 2 {
		return Thresholds{}, fieldError("sites", "a study needs at least 2 sites, got %d: a sum over one site is that site's data", n)
	}
	if n > MaxSites {
		return Thresholds{}, fieldError("sites", "at most %d sites on the complete graph, got %d", MaxSites, n)
	}
	eta := (n - 1) / 3
	q := (n+eta)/2 + 1
	floor := max(q, eta+2)
	t := Thresholds{Sites: n, Corrupt: eta, Quorum: q, MinSurvivors: floor}
	if n == 3 {
		t.MinSurvivors = 3
	}
	if minSurvivors != 0 {
		if minSurvivors < floor || minSurvivors > n {
			return Thresholds{}, fieldError("min_survivors", "must be in %d..%d for %d sites, got %d", floor, n, n, minSurvivors)
		}
		t.MinSurvivors = minSurvivors
	}
	return t, nil
}

// Collusion says in words what the thresholds survive.
func (t Thresholds) Collusion() string {
	switch {
	case t.Sites == 2:
		return "2 sites: both are needed, and each can subtract its own part from the noised sum; no collusion with the coordinator is survived"
	case t.Corrupt == 0:
		return fmt.Sprintf("%d sites: no collusion of a site with the coordinator is survived", t.Sites)
	case t.Corrupt == 1:
		return "one site may collude with the coordinator and learn no other site's data"
	default:
		return fmt.Sprintf("%d sites may collude with the coordinator and learn no other site's data", t.Corrupt)
	}
}

package graph

import "math"

// maxSites is how many sites the sparse graph can have: indices are 2 bytes.
const maxSites = 65535

// Numbers is the numbers of the sparse graph, all public and in the plan: who holds shares of
// whom, who shares masks with whom and whose signatures count are drawn with them (Graph). They
// replace q and the complete graph above proposal.MaxComplete sites.
type Numbers struct {
	Sites        int // N
	Corrupt      int // η, that act with the coordinator
	MinSurvivors int // U_min
	Holders      int // K, that hold a share of each site, and the size of the committee
	Threshold    int // T, of K: shares that open a secret, signatures that are a certificate
	Degree       int // m, sites that each site draws to share masks with
	MinNeighbors int // r, mask neighbors in U that each site of U must have
}

// Two things can go wrong with a graph, each with probability at most 2^-42 over the seed: a site's
// holders or the committee are too corrupt, or acceptable survivors can be split. So a graph keeps
// all promises but with 2^-41. Both sides compute the bounds, good to 1e-3 relative (ln k! below
// 7·10^5 to a few ulps, at most 10^5 times; 1e-6 for 10,000 sites), and 2^-40 is twice as much: no
// platform's Lgamma, Exp or Log makes numbers pass that miss 2^-40. What is within 1e-3 of 2^-42
// one build may accept and another refuse: that is a refusal, not a leak.
const (
	logUnsafe   = -42 * math.Ln2
	logUnusable = -13.815510557964274 // ln 1e-6, for each of three ways to stall a query
)

// NewNumbers finds the fewest holders, then the fewest mask neighbors that are safe (Validate) and
// useful: if each site drops out of a query on its own with probability dropout, then but with 1e-6
// each, at least minSurvivors sites are there; T members of the committee and T holders of every
// site are there; and no site that is there has fewer than r mask neighbors there. If minSurvivors
// is the number of sites, a sum waits for every one, and dropout concerns only holders. Nothing is
// promised about sites that stay away together. An Error says what to lower if no numbers do.
func NewNumbers(sites, corrupt, minSurvivors int, dropout float64) (Numbers, error) {
	n := Numbers{Sites: sites, Corrupt: corrupt, MinSurvivors: minSurvivors}
	if err := n.population(); err != nil {
		return Numbers{}, err
	}
	if !(dropout >= 0 && dropout < 1) {
		return Numbers{}, refuse("dropout share %g, must be at least 0 and below 1", dropout)
	}
	o := newOdds(n)
	present := 1 - dropout
	summed := present // of a site, to be in a sum
	if minSurvivors == sites {
		summed = 1
	}
	if o.lf.binomialBelow(sites, summed, minSurvivors) > logUnusable {
		return Numbers{}, refuse("%d survivors of %d sites cannot be relied on when a share of %g drops out: lower the dropout share, the corrupt sites or the least survivors", minSurvivors, sites, dropout)
	}
	k := smallest(sites-1, func(k int) bool { return o.holdersStay(k, o.threshold(k), present) })
	if k == 0 {
		return Numbers{}, refuse("no threshold of at most %d holders is safe from %d corrupt sites of %d and met when a share of %g drops out: lower the corrupt sites or the dropout share", sites-1, corrupt, sites, dropout)
	}
	n.Holders, n.Threshold = k, o.threshold(k)
	limit := n.splitLimit()
	m := smallest(sites-1, func(m int) bool { // N-1 of them connect all
		r := o.kept(m, summed)
		return r > 0 && o.split(m, r, limit) <= limit
	})
	n.Degree, n.MinNeighbors = m, o.kept(m, summed)
	for n.MinNeighbors > 1 && o.split(m, n.MinNeighbors-1, limit) <= limit {
		n.MinNeighbors--
	}
	return n, n.Validate()
}

// smallest finds the least x in 1..most that fits, 0 if it finds none. What fits has a saw's
// edge, as thresholds are whole numbers: the least is looked for a few steps
// below where halving ends. Any x that it gives fits.
func smallest(most int, fits func(int) bool) int {
	low, high := 0, min(32, most) // low does not fit
	for !fits(high) {
		if high == most {
			return 0
		}
		low, high = high, min(2*high, most)
	}
	for high-low > 1 {
		if mid := (low + high) / 2; fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	for x := high - 1; x >= max(1, high-8); x-- {
		if fits(x) {
			high = x
		}
	}
	return high
}

// Validate computes again that the numbers are safe, whoever proposes them, and names the bound
// that does not hold. It says nothing of dropouts: useless numbers lose queries, not privacy. The
// derivation is in the package's comment.
func (n Numbers) Validate() error {
	if err := n.population(); err != nil {
		return err
	}
	switch {
	case n.Holders < 1 || n.Holders > n.Sites-1:
		return refuse("%d holders, must be 1..%d", n.Holders, n.Sites-1)
	case n.Threshold < 1 || n.Threshold > n.Holders:
		return refuse("threshold %d, must be 1..%d", n.Threshold, n.Holders)
	case n.Degree < 1 || n.Degree > n.Sites-1:
		return refuse("degree %d, must be 1..%d", n.Degree, n.Sites-1)
	case n.MinNeighbors < 1 || n.MinNeighbors > n.Sites-1:
		return refuse("%d mask neighbors at least, must be 1..%d", n.MinNeighbors, n.Sites-1)
	}
	o := newOdds(n)
	if least := o.threshold(n.Holders); n.Threshold < least {
		return refuse("threshold %d of %d holders, must be at least %d against %d corrupt sites of %d", n.Threshold, n.Holders, least, n.Corrupt, n.Sites)
	}
	limit := n.splitLimit()
	if p := o.split(n.Degree, n.MinNeighbors, limit); !(p <= limit) {
		return refuse("degree %d and %d mask neighbors at least: the survivors may be split with probability above 2^-42 by %d corrupt sites of %d", n.Degree, n.MinNeighbors, n.Corrupt, n.Sites)
	}
	return nil
}

// population checks what the caller chooses. Two sums of U_min sites have an honest one in
// common, whose secrets open in one slot of a query: at most one sum opens.
func (n Numbers) population() error {
	switch {
	case n.Sites < 3 || n.Sites > maxSites:
		return refuse("%d sites, must be 3..%d on the sparse graph", n.Sites, maxSites)
	case n.Corrupt < 0 || n.Corrupt >= n.Sites:
		return refuse("%d corrupt sites of %d", n.Corrupt, n.Sites)
	case 2*n.MinSurvivors <= n.Sites+n.Corrupt || n.MinSurvivors < n.Corrupt+2 || n.MinSurvivors > n.Sites:
		return refuse("%d survivors at least, must be %d..%d", n.MinSurvivors, max((n.Sites+n.Corrupt)/2+1, n.Corrupt+2), n.Sites)
	}
	return nil
}

// splitLimit is what split may be: 2^-42, less what sets of fewer than η corrupt sites need. The
// bound holds for sets of exactly η. Let C be smaller and a split A, B of U \ C be found; fill C up
// to η with sites drawn at random, of which neither the graph nor A and B know anything. All of A
// is filled with at most the chance η/N, all of the larger B with (η/N)^⌈w/2⌉; otherwise the filled
// set sees a split too. So C sees one at most this many times as often as the filled sets on
// average.
func (n Numbers) splitLimit() float64 {
	share := float64(n.Corrupt) / float64(n.Sites)
	w := n.MinSurvivors - n.Corrupt
	left := 1 - share - math.Pow(share, float64((w+1)/2))
	if left <= 0 {
		return math.Inf(-1)
	}
	return logUnsafe + math.Log(left)
}

// odds computes the probabilities, as natural logs.
type odds struct {
	sites, corrupt, least int
	lf                    logFactorials
}

func newOdds(n Numbers) odds {
	return odds{n.Sites, n.Corrupt, n.MinSurvivors, newLogFactorials(n.Sites)}
}

// threshold is the least T that is safe with k holders: 2T > k+c for the c corrupt ones of any
// site's holders and of the committee, but with 2^-42. The union is over N sites, as of a smaller
// set C more than N-η are honest (one site's chance is at most that with η), and the committee,
// which is drawn of one honest site more and so has more than c with a lower chance.
func (o odds) threshold(k int) int {
	unsafe := func(c int) bool { // more than c
		return math.Log(float64(o.sites)+1)+o.lf.drawnAtLeast(o.sites-1, o.corrupt, k, c+1) > logUnsafe
	}
	low, high := -1, min(k, o.corrupt) // low is unsafe, high cannot be
	for high-low > 1 {
		if mid := (low + high) / 2; unsafe(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return (k+high)/2 + 1
}

// holdersStay reports whether T of every site's k holders and of the committee are there: never
// where T is above k. With k = N-1 the sets differ in one site each, and T+1 sites are enough for
// all.
func (o odds) holdersStay(k, t int, present float64) bool {
	stall := math.Log(float64(o.sites)+1) + o.lf.binomialBelow(k, present, t)
	if k == o.sites-1 {
		stall = o.lf.binomialBelow(o.sites, present, t+1)
	}
	return stall <= logUnusable
}

// kept is the largest r that every present site has of present mask neighbors of degree m: the m
// it drew and those of the others that drew it.
func (o odds) kept(m int, present float64) int {
	others := o.sites - 1
	in := float64(m) / float64(others) * present
	below := func(r int) float64 { // ln P(fewer than r)
		var sum float64
		for x := 0; x <= min(m, r-1); x++ {
			sum += math.Exp(o.lf.binomial(m, present, x) + o.lf.binomialBelow(others-m, in, r-x))
		}
		return math.Log(float64(o.sites)) + math.Log(sum)
	}
	low, high := 0, others+1 // low keeps, high cannot
	for high-low > 1 {
		if mid := (low + high) / 2; below(mid) <= logUnusable {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

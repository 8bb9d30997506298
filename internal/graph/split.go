package graph

import "math"

// split bounds the probability, over the mask graph of degree m, that the coordinator can choose an
// acceptable U (at least U_min sites, each with r mask neighbors in U) whose honest sites are not
// connected, for a set C of η sites that does not depend on the graph. Natural log; once the sum is
// over limit it may stop, with something over limit.
//
// A split is a set A of honest sites without an edge to the rest B of U \ C, a = |A| <= |B|. Every
// site of A then has r neighbors in A and C, and |B| >= b = w-a, w = U_min-η. For one A the chance
// is bounded with and without an edge-free B in hand (part), and the smaller union is taken: over
// the C(N-η, a) sets A, or over them and the sets B of exactly b sites. Sides of w/2 and more hold
// sets of ⌊w/2⌋ and ⌈w/2⌉ without an edge, which are rare enough with no regard to degrees.
func (o odds) split(m, r int, limit float64) float64 {
	honest, w := o.sites-o.corrupt, o.least-o.corrupt
	half := w / 2
	sum := math.Exp(o.lf.choose(honest, half) + o.lf.choose(honest-half, w-half) + o.apart(m, half, w-half))
	for a := 1; a <= half && math.Log(sum) <= limit; a++ {
		sets := o.lf.choose(honest, a)
		p := sets + o.inside(m, r, a, 0)
		if a == 1 { // the same, exactly
			p = sets + o.corruptNeighbors(m, r)
		}
		p = min(p, sets+o.lf.choose(honest-a, w-a)+o.apart(m, a, w-a)+o.inside(m, r, a, w-a))
		sum += math.Exp(p)
	}
	return math.Log(sum)
}

// apart is ln P(none of a sites drew one of b others, nor one of b one of a): exact, as
// each draws its m on its own.
func (o odds) apart(m, a, b int) float64 {
	none := func(x int) float64 { return o.lf.choose(o.sites-1-x, m) - o.lf.choose(o.sites-1, m) }
	return float64(a)*none(b) + float64(b)*none(a)
}

// inside bounds ln P(each of a sites has r neighbors among themselves and the η corrupt), given
// that they are apart from b others. The degrees then sum to a·r at least: an edge inside counts 2,
// one to C counts 1. Which sites a site drew is a uniform m-subset (given apart, of the N-1-b
// others left to it), so the arcs are negatively associated, and so are the edges, which are
// increasing functions of disjoint pairs of arcs (Joag-Dev and Proschan 1983). Hence E exp(t·sum)
// is at most the product over pairs, and Markov's bound holds at any t >= 0: that t is the best
// only to some digits is safe.
func (o odds) inside(m, r, a, b int) float64 {
	others := float64(o.sites - 1)
	if m > o.sites-1-b {
		return math.Inf(-1) // they cannot be apart
	}
	drew := float64(m) / (others - float64(b)) // each of the a, of any site but the b
	edge := 1 - (1-drew)*(1-drew)
	toCorrupt := 1 - (1-drew)*(1-float64(m)/others)
	pairs, corrupt, need := float64(a)*float64(a-1)/2, float64(a)*float64(o.corrupt), float64(a)*float64(r)
	if 2*pairs+corrupt < need {
		return math.Inf(-1) // not even with all edges
	}
	bound := func(t float64) float64 {
		return pairs*math.Log1p(edge*math.Expm1(2*t)) + corrupt*math.Log1p(toCorrupt*math.Expm1(t)) - t*need
	}
	rising := func(t float64) bool { // the slope of bound, which is convex
		e := math.Exp(t)
		return pairs*2*edge*e*e/(1+edge*(e*e-1))+corrupt*toCorrupt*e/(1+toCorrupt*(e-1)) >= need
	}
	low, high := 0.0, 40.0
	for range 30 {
		if t := (low + high) / 2; rising(t) {
			high = t
		} else {
			low = t
		}
	}
	return min(0, bound(low))
}

// corruptNeighbors is ln P(a site has at least r mask neighbors of the η corrupt), exactly: x it
// drew, and of the others those that drew it.
func (o odds) corruptNeighbors(m, r int) float64 {
	others := o.sites - 1
	in := float64(m) / float64(others)
	var sum float64
	for x := max(0, m+o.corrupt-others); x <= min(m, o.corrupt); x++ {
		sum += math.Exp(o.lf.drawn(others, o.corrupt, m, x) + o.lf.binomialAtLeast(o.corrupt-x, in, r-x))
	}
	return math.Log(sum)
}

package graph

import "slices"

// Topology answers what a leader asks of a graph with each message of a site. It is not safe for
// use by several goroutines.
type Topology struct {
	graph     *Graph
	threshold int
	committee []int
	signs     []bool
	holders   [][]int
	// by sender, ascending; made when the first boxes are routed, and of no use after the setup
	recipients [][]int
	short      int // a dealer that had too few holders' shares when last asked: looked at first
}

// NewTopology returns that of a graph whose certificates and openings take so many sites.
func NewTopology(g *Graph, threshold int) *Topology {
	sites := len(g.holders)
	top := &Topology{graph: g, threshold: threshold, committee: g.Committee(), signs: make([]bool, sites), holders: make([][]int, sites)}
	for _, i := range top.committee {
		top.signs[i] = true
	}
	for j := range top.holders {
		top.holders[j] = g.Holders(j)
	}
	return top
}

// Route implements round.Graph.
func (t *Topology) Route(boxes [][][]byte, to int) [][]byte {
	if t.recipients == nil {
		t.recipients = make([][]int, len(t.holders))
		for i := range t.recipients {
			t.recipients[i] = t.graph.Recipients(i)
		}
	}
	senders := t.graph.Senders(to)
	out := make([][]byte, len(senders))
	for k, from := range senders {
		if at, ok := slices.BinarySearch(t.recipients[from], to); ok && at < len(boxes[from]) {
			out[k] = boxes[from][at]
		}
	}
	return out
}

// Signs implements round.Graph.
func (t *Topology) Signs(site int) bool { return t.signs[site] }

// Certified implements round.Graph.
func (t *Topology) Certified(signed [][]byte) bool {
	n := 0
	for _, i := range t.committee {
		if signed[i] != nil {
			n++
		}
	}
	return n >= t.threshold
}

// Openable implements round.Graph. It is asked after each site's shares.
func (t *Topology) Openable(shared []bool) bool {
	for k := range t.holders {
		j := (t.short + k) % len(t.holders)
		n := 0
		for _, i := range t.holders[j] {
			if shared[i] {
				n++
			}
		}
		if n < t.threshold {
			t.short = j
			return false
		}
	}
	return true
}

// Largest implements round.Graph.
func (t *Topology) Largest(present []int) []int {
	return slices.Clone([]int(t.graph.largest(present)))
}

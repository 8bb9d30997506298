package round

// Graph says who holds whose shares and whose signatures count (docs/protocol.md). The sparse
// one is drawn by internal/secagg, once a study; a complete one needs no drawing.
type Graph interface {
	// Route returns the boxes for one site, in the order of the dealers whose shares it holds, of
	// all boxes by dealer; nil where the dealer is the site itself, or sent too few.
	Route(boxes [][][]byte, to int) [][]byte
	// Signs reports whether the site's release signature counts.
	Signs(site int) bool
	// Certified reports whether the signatures, by site, are a certificate.
	Certified(signed [][]byte) bool
	// Openable reports whether the sites that sent shares can open every secret.
	Openable(shared []bool) bool
	// Largest returns the largest acceptable survivor set among the sites present, ascending; the
	// caller checks that it is large enough.
	Largest(present []int) []int
}

// complete is the graph of up to proposal.MaxComplete sites: everybody holds, signs and masks.
type complete struct{ quorum int }

func (complete) Route(boxes [][][]byte, to int) [][]byte {
	out := make([][]byte, len(boxes))
	for from, of := range boxes {
		if from != to && to < len(of) {
			out[from] = of[to]
		}
	}
	return out
}

func (complete) Signs(int) bool { return true }

func (c complete) Certified(signed [][]byte) bool { return count(signed) >= c.quorum }

func (c complete) Openable(shared []bool) bool { return len(indices(shared)) >= c.quorum }

func (complete) Largest(present []int) []int { return present }

// sparse reports whether the study's graph has to be drawn.
func (s *State) sparse() bool { return s.plan.Thresholds.Sparse() }

// graph is the drawn one, or the complete one.
func (s *State) graph() Graph {
	if s.live.graph != nil {
		return s.live.graph
	}
	return complete{s.plan.Thresholds.Quorum}
}

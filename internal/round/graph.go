package round

// Graph says who holds whose shares and whose signatures count (docs/protocol.md). The sparse
// one is drawn by internal/secagg, once a study; a complete one needs no drawing.
type Graph interface {
	// Route returns the boxes for one site, in the order of its senders, of all boxes: by sender,
	// in the order of its recipients; nil where a sender sent too few.
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

// complete is the graph of up to proposal.MaxComplete sites: everybody holds, signs and masks, and
// so sends a box to everybody else.
type complete struct{ quorum int }

func (complete) Route(boxes [][][]byte, to int) [][]byte {
	var out [][]byte
	for from, of := range boxes {
		at := to
		switch {
		case from == to:
			continue
		case from < to:
			at-- // itself is not among its recipients
		}
		var box []byte
		if at < len(of) {
			box = of[at]
		}
		out = append(out, box)
	}
	return out
}

func (complete) Signs(int) bool { return true }

func (c complete) Certified(signed [][]byte) bool { return count(signed) >= c.quorum }

func (c complete) Openable(shared []bool) bool { return len(indices(shared)) >= c.quorum }

func (complete) Largest(present []int) []int { return present }

// graph is the drawn one, or the complete one.
func (s *State) graph() Graph {
	if s.live.graph != nil {
		return s.live.graph
	}
	return complete{s.plan.Thresholds.Quorum}
}

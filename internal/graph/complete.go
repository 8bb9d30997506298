package graph

// Complete is the graph of few sites: everybody holds a share of everybody, its own
// too, shares a mask with every other, and signs. Site i's shares stand at x = i+1, and quorum of
// them open. No seed draws it, and any U_min sites are connected.
func Complete(sites, corrupt, minSurvivors, quorum int) *Graph {
	g := &Graph{
		numbers: Numbers{Sites: sites, Corrupt: corrupt, MinSurvivors: minSurvivors, Holders: sites, Threshold: quorum, Degree: sites - 1},
		holders: make([][]uint16, sites), held: make([][]share, sites), neighbors: make([][]uint16, sites), committee: ascending(sites),
	}
	for i := range sites {
		g.holders[i] = g.committee
		for j := range sites {
			g.held[i] = append(g.held[i], share{uint16(j), uint16(i + 1)})
			if j != i {
				g.neighbors[i] = append(g.neighbors[i], uint16(j))
			}
		}
	}
	return g
}

package secagg

// completeGraph is the graph of up to MaxSites sites: everybody holds a share of everybody, its own
// too, shares a mask with every other, and signs. Site i's shares stand at x = i+1. No seed draws
// it, and any U_min sites are connected.
func completeGraph(c Config) *Graph {
	n := c.sites()
	g := &Graph{
		numbers: Neighbourhood{Sites: n, Corrupt: c.Corrupt, MinSurvivors: c.MinSurvivors, Holders: n, Threshold: c.Quorum, Degree: n - 1},
		holders: make([][]uint16, n), held: make([][]share, n), neighbours: make([][]uint16, n), committee: ascending(n),
	}
	for i := range n {
		g.holders[i] = g.committee
		for j := range n {
			g.held[i] = append(g.held[i], share{uint16(j), uint16(i + 1)})
			if j != i {
				g.neighbours[i] = append(g.neighbours[i], uint16(j))
			}
		}
	}
	return g
}

//go:build mutants

package mutants

func init() {
	tables = append(tables, []mutant{
		{"a unit at several sites has the noise of one", 0, []edit{
			{"internal/study/noise.go", "return up(float64(n.sitesPerUnit) * one)", "return one"},
		}, in("study", "TestSitesPerUnit"), killer{}},
		{"counts forget that a unit is at several sites", 0, []edit{
			{"internal/study/noise.go", "return n.atSites(q.Kind.Definition().CountSensitivity(n.grid(q, 0), q.Values))", "return q.Kind.Definition().CountSensitivity(n.grid(q, 0), q.Values)"},
		}, in("study", "TestSitesPerUnit"), killer{}},
		{"a choice forgets that a unit is at several sites", 0, []edit{
			{studyGrid, "return e.Quo(e, big.NewRat(int64(p.SitesPerUnit), 1)), nil", "return e.Quo(e, big.NewRat(1, 1)), nil"},
		}, in("study", "TestSelectAtSites"), killer{}},
		{"the leader chooses with all of ε0 wherever a unit may be", 0, []edit{
			{release, "epsilon, err := p.SelectEpsilon(a.Query)", "epsilon, err := p.Curve().SelectEpsilon(p.Queries[a.Query].Rho)"},
		}, in("aggregate", "TestChoiceAtSites"), killer{}},
		{"a unit is at more sites than there are", 0, []edit{
			{"internal/proposal/proposal.go", "s > len(p.Roster) {", "s > len(p.Roster)+1 {"},
		}, in("study", "TestBadInput"), killer{}},
		{"what a check may refuse does not grow with the query's charge", 0, []edit{
			{"internal/noise/check.go", "root := math.Sqrt(lnReject) - math.Sqrt(rho)", "root := math.Sqrt(lnReject) - 0*math.Sqrt(rho)"},
		}, in("noise", "TestRefusedByNeighborCoversTheLaws"), killer{}},
		{"a population's budget sets nothing aside", 0, []edit{
			{"internal/noise/check.go", "rho, err := c.RhoLess(eps, delta, budgetRefusals)", "rho, err := c.Rho(eps, delta)"},
		}, in("noise", "TestBudgetRho"), killer{}},
		{"a result may name another adjacency than its proposal", 0, []edit{
			{"internal/result/outputs.go", "if study.Near(r.NoiseToSignal, want.NoiseToSignal) {", "want.Adjacency = r.Adjacency\n\tif study.Near(r.NoiseToSignal, want.NoiseToSignal) {"},
		}, in("result", "TestResultSaysAdjacency"), killer{}},
	})
}

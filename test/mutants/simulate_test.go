//go:build mutants

package mutants

// Trials: a simulated result taken for a real one, and figures that flatter.
func init() {
	tables = append(tables, []mutant{
		{"simulate: verify takes a marked result", 0, []edit{
			{"internal/result/verify.go", "if r.Simulated {", "if false {"},
		}, in("simulate", "TestNeverVerifies"), killer{}},
		{"simulate: a result is not marked", 0, []edit{
			{"internal/simulate/trials.go", "r.Simulated, r.Proposal = true, body", "r.Simulated, r.Proposal = false, body"},
		}, in("simulate", "TestNeverVerifies"), killer{}},
		{"simulate: a changed simulated result is read", 0, []edit{
			{"internal/result/simulated.go", "return r, unmarked.checkOutputs(p, releases, c)", "return r, nil"},
		}, in("simulate", "TestNeverVerifies"), killer{}},
		{"simulate: a real result is read as simulated", 0, []edit{
			{"internal/result/simulated.go", "if !r.Simulated {", "if false {"},
		}, in("simulate", "TestNeverVerifies"), killer{}},
		{"simulate: a simulated result may be signed", 0, []edit{
			{"internal/result/simulated.go", "if len(r.Signatures)+len(r.Approvals)+len(r.Signature)+len(r.Confirmations)+len(r.Certificates)+len(r.SiteSignatures) > 0 ||", "if"},
		}, in("simulate", "TestNeverVerifies"), killer{}},
		{"simulate: every study has the first one's noise", 0, []edit{
			{"internal/simulate/trials.go", "binary.BigEndian.AppendUint64(text, uint64(i))", "binary.BigEndian.AppendUint64(text, 0)"},
		}, in("simulate", "TestFreshNoise"), killer{}},
		{"simulate: noise is left out", 0, []edit{
			{"internal/simulate/study.go", "\t\tsum[i] += v\n", "\t\tsum[i] += 0 * v\n"},
		}, in("simulate", "TestFreshNoise"), killer{}},
		{"simulate: gaps count as the center in the pooled answer", 0, []edit{
			{"internal/simulate/pooled.go", "if p.both != nil {\n\t\t\treturn", "if false {\n\t\t\treturn"},
		}, in("simulate", "TestPooledGaps"), killer{}},
		{"simulate: the pooled answer keeps its own scales", 0, []edit{
			{"internal/simulate/pooled.go", "x[from]*p.Scale[j]/r.Scale[from]", "x[from]"},
		}, in("simulate", "TestFit"), killer{}},
		{"simulate: a bound always held", 0, []edit{
			{"internal/simulate/trials.go", "*held >= *o.Lower {", "*held > -1 {"},
		}, in("simulate", "TestSpread"), killer{}},
		{"simulate: learned constants' bound held against their scales' noise", 0, []edit{
			{"internal/simulate/trials.go", "cmp.Or(o.CapturedCorrelated, &o.Captured)", "cmp.Or(&o.Captured, o.CapturedCorrelated)"},
		}, in("simulate", "TestBoundOfLearnedConstants"), killer{}},
		{"simulate: the worst is the best", 0, []edit{
			{"internal/simulate/trials.go", "0 + sign*s[0]}", "sign * s[len(s)-1]}"},
		}, in("simulate", "TestSpread"), killer{}},
		{"worth: power iteration's bound has no reserve", 0, []edit{
			{"internal/worth/power.go", "missQuantile))-shareReserve)", "missQuantile)))"},
		}, in("worth", "TestPowerBoundHasReserve"), killer{}},
		{"plan: half of what is needed", 0, []edit{
			{"internal/worth/solve.go", "out.Value, out.Captured, out.Blind = values[high], c.Median, c.Blind", "out.Value, out.Captured, out.Blind = values[high]/2, c.Median, c.Blind"},
		}, in("worth", "TestSolveIsPredicted/8_columns,_auto"), killer{}},
		{"plan: a blind guess counts as components", 0, []edit{
			{"internal/worth/solve.go", "if c.Blind >= s.share {\n\t\t\tbreak", "if false {\n\t\t\tbreak"},
		}, in("worth", "TestSolveIsPredicted/8_columns,_auto"), killer{}},
		{"plan: few units are not said to be others", 0, []edit{
			{"internal/worth/solve.go", "a.Few = a.Few || a.Open == SolveUnits && a.Low > 0 && a.Low < leastUnits", "a.Few = a.Few || false"},
		}, in("worth", "TestSolveSaysFewUnits"), killer{}},
	})
}

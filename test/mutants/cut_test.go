//go:build mutants

package mutants

// How many components, and results against each other.
func init() {
	const compare = "internal/compare/compare.go"
	tables = append(tables, []mutant{
		{"cut: the plan follows fewer components than the most", 0, []edit{
			{"internal/proposal/count.go", "return min(s.ComponentsMax, len(s.Columns))", "return min(s.ComponentsMax, len(s.Columns)) - 1"},
		}, in("study", "TestAutoAsksTheSame"), killer{}},
		{"cut: noise stands out", 0, []edit{
			{"internal/result/cut.go", "math.Sqrt(w)*(2+edgeQuantile*math.Pow(left, -2.0/3))", "math.Sqrt(w)*1.9"},
		}, in("result", "TestNothingStandsOut"), killer{}},
		{"cut: any fall is a cut", 0, []edit{
			{"internal/result/cut.go", "top-next >= max(cutFactor*(next-low), noise)*(1+slack)", "top-next >= max(0*(next-low), noise)*(1+slack)"},
		}, in("result", "TestCuts"), killer{}},
		{"cut: a threshold is as near as it is on this processor", 0, []edit{
			{"internal/result/cut.go", "cutSlack = 1e-6", "cutSlack = 0"},
		}, in("result", "TestCutAtAThreshold"), killer{}},
		{"cut: a result keeps what was asked about", 0, []edit{
			{"internal/result/cut.go", "	r.Components = r.Components[:c.k]\n", ""},
		}, in("result", "TestAutoResult"), killer{}},
		{"compare: an interval without the second bound", 0, []edit{
			{compare, "return &[2]float64{max(0, angle-*a-*b), min(90, angle+*a+*b)}", "return &[2]float64{max(0, angle-*a), min(90, angle+*a)}"},
		}, in("compare", "TestDifferent"), killer{}},
		{"compare: a tie is compared singly", 0, []edit{
			{compare, "if i >= len(of.Components) || !of.Components[i].Separated {\n\t\treturn nil\n\t}\n\treturn of.Components[i].Angle", "if i >= len(of.Components) {\n\t\treturn nil\n\t}\n\treturn of.Components[i].GroupAngle"},
		}, in("compare", "TestTurnedTie"), killer{}},
		{"compare: columns are matched by place", 0, []edit{
			{compare, "turned[i][j] = v[from]", "turned[i][j] = v[max(j, 0*from)]"},
		}, in("compare", "TestOtherOrderOfColumns"), killer{}},
		{"compare: scales may differ", 0, []edit{
			{compare, "len(mine.Levels) == 0 && mine.Scale != theirs.Scale", "len(mine.Levels) == 0 && false"},
		}, in("compare", "TestRefused"), killer{}},
		{"compare: a missing site is not told", 0, []edit{
			{compare, "if len(fewer) == 1 {", "if len(fewer) == -1 {"},
		}, in("compare", "TestOneSiteLess"), killer{}},
	})
}

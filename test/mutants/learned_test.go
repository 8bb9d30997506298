//go:build mutants

package mutants

// What a study that learns constants is worth.
func init() {
	tables = append(tables, []mutant{
		{"learned: a correlation's own diagonal is exact", 0, []edit{
			{"internal/worth/learned.go", "on := both * (1 - level) * (1 - level)", "on := both"},
		}, in("worth", "TestLearnedNoiseIsThatOfCorrelations"), killer{}},
		{"learned: the noise is not scaled", 0, []edit{
			{"internal/worth/learned.go", "weight[l] = 1 / (f * f)", "weight[l] = 1 + 0*f"},
		}, in("worth", "TestLearnedNoiseIsThatOfCorrelations"), killer{}},
		{"learned: the bound takes a covariance's noise", 0, []edit{
			{"internal/worth/covariance.go", "return a.learned.pairs[i][j]", "return a.s * a.s / 2"},
		}, in("worth", "TestLearnedNoiseIsUsed"), killer{}},
		{"learned: equal eigenvalues in one basis alone", 0, []edit{
			{"internal/worth/learned.go", "4*l.turned[i]+rows*l.drawn[i][1]", "4*l.pairs[i][i+1]+rows*l.drawn[i][1]"},
		}, in("worth", "TestLearnedNoiseIsUsed"), killer{}},
		{"learned: columns of many zeros are bounded", 0, []edit{
			{"internal/worth/learned.go", "if each > 0 && z[at*each] > ", "if each > 0 && z[at*each] > 9*"},
		}, in("worth", "TestLearnedConstantsHaveABound"), killer{}},
		{"learned: a skewed column is bounded", 0, []edit{
			{"internal/worth/learned.go", "if math.Abs(x) > skewedOne {", "if math.Abs(x) > 2*skewedOne {"},
		}, in("worth", "TestSkewedTogether"), killer{}},
		{"learned: columns skewed together are bounded", 0, []edit{
			{"internal/worth/learned.go", "if sum > in+", "if sum > 9*in+"},
		}, in("worth", "TestSkewedTogether"), killer{}},
		{"learned: a small score is bounded", 0, []edit{
			{"internal/worth/learned.go", "!(score >= leastScore) {", "score < 0 {"},
		}, in("worth", "TestLearnedConstantsHaveABound"), killer{}},
		{"learned: power iteration is bounded", 0, []edit{
			{"internal/worth/report.go", "case s.Standardizes() && r.Method != proposal.MethodCovariance:", "case false:"},
		}, in("worth", "TestLearnedConstantsHaveABound"), killer{}},
		{"learned: constants of some columns alone are bounded", 0, []edit{
			{"internal/worth/report.go", "return c.Standardize != proposal.StandardizePrivate && c.Levels == nil", "return false"},
		}, in("worth", "TestLearnedConstantsHaveABound"), killer{}},
		{"learned: what it is a bound of is not said", 0, []edit{
			{"internal/worth/sentence.go", "	case p.Proposal.Spec.Standardizes():\n", "	case false:\n"},
		}, in("worth", "TestLearnedConstantsHaveABound"), killer{}},
		{"learned: what was released is not said without a bound", 0, []edit{
			{"internal/worth/sentence.go", "	tell(\"What was released shows this: %s.\", released(p, r))\n", ""},
		}, in("worth", "TestLearnedConstantsHaveABound"), killer{}},
		{"learned: the bound is of the covariance", 0, []edit{
			{"internal/study/correlation.go", "scaled, factors := pooled.correlation(p.Layout, scale)", "_, factors := pooled.correlation(p.Layout, scale)\n\tscaled := pooled"},
		}, in("worth", "TestCorrelationOfReleases"), killer{}},
		{"learned: a score is not said without a bound", 0, []edit{
			{"internal/worth/sentence.go", "score > 0 {", "score > 1e9 {"},
		}, in("worth", "TestLearnedConstantsHaveABound"), killer{}},
		{"learned: a prediction loses what public constants do", 0, []edit{
			{"internal/worth/forecast.go", "shares[i] = max(min(v, best.Blind), 1-learnedLoss*(1-v))", "shares[i] = max(min(v, best.Blind), v)"},
		}, in("worth", "TestPredictionOfLearnedConstants"), killer{}},
	})
}

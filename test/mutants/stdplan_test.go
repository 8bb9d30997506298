//go:build mutants

package mutants

// Studies that learn their columns' constants: who may ask for them, and what a site takes of what
// a leader says they are.
func init() {
	const (
		rules  = "internal/study/standardize.go"
		course = "internal/study/history.go"
	)
	tables = append(tables, []mutant{
		{"standardize: central noise needs no central_detail", 0, []edit{
			{"internal/proposal/standardize.go", `case why != "" && s.Noise == NoiseCentral && !s.CentralDetail:`, "case false:"},
		}, in("study", "TestStandardizeKeys"), killer{}},
		{"standardize: central noise is the default", 0, []edit{
			{"internal/proposal/resolve.go", `|| s.detail() != "" && !s.CentralDetail {`, "{"},
		}, in("study", "TestStandardizeKeys"), killer{}},
		{"standardize: a policy approves central_detail", 0, []edit{
			{"internal/siteconfig/policy.go", "if s.CentralDetail {", "if false {"},
		}, in("siteconfig", "TestPolicyLimits"), killer{}},
		{"standardize: nobody is told of central_detail", 0, []edit{
			{"internal/terms/privacy.go", "if p.Proposal.Spec.CentralDetail {", "if false {"},
		}, in("terms", "TestCentralDetailIsSaid"), killer{}},
		{"standardize: nobody is told of columns that tell sites apart", 0, []edit{
			{"internal/sitedata/figures.go", "if f.Central && c.Same > mostSame {", "if false {"},
		}, in("sitedata", "TestFiguresNameWhatTellsSitesApart"), killer{}},
		{"standardize: scales are not in the context", 0, []edit{
			{"internal/study/ask.go", "	e.floats(a.Scale)\n", ""},
		}, in("study", "TestScaleIsChecked"), killer{}},
		{"standardize: a leader's own scales", 0, []edit{
			{course, "case !slices.EqualFunc(a.Scale, want.Scale, Near):", "case slices.Equal(a.Scale, []float64{-1}):"},
		}, in("study", "TestScaleIsChecked"), killer{}},
		{"standardize: a small column's place is the leader's", 0, []edit{
			{course, "size = max(math.Abs(b[j]), scale[j])", "_ = scale"},
		}, in("study", "TestScaleIsChecked"), killer{}},
		{"standardize: scales that are not finite", 0, []edit{
			{"internal/study/form.go", "if v != 0 && !(v >= minScale && v <= maxScale) {", "if v < 0 {"},
		}, in("study", "TestScaleIsChecked"), killer{}},
		{"standardize: too few units learn", 0, []edit{
			{"internal/study/plan.go", "{making.checkScore, making.setRounds,", "{making.setRounds,"},
		}, in("study", "TestStandardizePlan"), killer{}},
		{"standardize: sites of a unit do not count in the score", 0, []edit{
			{rules, "standardize.Score(units, columns, p.fullMultiplier)", "standardize.Score(p.N, columns, p.fullMultiplier)"},
		}, in("study", "TestStandardizePlan"), killer{}},
		{"standardize: noise in columns that are left out", 0, []edit{
			{"internal/study/release.go", "		leave(v, r.Scale)\n", ""},
		}, in("answer", "TestStandardizedStudy"), killer{}},
		{"standardize: noise of left-out columns in the covariance", 0, []edit{
			{studyMoment, "if r.Scale[i] == 0 || s == 0 {", "if s < 0 {"},
		}, in("answer", "TestStandardizedStudy"), killer{}},
		{"standardize: no last diagonal", 0, []edit{
			{"internal/study/correlation.go", "factors[j] = math.Sqrt(v / in[len(in)/2])", "factors[j] = 1"},
		}, in("study", "TestCorrelation"), killer{}},
		{"standardize: a result's scales are not what was learned", 0, []edit{
			{"internal/result/constants.go", "		r.Scale[j] *= s\n", ""},
		}, in("answer", "TestStandardizedStudy"), killer{}},
		{"standardize: rows far away overflow", 0, []edit{
			{"internal/clip/standard.go", "		limit[j] = min(limit[j], top(m.d))\n", "		_ = j\n"},
		}, in("clip", "TestStandardize"), killer{}},
	})
}

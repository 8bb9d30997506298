//go:build mutants

package mutants

// What the coordinator's page and a study's sheet must not flatter.
func init() {
	const (
		verdict = "internal/worth/verdict.go"
		result  = "internal/dashboard/result.go"
		model   = "internal/dashboard/model.go"
		found   = "internal/dashboard/template/result.html"
	)
	tables = append(tables, []mutant{
		{"page: the alarm does not spoil the verdict", 0, []edit{
			{verdict, "if out.Alarm != nil && *out.Alarm {", "if false {"},
		}, in("worth", "TestVerdictDoesNotFlatter"), killer{}},
		{"page: a wide bound is sound", 0, []edit{
			{verdict, "s.Lower < leastLower || s.Estimate-s.Lower > mostSpread", "s.Lower < leastLower"},
		}, in("worth", "TestVerdictDoesNotFlatter"), killer{}},
		{"page: columns left out are no doubt", 0, []edit{
			{verdict, "n := len(r.LeftOut); n > 0", "n := len(r.LeftOut); n > r.D"},
		}, in("worth", "TestVerdictDoesNotFlatter"), killer{}},
		{"page: no figure, and sound", 0, []edit{
			{verdict, "v.Trust, v.Headline = Unknown, \"Nothing stands out from the noise\"", "v.Headline = \"Nothing stands out from the noise\""},
		}, in("worth", "TestVerdictDoesNotFlatter"), killer{}},
		{"page: what is not computed yet looks good", 0, []edit{
			{found, "{{with .Verdict}}{{.Trust}}{{else}}unknown{{end}}", "{{with .Verdict}}{{.Trust}}{{else}}sound{{end}}"},
		}, in("dashboard", "TestUntrustworthyDoesNotLookGood"), killer{}},
		{"page: variances stand alone until their worth is computed", 0, []edit{
			{found, "{{if not $.Verdict}}", "{{if false}}"},
		}, in("dashboard", "TestUntrustworthyDoesNotLookGood"), killer{}},
		{"page: every component can be told apart", 0, []edit{
			{result, "known.Note(), known.Separated, known.Loadings", "known.Note(), true, known.Loadings"},
		}, in("dashboard", "TestUntrustworthyDoesNotLookGood"), killer{}},
		{"page: a column that is left out has a bar", 0, []edit{
			{result, "if !out[r.Columns[j]] {", "if j >= 0 {"},
		}, in("dashboard", "TestLeftOutColumnsHaveNoBar"), killer{}},
		{"page: a follower that hears nothing is not stale", 0, []edit{
			{model, "now.Sub(c.Heard) > mostSilent", "now.Sub(c.Heard) > 1000*mostSilent"},
		}, in("dashboard", "TestStaleFollower"), killer{}},
		{"page: the dates of studies are lost with a snapshot", 0, []edit{
			{"internal/coordinator/snapshot.go", "fresh.dates = s.Dates", "_ = s.Dates"},
		}, in("coordinator", "TestRestoredAnswersAlike"), killer{}},
		{"sheet: loadings of what cannot be told apart", 0, []edit{
			{"internal/sheet/sheet.go", "if apart {", "if apart || len(c) > 0 {"},
		}, in("sheet", "TestResultOnOneSheet"), killer{}},
		{"sheet: shares above all are not explained", 0, []edit{
			{"internal/sheet/sheet.go", "	m.Notes = r.ShareNotes(mostComponents)\n", ""},
		}, in("sheet", "TestResultOnOneSheet"), killer{}},
		{"page: shares above all are not explained", 0, []edit{
			{"internal/dashboard/result.go", "	m.Notes = r.ShareNotes(mostExplained)\n", ""},
		}, in("dashboard", "TestUntrustworthyDoesNotLookGood"), killer{}},
		{"sheet: a decision that is not an approval counts", 0, []edit{
			{"internal/sheet/sheet.go", "if a.Good {", "if a.Verdict != \"\" {"},
		}, in("sheet", "TestProposalOnOneSheet"), killer{}},
	})
}

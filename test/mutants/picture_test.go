//go:build mutants

package mutants

// Pictures of scores: what a unit counts for, where the grid comes from, and whose blocks they are.
func init() {
	const (
		rules  = "internal/study/picture.go"
		counts = "internal/clip/score.go"
		tally  = "internal/clip/tally.go"
	)
	tables = append(tables, []mutant{
		{"picture: a unit's rows each count", 0, []edit{{tally, "* one / max(1, rows)", "* one"}},
			in("clip", "TestReplacedUnitMovesScoresByDelta"), killer{}},
		{"picture: averages rounded up", 0, []edit{{tally, "t.counts[bin] * one / max(1, rows)", "(t.counts[bin]*one + rows - 1) / max(1, rows)"}},
			in("clip", "TestScores"), killer{}},
		{"picture: rows that are left out count", 0, []edit{{counts, "in *= m.there(i)\n", ""}},
			in("clip", "TestScores"), killer{}},
		{"picture: what lies beyond is in no bin", 0, []edit{{"internal/query/picture.go", "(max(-PictureReach, min(z, PictureReach)) + PictureReach)", "(z + PictureReach)"}},
			in("query", "TestScoreBins"), killer{}},
		{"picture: noise of scores on one component", 0, []edit{{"internal/query/table.go", "CountDelta: oneHots(ScoreBins, 1)", "CountDelta: func(ratio float64, _ int) float64 { return HistogramSensitivity * ratio }"}},
			in("study", "TestPicturePlan"), killer{}},
		{"picture: noise for a bin that a unit only leaves", 0, []edit{{"internal/query/picture.go", "return HistogramSensitivity * ratio", "return ratio"}},
			in("query", "TestColumnSensitivities"), killer{}},
		{"picture: central noise by site", 0, []edit{{"internal/proposal/picture.go", "if s.Noise != NoiseDistributed {", "if false {"}},
			in("study", "TestPictureKeys"), killer{}},
		{"picture: central_detail allows pictures by site", 0, []edit{{"internal/proposal/picture.go", "if s.Noise != NoiseDistributed {", "if s.Noise != NoiseDistributed && !s.CentralDetail {"}},
			in("study", "TestPictureKeys"), killer{}},
		{"picture: central noise is the default by site", 0, []edit{{"internal/proposal/resolve.go", "if s.PictureBy == PictureBySite || s.detail()", "if s.detail()"}},
			in("study", "TestPictureKeys"), killer{}},
		{"picture: a site's policy is not asked", 0, []edit{{"internal/agent/dataset.go", "if err := c.Policy.Refuses(p); err != nil {", "if err := c.Policy.Refuses(p); false {"}},
			in("agent", "TestPictureBySiteNeedsItsPolicy"), killer{}},
		{"picture: no policy refuses pictures by site", 0, []edit{{"internal/siteconfig/policy.go", "if asked.Spec.PictureBy == proposal.PictureBySite && !p.PictureBySite {", "if false {"}},
			in("siteconfig", "TestPolicyLimits"), killer{}},
		{"picture: within the limits whatever the policy has", 0, []edit{{"internal/siteconfig/policy.go", `"it pictures each site by itself", p.PictureBySite)`, `"it pictures each site by itself", true)`}},
			in("siteconfig", "TestPolicyLimits"), killer{}},
		{"picture: nobody is told that it shows an institution", 0, []edit{{"internal/terms/privacy.go", "if s.PictureBy == proposal.PictureBySite {", "if false {"}},
			in("terms", "TestPicturesAreSaid"), killer{}},
		{"picture: a site fills the first block", 0, []edit{{"internal/answer/answer.go", "copy(out[site*len(own):], own)", "copy(out, own)"}},
			in("answer", "TestReplacedUnitMovesNoPictureByMore"), killer{}},
		{"picture: a site fills every block", 0, []edit{{"internal/answer/answer.go", "copy(out[site*len(own):], own)", "for at := 0; at < len(out); at += len(own) {\n\t\tcopy(out[at:], own)\n\t}"}},
			in("answer", "TestReplacedUnitMovesNoPictureByMore"), killer{}},
		{"picture: a joined level has a group of its own", 0, []edit{{"internal/answer/answer.go", "if a.Scale[first+l] == 0 {", "if a.Scale[first+l] < 0 {"}},
			in("answer", "TestJoinedLevelHasNoPicture"), killer{}},
		{"picture: groups of scaled rows", 0, []edit{{"internal/answer/answer.go", "level, err := r.raw.LevelOf(", "level, err := rows.LevelOf("}},
			in("answer", "TestStudyOfPictures"), killer{}},
		{"picture: a leader's own grid", 0, []edit{{"internal/study/history.go", "case !slices.EqualFunc(a.Deviations, want.Deviations, Near):", "case slices.Equal(a.Deviations, []float64{-1}):"}},
			in("study", "TestDeviationsAreChecked"), killer{}},
		{"picture: a grid that is not finite", 0, []edit{{"internal/study/form.go", "		if !(v >= minScale && v <= maxScale) {", "		if v < 0 {"}},
			in("study", "TestDeviationsAreChecked"), killer{}},
		{"picture: the grid is not in the context", 0, []edit{{"internal/study/ask.go", "	e.floats(a.Deviations)\n", ""}},
			in("study", "TestDeviationsAreChecked"), killer{}},
		{"picture: the grid is not on the wire", 0, []edit{{"internal/wire/query.go", "Deviations: b.GetDeviations(), ", ""}},
			in("wire", "TestMessages"), killer{}},
		{"picture: of components as they were found", 0, []edit{{rules, "for _, l := range r.ByVariance() {", "for l := range z {"}},
			in("study", "TestWeakVariance"), killer{}},
		{"picture: a variance of noise makes the grid", 0, []edit{{rules, "max(z[l], 2*r.Tau())", "max(z[l], 1e-12)"}},
			in("study", "TestWeakVariance"), killer{}},
		{"picture: deviations of units, not of rows", 0, []edit{{rules, " / c.RowsPerUnit())", ")"}},
			in("study", "TestWeakVariance"), killer{}},
		{"picture: bought beside the budget", 0, []edit{{"internal/study/query.go", "for _, q := range last {\n\t\tleft -= q.share\n\t}", "for _, q := range p.varianceQueries() {\n\t\tleft -= q.share\n\t}"}},
			in("study", "TestPicturePlan"), killer{}},
		{"picture: blocks of sites that were away", 0, []edit{{"internal/result/picture.go", "if s.PictureBy == proposal.PictureBySite && !slices.Contains(rel.Survivors, at) {", "if false {"}},
			in("result", "TestSitesThatWereAway"), killer{}},
		{"picture: blocks pass for authenticated", 0, []edit{{"internal/result/picture.go", ", and blocks are not authenticated\"", "\""}},
			in("result", "TestVerifyRefusesOtherPictures"), killer{}},
	})
}

//go:build mutants

package mutants

// Radii that noise makes up, and what is said of studies whose lengths were not read.
func init() {
	const grid = "internal/study/grid.go"
	tables = append(tables, []mutant{
		{"radius: a bin of noise far away counts like one nearby", 0, []edit{{grid, "return counts[j] >= farther*floor", "return counts[j] >= floor"}, {grid, "if most < 0.5*float64(units) {", "if false {"}}, in("study", "TestRadiusIsOfRows"), killer{}},
		{"radius: a bin of noise alone may hold a quarter of the units", 0, []edit{{grid, "if floor > alone {", "if false {"}}, in("study", "TestRadiusIsOfRows"), killer{}},
		{"radius: noise of the units' size makes a tail", 0, []edit{{"internal/study/moments.go", "also.near = tailNoisy", "also.near = tailNear"}}, in("study", "TestClipsOfTwoPeaks"), killer{}},
		{"radius: what is not read counts as read", 0, []edit{{grid, "int(float64(r.Units)/r.Grid)) == 0 {", "int(float64(r.Units)/r.Grid)) < 0 {"}}, in("study", "TestUnread"), killer{}},
		{"worth: a study of unread lengths is bounded", 0, []edit{{"internal/worth/report.go", "if out.Share != nil && p.Unread(r.Releases) {", "if false {"}}, in("worth", "TestNotCalibratedNotShown"), killer{}},
		{"worth: close variances are not said", 0, []edit{{"internal/worth/sentence.go", "tell(\"%s\", closeSentence)", "_ = closeSentence"}}, in("worth", "TestCloseVariancesAreSaid"), killer{}},
		{"worth: what a short clip hides is not said", 0, []edit{{"internal/worth/sentence.go", "tell(\"%s\", shortSentence)", "_ = shortSentence"}}, in("worth", "TestLongerRowsTurnedRaiseTheAlarm"), killer{}},
		{"worth: loadings leave no room for the clip", 0, []edit{{"internal/worth/covariance.go", "variance[l] += loadingReserve / float64(len(a.mu))", "variance[l] += 0"}}, in("worth", "TestCovarianceAgainstAnotherComputation"), killer{}},
	})
}

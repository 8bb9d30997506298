//go:build mutants

package mutants

// Radii that noise makes up, and what is said of studies whose lengths were not read.
func init() {
	const quantile = "internal/histogram/quantile.go"
	tables = append(tables, []mutant{
		{"radius: a bin of noise far away counts like one nearby", 0, []edit{{quantile, "return counts[j] >= farther*floor", "return counts[j] >= floor"}, {quantile, "if most < 0.5*units {", "if false {"}}, in("histogram", "TestQuantileIsOfRows"), killer{}},
		{"radius: a bin of noise alone may hold a quarter of the units", 0, []edit{{quantile, "if floor > alone {", "if false {"}}, in("histogram", "TestQuantileIsOfRows"), killer{}},
		{"radius: noise of the units' size makes a tail", 0, []edit{{studyClip, "also.Near = tailNoisy", "also.Near = tailNear"}}, in("study", "TestClipsOfTwoPeaks"), killer{}},
		{"radius: counts that round make one beyond the histogram", 0, []edit{{quantile, "min(high, low+float64(", "max(0, low+float64("}}, in("histogram", "TestQuantileIsOfTheHistogram"), killer{}},
		{"radius: one that every site refuses is asked", 0, []edit{{roundSlot, "err = s.plan.Check(open)", "err = nil"}}, in("round", "TestUnfitAskEndsTheStudy"), killer{}},
		{"radius: what is not read counts as read", 0, []edit{{studyGrid, "return lengths.Quantile(0.5) == 0 && q.Of", "return lengths.Quantile(0.5) < 0 && q.Of"}}, in("study", "TestUnread"), killer{}},
		{"radius: unread scores are clipped at a number that knows nothing of them", 0, []edit{{"internal/study/course.go", "set(q.Of, cmp.Or(last, t.longest()))", "set(q.Of, last)"}}, in("study", "TestUnreadVariance"), killer{}},
		{"radius: a total's default bounds scores", 0, []edit{{"internal/study/course.go", "r > 0 && r != defaultRadius {\n		return r\n", "r > 0 {\n		return r\n"}}, in("study", "TestUnreadVariance"), killer{}},
		{"radius: a bound beyond any histogram is refused", 0, []edit{{"internal/study/ask.go", "proposal.RadiusPaper || p.boundsElsewhere(q.Kind) {", "proposal.RadiusPaper {"}}, in("study", "TestUnreadIsAsked"), killer{}},
		{"result: a share that noise made impossible is all", 0, []edit{{"internal/result/share.go", "case share >= 1 && low >= 0.01 && low < 1:", "case false:"}}, in("result", "TestShareText"), killer{}},
		{"result: scales of columns of mostly one value are taken for right", 0, []edit{{"internal/result/deviation.go", "below, above = below+v*value*max(0, -lean), above+v*value*max(0, lean)", "_, _ = value, lean"}}, in("result", "TestIntervalsOfMostlyOneValue"), killer{}},
		{"result: variances of columns that are mostly one value are given", 0, []edit{{"internal/result/deviation.go", "if alike > mostAlike*seen {", "if false && alike > mostAlike*seen {"}}, in("result", "TestIntervalsOfMostlyOneValue"), killer{}},
		{"result: variances of unread scores are given", 0, []edit{{"internal/result/variance.go", "	if unknown {", "	if false && unknown {"}}, in("result", "TestUnreadVarianceIsNotKnown"), killer{}},
		{"result: variances of unread scores order the components", 0, []edit{{"internal/study/picture.go", "	if !r.Unread() {\n", "	if true {\n"}}, in("result", "TestUnreadVarianceIsNotKnown"), killer{}},
		{"worth: noise of few units looks like large rows", 0, []edit{{"internal/worth/alarm.go", "/ 2 / min(v, max(clipped[at], full[at])*r.TotalVariance)", "/ 2 / v"}}, in("worth", "TestNoisyVariancesRaiseNoAlarm"), killer{}},
		{"worth: unknown variances are not said", 0, []edit{{"internal/worth/sentence.go", "if r.VarianceUnknown() {", "if false {"}}, in("worth", "TestAlarm"), killer{}},
		{"worth: the default output is predicted as the last round", 0, []edit{{"internal/worth/forecast.go", "s.Pooled = p.Output(s.Tau[len(s.Tau)-1]*math.Sqrt(float64(p.D))) == proposal.OutputPooled", "s.Pooled = p.Proposal.Spec.Output == proposal.OutputPooled"}}, in("worth", "TestPredictionOfTheDefaultOutput"), killer{}},
		{"worth: a covariance is predicted without the center's noise", 0, []edit{{"internal/worth/noisy.go", "m.SymRankOne(m, 1, center)", "_ = center"}}, in("worth", "TestPredictionOfAReleasedCenter"), killer{}},
		{"worth: rounds are predicted without the center's noise", 0, []edit{{"internal/prior/study.go", "add(y[i], w.off, floats.Dot(w.off, x[i]))", "_ = w.off"}}, in("worth", "TestPredictionOfAReleasedCenter"), killer{}},
		{"worth: a scale in doubt is bounded as a column's", 0, []edit{{"internal/worth/learned.go", "(narrow || variance < least)", "false"}}, in("worth", "TestLearnedConstantsHaveABound"), killer{}},
		{"worth: a study of unread lengths is bounded", 0, []edit{{"internal/worth/report.go", "if out.Share != nil && p.Unread(r.Releases) {", "if false {"}}, in("worth", "TestNotCalibratedNotShown"), killer{}},
		{"worth: close variances are not said", 0, []edit{{"internal/worth/sentence.go", "tell(\"%s\", closeSentence)", "_ = closeSentence"}}, in("worth", "TestCloseVariancesAreSaid"), killer{}},
		{"worth: what a short clip hides is not said", 0, []edit{{"internal/worth/sentence.go", "if text := short(p, r); text != \"\" && out.Share != nil { // it is about the bounds", "if text := short(p, r); text == \"-\" {"}}, in("worth", "TestLongerRowsTurnedRaiseTheAlarm"), killer{}},
		{"worth: loadings leave no room for the clip", 0, []edit{{"internal/worth/covariance.go", "variance[l] += loadingReserve / float64(len(a.mu))", "variance[l] += 0"}}, in("worth", "TestCovarianceAgainstAnotherComputation"), killer{}},
	})
}

//go:build mutants

package mutants

// What a result is worth: bounds that are too good, and warnings that are not given.
func init() {
	tables = append(tables, []mutant{
		{"worth: the bound is the estimate", 0, []edit{
			{"internal/worth/covariance.go", "Lower: max(0, 1-most*e/2-shareReserve)", "Lower: max(0, 1-e/2)"},
		}, in("worth", "TestCovarianceAgainstAnotherComputation"), killer{}},
		{"worth: sampling is not counted", 0, []edit{
			{"internal/worth/covariance.go", "return a.noise(i, j) + a.xi[i]*a.xi[j]/a.n", "return a.noise(i, j)"},
		}, in("worth", "TestCovarianceAgainstAnotherComputation"), killer{}},
		{"worth: noise is not counted", 0, []edit{
			{"internal/worth/covariance.go", "return a.noise(i, j) + a.xi[i]*a.xi[j]/a.n", "return a.xi[i] * a.xi[j] / a.n"},
		}, in("worth", "TestCovarianceBoundsHold"), killer{}},
		{"worth: noise alone is given a share", 0, []edit{
			{"internal/worth/covariance.go", "if top <= float64(k)*edgeFactor*edge {", "if top < -edge {"},
			{"internal/worth/covariance.go", "if e /= top; !(e < 1) {", "if e = min(0.9, e/top); false {"},
		}, in("worth", "TestPureNoise"), killer{}},
		{"worth: ties are separated", 0, []edit{
			{"internal/worth/covariance.go", "bound := gapQuantile * gapQuantile * 4", "bound := 0 * gapQuantile"},
		}, in("worth", "TestEqualSpectrumIsNotSeparated"), killer{}},
		{"worth: heavy tails are not seen", 0, []edit{{"internal/worth/tails.go", "square > 0 && chance < mostChance", "square < 0 && chance < mostChance"}}, in("worth", "TestHeavyTails"), killer{}},
		{"worth: any excess of variance is a tail", 0, []edit{{"internal/worth/tails.go", "math.Hypot(half/normal95, spread), leastExcess*normal", "math.Hypot(half/normal95, spread), 0*normal"}}, in("worth", "TestTailsTogether"), killer{}},
		{"worth: a few far rows are a tail", 0, []edit{{"internal/worth/tails.go", "take(share, noise, leastFar)", "take(share, noise, 0)"}}, in("worth", "TestTailsTogether"), killer{}},
		{"worth: two numbers are as sure as one", 0, []edit{{"internal/worth/tails.go", "if numbers == 2 {\n\t\tchance +=", "if numbers == 2 {\n\t\tchance -="}}, in("worth", "TestTailsTogether"), killer{}},
		{"worth: rows clipped short say how long they are", 0, []edit{{"internal/worth/tails.go", "rel.Kind == study.KindMoment && rel.Radius > r.Radius {", "rel.Kind == study.KindMoment && rel.Radius < 0 {"}}, in("worth", "TestFarRows"), killer{}},
		{"worth: histograms show no tail", 0, []edit{{"internal/worth/tails.go", "if share, noise := far(seen, normal, degrees); noise > 0 {", "if share, noise := far(seen, normal, degrees); noise < 0 {"}}, in("worth", "TestFarRows"), killer{}},
		{"worth: lengths about far offsets are a tail", 0, []edit{{"internal/worth/tails.go", "if shift <= mostShift*total {", "if shift >= 0 {"}}, in("worth", "TestFarRows"), killer{}},
		{"worth: a center's lengths are squared ones", 0, []edit{{"internal/worth/tails.go", "h.octave = 2\n", "h.octave = 4\n"}}, in("worth", "TestFarRows"), killer{}},
		{"worth: noise of the total looks like a tail", 0, []edit{{"internal/worth/tails.go", "math.Hypot(half/normal95, spread), leastExcess", "math.Hypot(half/normal95/100, spread), leastExcess"}}, in("worth", "TestHeavyTails"), killer{}},
		{"worth: noise of normal rows looks like a tail", 0, []edit{{"internal/worth/tails.go", "math.Hypot(half/normal95, spread), leastExcess", "math.Hypot(half/normal95, 0*spread), leastExcess"}}, in("worth", "TestTailsTogether"), killer{}},
		{"worth: lengths are of rows that were left out, too", 0, []edit{{"internal/worth/tails.go", "float64(rel.Units) * keptShare(r), 4}", "float64(rel.Units), 4}"}}, in("worth", "TestStretched"), killer{}},
		{"worth: a total clipped as the covariance shows tails", 0, []edit{{"internal/worth/tails.go", "private && rel.Radius < leastFarther*r.Radius", "private && rel.Radius < 0"}}, in("worth", "TestHeavyTails"), killer{}},
		{"worth: rows that were left out look like a tail", 0, []edit{{"internal/worth/tails.go", "clipped += v / keptShare(r)", "clipped += v"}}, in("worth", "TestHeavyTails"), killer{}},
		{"worth: heavy tails have a bound by covariance", 0, []edit{{"internal/worth/covariance.go", "if a.heavy(p, r) {", "if false {"}}, in("worth", "TestHeavyTailsHaveNoBound"), killer{}},
		{"worth: heavy tails have a bound by power iteration", 0, []edit{{"internal/worth/power.go", "if stretched(p, r) {", "if false {"}}, in("worth", "TestHeavyTailsHaveNoBound"), killer{}},
		{"worth: the longest rows are as long as the last bin", 0, []edit{{"internal/worth/report.go", "case p.Beyond(r.Releases):", "case false:"}}, in("worth", "TestUncounted"), killer{}},
		{"worth: most rows are too short to be seen", 0, []edit{{"internal/worth/report.go", "case p.Below(r.Releases):", "case false:"}}, in("worth", "TestUncounted"), killer{}},
		{"worth: unknown variances are too low", 0, []edit{{"internal/worth/sentence.go", "	if clipped && r.ExplainedVariance != nil {\n		tell(\"%s\", uncountedSentence)", "	if clipped {\n		tell(\"%s\", uncountedSentence)"}}, in("worth", "TestUncounted"), killer{}},
		{"worth: tails that could not be seen are no doubt", 0, []edit{{"internal/worth/verdict.go", "if out.unseen(r) {", "if false {"}}, in("worth", "TestVerdictDoesNotFlatter"), killer{}},
		{"worth: a median that is all noise", 0, []edit{{"internal/worth/tails.go", "if edge == 0 || noise > mostNoise {", "if noise = min(noise, mostNoise); edge == 0 {"}}, in("worth", "TestStretched"), killer{}},
		{"worth: a median in one bin is nowhere", 0, []edit{{"internal/worth/tails.go", "if edge == 0 && below <= 0.5-middle {", "if false {"}}, in("worth", "TestHeavyTailsHaveNoBound"), killer{}},
		{"worth: rows of a kind beyond the clip are not seen", 0, []edit{{"internal/worth/alarm.go", "if study.BinEdge(at-1) >= r.Radius &&", "if false &&"}}, in("worth", "TestHiddenRows"), killer{}},
		{"worth: any peak beyond the clip is another kind", 0, []edit{{"internal/worth/alarm.go", "min(highest, count) >= max(0, lowest)+enough", "count >= max(0, lowest)+enough"}}, in("worth", "TestHiddenRows"), killer{}},
		{"worth: rows with heavy tails count as normal ones", 0, []edit{{"internal/worth/tails.go", "second > 0 && ratio > most", "second < 0 && ratio > most"}}, in("worth", "TestLongTails"), killer{}},
		{"worth: correlations of rows with heavy tails count as normal ones' do", 0, []edit{{"internal/worth/covariance.go", "a.n /= longTails(p, r, a.xi)\n\tif", "if"}}, in("worth", "TestLongTailsCount"), killer{}},
		{"worth: what the clip turned in correlations is not counted", 0, []edit{{"internal/worth/covariance.go", " + turn*turn)", " + 0*turn)"}}, in("worth", "TestClipTurnsCorrelations"), killer{}},
		{"worth: ties of correlations are bounded by the mean gap", 0, []edit{
			{"internal/worth/learned.go", "(a + b) * chiSquared95((a+b)*(a+b)/(a*a+b*b+2*c*c))", "a + b + 0*c"},
		}, in("worth", "TestTiesOfCorrelations"), killer{}},
		{"worth: correlations are sampled like a covariance", 0, []edit{
			{"internal/worth/learned.go", "a, b, c := 4*l.pairs[i][i+1]+rows*l.drawn[i][0], 4*l.turned[i]+rows*l.drawn[i][1], rows*l.drawn[i][2]", "a, b, c := 4*l.pairs[i][i+1]+rows, 4*l.turned[i]+rows, 0.0"},
		}, in("worth", "TestTiesOfCorrelations"), killer{}},
		{"worth: an angle is its mean", 0, []edit{
			{"internal/worth/covariance.go", "mean * chiSquared95(mean*mean/square)", "mean"},
		}, in("worth", "TestCovarianceBoundsHold"), killer{}},
		{"worth: loadings within one deviation", 0, []edit{
			{"internal/worth/covariance.go", "half := loadingFactor * normal95 * longer", "half := longer"},
		}, in("worth", "TestCovarianceBoundsHold"), killer{}},
		{"worth: a group's angle is without its other members", 0, []edit{
			{"internal/worth/covariance.go", "for i := from; i < to; i++ {\n\t\tfor j", "for i := from; i < from+1; i++ {\n\t\tfor j"},
		}, in("worth", "TestCovarianceAgainstAnotherComputation"), killer{}},
		{"worth: the median bounds power iteration", 0, []edit{
			{"internal/worth/power.go", "1-Quantile(shares, missQuantile)", "1-estimate"},
		}, in("worth", "TestPowerBoundsHold"), killer{}},
		{"worth: the median bounds an angle of power iteration", 0, []edit{
			{"internal/worth/power.go", "tiltFactor * tiltFactor * Quantile(values(near, func(d prior.Draw) float64 { return d.Tilt[i] }), tiltQuantile)", "Quantile(values(near, func(d prior.Draw) float64 { return d.Tilt[i] }), 0.5)"},
		}, in("worth", "TestPowerBoundsHold"), killer{}},
		{"worth: an unfinished iteration is not told", 0, []edit{
			{"internal/worth/power.go", "out.Unfinished = left >", "out.Unfinished = false && left >"},
		}, in("worth", "TestUnfinishedIterationSaysSo"), killer{}},
		{"worth: units of several rows are bounded like rows", 0, []edit{
			{"internal/worth/report.go", "case r.Unit != \"\":", "case false:"},
		}, in("worth", "TestNotCalibratedNotShown"), killer{}},
		{"worth: no alarm", 0, []edit{
			{"internal/worth/alarm.go", "differ = true", "differ = differ && true"},
		}, in("worth", "TestAlarm"), killer{}},
		{"worth: parts of the covariance are not compared", 0, []edit{
			{"internal/worth/alarm.go", "if math.Abs(linalg.Dot(vectors[j], images[i])) > most*", "if false && 0 > most*"},
		}, in("worth", "TestLongerRowsTurnedRaiseTheAlarm"), killer{}},
		{"worth: every difference of clips raises the alarm", 0, []edit{
			{"internal/worth/alarm.go", "variance := max(tau*tau/2, a.noise(i, j)*tau*tau/a.s/a.s) + max(0, along[i])*max(0, along[j])/a.n + turn*turn*a.mixing(i, j)", "variance := max(0, along[i])*max(0, along[j])/a.n + 0*turn"},
		}, in("worth", "TestLongerRowsTurnedRaiseTheAlarm"), killer{}},
		{"worth: rows that are alike pass for others", 0, []edit{{"internal/worth/report.go", "case alike(p, r):", "case false:"}}, in("worth", "TestAlikeRows"), killer{}},
		{"worth: what the clip hides is not said", 0, []edit{
			{"internal/worth/sentence.go", "\ttell(\"%s\", clipSentence)\n", ""},
		}, in("worth", "TestStandingSentence"), killer{}},
		{"worth: simulated noise is relative to all of the signal", 0, []edit{
			{"internal/prior/study.go", "s.ended(rng, w, max(0.1, min(1, size)))", "s.ended(rng, w, max(1, min(1, size)))"},
		}, in("prior", "TestSimulatedNoiseIsAsSeen"), killer{}},
		{"worth: rounds are looked at singly", 0, []edit{
			{"internal/prior/round.go", "return append(out, apart(seen)...)", "return out"},
		}, in("prior", "TestDistancesOfRoundsTell"), killer{}},
		{"worth: no simulated component is one of two equal ones", 0, []edit{
			{"internal/prior/study.go", "const tied = 0.1", "const tied = 0.0"},
		}, in("worth", "TestOneOfTwoIsNotSeparated"), killer{}},
		{"worth: no simulated component has one that is nearly equal", 0, []edit{
			{"internal/prior/study.go", "nearTied, leastGap, mostGap = 0.2,", "nearTied, leastGap, mostGap = 0.0,"},
		}, in("worth", "TestCloseVariancesAreBounded"), killer{}},
		{"worth: draws depend on the processors", 0, []edit{
			{"internal/prior/study.go", "rand.New(rand.NewPCG(seed[0], seed[1]))", "rand.New(rand.NewPCG(seed[0], uint64(runtime.GOMAXPROCS(0))))"},
		}, in("worth", "TestSameForEveryReader"), killer{}},
		{"worth: a component of half the total is separated", 0, []edit{
			{"internal/worth/power.go", "rest := 2*v - least*total", "rest := 2*v - least*total/2"},
		}, in("worth", "TestHalfOfTheTotalIsSeparated"), killer{}},
		{"worth: a covariance about a noisy center is bounded", 0, []edit{
			{"internal/worth/covariance.go", "if blurred(r, mostBlurred*top/float64(r.K), a.edge()) {", "if false && blurred(r, top/float64(r.K), a.edge()) {"},
		}, in("worth", "TestNoiseOfTheCenter"), killer{}},
		{"worth: a center's noise is not counted", 0, []edit{
			{"internal/worth/covariance.go", "return a.s*a.s/2 + a.center*a.center", "return a.s * a.s / 2"},
		}, in("worth", "TestNoiseOfTheCenter"), killer{}},
		{"worth: power iteration about a noisy center is bounded", 0, []edit{
			{"internal/worth/power.go", "case blurred(r, mostBlurredRounds*theta, edge*theta):", "case false && blurred(r, theta, edge*theta):"},
		}, in("worth", "TestNoiseOfTheCenter"), killer{}},
		{"worth: rows within the center's noise are not counted", 0, []edit{
			{"internal/worth/astray.go", "share > mostNear*theta+surely*noise ||", "share > mostNear+surely ||"},
		}, in("simulate", "TestShortRowsOnTheSphere"), killer{}},
		{"worth: noise may hide rows within the center's noise", 0, []edit{
			{"internal/worth/astray.go", "surely*noise > mostHidden*theta", "surely*noise > mostHidden+theta"},
		}, in("simulate", "TestShortRowsOnTheSphere"), killer{}},
		{"worth: short rows with a direction of their own have a bound", 0, []edit{
			{"internal/worth/astray.go", "> part+math.Sqrt(square) {", "> part+math.Sqrt(square)+k {"},
		}, in("simulate", "TestShortRowsOnTheSphere"), killer{}},
		{"worth: rows of one direction have a bound", 0, []edit{
			{"internal/worth/astray.go", "if along(r) {", "if false && along(r) {"},
		}, in("simulate", "TestShortRowsOnTheSphere"), killer{}},
		{"worth: shares of rows that were all clipped are shown", 0, []edit{
			{"internal/worth/shown.go", "case out.Uncalibrated == beyondWhy, ", "case "},
		}, in("worth", "TestUncounted"), killer{}},
		{"worth: shares of two clips are shown", 0, []edit{
			{"internal/worth/shown.go", "|| stretched(p, r)", "|| false && stretched(p, r)"},
		}, in("simulate", "TestSharesOfTwoScales"), killer{}},
		{"worth: the loss to one direction is bounded like that to many", 0, []edit{
			{"internal/worth/covariance.go", "most = max(most, chiSquared95(e*e/4/square))", "most = max(most, 0*square)"},
		}, in("worth", "TestCloseDirectionsAreBounded"), killer{}},
		{"worth: the loss to many directions is bounded by its quantile", 0, []edit{
			{"internal/worth/covariance.go", "most := 2.0 // times the mean loss", "most := 1.0 // times the mean loss"},
		}, in("worth", "TestHiddenDirectionsAreBounded"), killer{}},
		{"worth: pairs are not said to be of single sites", 0, []edit{
			{"internal/worth/sentence.go", "tell(\"%s\", pairsSentence)", "_ = pairsSentence"},
		}, in("worth", "TestPairsAreWithinSites"), killer{}},
		{"worth: skewed columns are not said to break the bound", 0, []edit{
			{"internal/worth/sentence.go", "or single columns are skewed or heavy-tailed, ", ""},
		}, in("simulate", "TestOutsideThePromise"), killer{}},
		{"worth: few units are predicted like many", 0, []edit{
			{"internal/worth/predict.go", "out.Few = p.N < leastUnits", "out.Few = false"},
		}, in("worth", "TestPredictionOfFewUnits"), killer{}},
		{"worth: a clipped number of rows is not told", 0, []edit{
			{"internal/worth/sentence.go", "if text := limited(r); text != \"\" {", "if text := limited(r); text == \"none\" {"},
		}, in("simulate", "TestUnequalUnits"), killer{}},
		{"worth: the verdict on pairs is that on rows", 0, []edit{
			{"internal/worth/verdict.go", "if r.Center == proposal.CenterPairs {", "if r.Center == proposal.CenterPairs && false {"},
		}, in("worth", "TestPairsAreWithinSites"), killer{}},
	})
}

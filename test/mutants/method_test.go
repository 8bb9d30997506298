//go:build mutants

package mutants

func init() {
	const (
		course     = "internal/study/course.go"
		components = "internal/study/components.go"
		derive     = "internal/clip/derive.go"
		answer     = "internal/answer/answer.go"
		start      = "internal/proposal/start.go"
		studyMixed = "internal/study/mixed.go"
		worthMixed = "internal/worth/mixed.go"
		begun      = "internal/prior/begun.go"
		posterior  = "internal/linalg/posterior.go"
	)
	tables = append(tables, []mutant{
		{"auto pays for deciding where public sizes decide", 0, []edit{{"internal/study/method.go", "case p.Iota <= iotaEnough:", "case p.Iota <= iotaEnough/2:"}}, in("study", "TestIota"), killer{}},
		{"ι forgets the other sites' shares", 0, []edit{{"internal/study/plan.go", "noise.SigmaFor(rho, 1) * p.NoiseFactor", "noise.SigmaFor(rho, 1)"}}, in("study", "TestIota"), killer{}},
		{"the covariance is never clipped high", 0, []edit{{studyParts, "		if hides {\n", "		if false && hides {\n"}}, in("study", "TestMomentsFollow"), killer{}},
		{"rows are clipped low where noise does not limit", 0, []edit{{studyParts, "few || p.Iota <= iotaSmall {", "few {"}}, in("study", "TestClipsOfHeavyTails"), killer{}},
		{"close eigenvalues look like a hidden direction", 0, []edit{
			{studyHidden, "excess += float64(s*s) / (values[i] - v)", "excess += 0 * (values[i] - v)"},
			{studyHidden, "float64(sure*noise) + float64(missed*top), nil", "float64(0*noise) + float64(missed*top), nil"},
		}, in("study", "TestWider"), killer{}},
		{"noise looks like a hidden direction", 0, []edit{
			{studyHidden, "values[clear]-middle > standsClear*s*math.Sqrt(2*float64(d))", "values[clear]-0*middle > 0*s"},
			{studyHidden, "float64(sure*noise) + float64(missed*top), nil", "float64(0*noise) + float64(missed*top), nil"},
		}, in("study", "TestWider"), killer{}},
		{"noise above a flat spectrum looks like a hidden direction", 0, []edit{{studyHidden, "values[clear]-middle > standsClear", "values[clear]-0*middle > standsClear"}}, in("study", "TestWiderOfABulk"), killer{}},
		{"long rows of a flat spectrum seem to differ", 0, []edit{{studyHidden, "const allEigen = 512", "const allEigen = 256"}}, in("study", "TestWiderOfAFlatSpectrum"), killer{}},
		{"rounds follow though a covariance loses little", 0, []edit{{studyMixed, "f.loss > mixedLoss &&", "f.loss > 0 &&"}}, in("study", "TestMixed"), killer{}},
		{"rounds follow though components hold much", 0, []edit{{studyMixed, "f.top <= float64(mixedPart*f.all)", "f.top <= f.all"}}, in("study", "TestMixed"), killer{}},
		{"rounds do not follow where noise raises what components hold", 0, []edit{{studyMixed, "f.top -= loss // noise", "f.top -= 0 * loss // noise"}}, in("study", "TestNoiseHoldsNothing"), killer{}},
		{"rounds begin at what a third of a covariance shows", 0, []edit{{studyParts, "if p.Method.Mixed && p.K > 2 && p.Iota > iotaHalf {", "if false {"}}, in("study", "TestMixes"), killer{}},
		{"the first part is small where it shows much", 0, []edit{{studyParts, "p.K > 2 && p.Iota > iotaHalf {", "p.K > 2 {"}}, in("study", "TestMixes"), killer{}},
		{"worth: the better of two methods is predicted, whatever the study takes", 0, []edit{{"internal/worth/forecast.go", "power, covariance = follow, !follow", "_ = follow"}}, in("worth", "TestPredictionTakesTheStudysMethod"), killer{}},
		{"rounds follow though columns are few", 0, []edit{{studyMixed, "p.D >= mixedColumns &&", "p.D >= mixedColumns-1 &&"}}, in("study", "TestMixes"), killer{}},
		{"rounds follow though long rows differ", 0, []edit{{studyParts, "low < high && !hides)", "true)"}}, in("study", "TestMixed"), killer{}},
		{"rounds begin anywhere", 0, []edit{{studyMixed, "proposal.MethodPower, linalg.Flat(first.components)", "proposal.MethodPower, t.c.X[:len(first.components)*t.D]"}}, in("study", "TestMixed"), killer{}},
		{"rounds cost more than the part whose place they take", 0, []edit{{studyMixed, "share: (rest - radius) * mixedWeight", "share: left * mixedWeight"}}, in("study", "TestMixes"), killer{}},
		{"rounds after a covariance rise as those from a random start", 0, []edit{{studyMixed, "return math.Sqrt(float64(t + 1))", "return float64(t + 1) + math.Sqrt(0)"}}, in("study", "TestMixes"), killer{}},
		{"rounds after a covariance forget it", 0, []edit{{components, "out.Chosen = proposal.OutputPosterior", "out.Chosen = proposal.OutputPooled"}}, in("study", "TestPosterior"), killer{}},
		{"the last of the rounds goes on without the covariance's releases", 0, []edit{{"internal/study/order.go", "start := ends && ", "start := false && "}}, in("study", "TestMixed"), killer{}},
		{"a covariance has the scale of rounds of all rows", 0, []edit{{"internal/study/posterior.go", "return min(shown/parts.along, 1/parts.all), nil", "return 0.85 / parts.all, nil"}}, in("study", "TestPosteriorOfFewRows"), killer{}},
		{"a covariance has the scale of rounds without a clip", 0, []edit{{"internal/study/posterior.go", "mixedComponents]float64{0.75, 0.85006,", "mixedComponents]float64{0.75, 1,"}}, in("study", "TestMixedKept"), killer{}},
		{"rounds that show less than nothing of a covariance have a posterior", 0, []edit{{"internal/study/posterior.go", "if err != nil || !(f > 0) {", "if err != nil {"}}, in("study", "TestNoPosterior"), killer{}},
		{"posterior: a number is seen once, and its mirror image is not", 0, []edit{{posterior, "(seen[i][j] + seen[j][i] +", "(2*seen[i][j] +"}}, in("linalg", "TestLeadingIsTheMeans"), killer{}},
		{"posterior: noise is taken for spread", 0, []edit{{posterior, "own := max(shown-noise, ", "own := max(shown, "}}, in("linalg", "TestPriorOf"), killer{}},
		{"posterior: what shows no more than noise has a weight of nothing", 0, []edit{{posterior, "if !(own > 0) {", "if false {"}}, in("linalg", "TestShrinkage"), killer{}},
		{"posterior: a direction above equal ones is shrunk to them", 0, []edit{{posterior, "float64(leastShown*shown))", "0*shown)"}}, in("linalg", "TestShrinkage"), killer{}},
		{"posterior: a matrix is shrunk to nothing", 0, []edit{{posterior, "to[i] += float64((1 - w) * mean)", "to[i] += 0"}}, in("linalg", "TestPriorOf"), killer{}},
		{"prior: rounds after a covariance are pooled", 0, []edit{{"internal/prior/study.go", "if found := s.posterior(rng, w, seen); found != nil {", "if found := s.posterior(rng, w, seen); false {"}}, in("prior", "TestPosteriorIsSimulated"), killer{}},
		{"prior: a covariance has no noise but where it was asked about", 0, []edit{{begun, "fresh[i][j] = m.deviation * rng.NormFloat64()", "fresh[i][j] = 0"}}, in("prior", "TestAlong"), killer{}},
		{"prior: a covariance forgets its noise", 0, []edit{{begun, "+ floats.Dot(through[j], rest[i])", "+ 0*floats.Dot(through[j], rest[i])"}}, in("prior", "TestAlong"), killer{}},
		{"prior: noise stays in what a covariance shows", 0, []edit{{begun, "	m[1] -= v\n", ""}}, in("prior", "TestBegin"), killer{}},
		{"worth: rounds of few columns have the bound of many", 0, []edit{{worthMixed, "case columns < wideColumns:", "case columns < 0:"}}, in("worth", "TestWiden"), killer{}},
		{"worth: a single component of rounds has the bound of several", 0, []edit{{worthMixed, "case components > 1:", "case components > 0:"}}, in("worth", "TestWiden"), killer{}},
		{"worth: rounds from a covariance have a bound with heavy tails", 0, []edit{{worthMixed, "if a.heavy(p, &ended) {", "if false {"}}, in("worth", "TestMixedReport"), killer{}},
		{"prior: rounds from a covariance are compared with any spectrum", 0, []edit{{begun, "best, least = lambda, distance", "best, least = lambda, -1"}}, in("prior", "TestNear"), killer{}},
		{"prior: a clip of several directions keeps what one of one does", 0, []edit{{begun, "half := float64(k) / 2", "half := 0.5"}}, in("prior", "TestKept"), killer{}},
		{"a part clipped too low is added", 0, []edit{{studyMoment, "		case r.Radius < last.Radius:\n			continue\n", ""}}, in("study", "TestPooledMoment"), killer{}},
		{"parts of a covariance are added without their weights", 0, []edit{{studyMoment, "w := ratio / (tau * tau)", "w := ratio / (tau / tau)"}}, in("study", "TestPooledMoment"), killer{}},
		{"the first mean has no part in the center", 0, []edit{{course, "sum += float64(ratio * ratio)", "sum += 0 * ratio"}}, in("study", "TestCenterCountsEachMean"), killer{}},
		{"a mean that was clipped shorter has a part in the center", 0, []edit{{course, "e.Radius >= float64(asWide*t.r.Radius)", "true"}}, in("study", "TestCenterCountsEachMean"), killer{}},
		{"a mean at the default radius has a part in the center", 0, []edit{{course, "e.Radius != defaultRadius && ", ""}}, in("study", "TestCenterCountsEachMean"), killer{}},
		{"the center goes on without the first mean's release", 0, []edit{{"internal/study/order.go", "mean := q.Kind == KindMean && e.Kind == KindMean", "mean := false"}}, in("study", "TestEarlierIsAllThatNextReads"), killer{}},
		{"24 rounds are not pooled", 0, []edit{{components, "p.Rounds < proposal.PoolRounds && noise", "noise"}}, in("study", "TestPooledOutput"), killer{}},
		{"rows are on the sphere where noise is little", 0, []edit{{"internal/study/method.go", "s.Rows == proposal.RowsAuto && p.Iota > iotaSphere", "s.Rows == proposal.RowsAuto"}}, in("study", "TestDefaults"), killer{}},
		{"rows on the sphere are clipped as others", 0, []edit{{"internal/study/method.go", "		return powerSphere\n", "		return powerPlain\n"}}, in("study", "TestSphereQuantile"), killer{}},
		{"rows are not divided by their lengths", 0, []edit{{derive, "row[j] = v / norm", "row[j] = v"}}, in("clip", "TestSphere"), killer{}},
		{"explained variance is of the sphere", 0, []edit{{answer, "sphere := p.Method.OnSphere(p.Queries[a.Query])", "sphere := p.Proposal.Spec.Rows == proposal.RowsSphere"}}, in("answer", "TestSphere"), killer{}},
		{"rows kept from another query are on the sphere", 0, []edit{{answer, "m.rows != nil && m.sphere == sphere &&", "m.rows != nil &&"}}, in("answer", "TestSphere"), killer{}},
		{"a start need not be orthonormal", 0, []edit{{start, "why := linalg.Orthonormal(s.Start.Vectors, s.Width()); why != \"\"", "why := linalg.Orthonormal(nil, s.Width()); why != \"\""}}, in("study", "TestStart"), killer{}},
		{"a start may be of other columns", 0, []edit{{"internal/result/start.go", "r.Scale[i] != c.Scale", "false"}}, in("result", "TestSetStart"), killer{}},
	})
}

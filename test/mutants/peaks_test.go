//go:build mutants

package mutants

func init() {
	tables = append(tables, []mutant{
		{"a covariance of two kinds of rows is clipped low", 0, []edit{{studyClip, "	if peaks {\n		low = high", "	if false {\n		low = high"}}, in("study", "TestClipsOfTwoPeaks"), killer{}},
		{"a tail that no bin stands out of is cut off", 0, []edit{{studyClip, "also := histogram.Tail{Near: tailNear}", "also := histogram.Tail{Near: 100}"}}, in("study", "TestClipsOfTwoPeaks"), killer{}},
		{"rows without a tail are clipped low where noise is small", 0, []edit{{studyClip, "	if t.Iota <= iotaHeavy && float64(t.Iota*high) <= float64(heavy*quantile(0.5)) {\n", "	if false {\n"}}, in("study", "TestClipsOfHeavyTails"), killer{}},
		{"few columns are clipped low where noise is small", 0, []edit{{studyParts, "few := p.D < heavyColumns", "few := p.D < 1"}}, in("study", "TestClipsOfHeavyTails"), killer{}},
		{"the high clip of heavy tails is asked too little", 0, []edit{{studyParts, "second = 0.16", "second = 0.04"}}, in("study", "TestClipsOfHeavyTails"), killer{}},
		{"noise alone takes the high clip", 0, []edit{{studyParts, "sure = 2.5", "sure = 1.5"}}, in("study", "TestNoiseIsNotWider"), killer{}},
		{"a heavy tail is clipped high where noise is small", 0, []edit{{studyClip, "float64(t.Iota*high) <= float64(heavy*quantile(0.5))", "high > 0"}}, in("study", "TestClipsOfHeavyTails"), killer{}},
		{"noise is a second peak", 0, []edit{{histogramPeaks, "peak-max(0, counts[i]) >= dip ", "peak-max(0, counts[i]) > 0 "}}, in("histogram", "TestTwoPeaks"), killer{}},
		{"a peak near the fullest bin does not count", 0, []edit{{histogramPeaks, "near && separated(around", "false && separated(around"}}, in("histogram", "TestPeakNearTheFullest"), killer{}},
		{"a low peak counts where noise is large", 0, []edit{{histogramPeaks, "near && separated(around", "true && separated(around"}}, in("histogram", "TestPeakNearTheFullest"), killer{}},
		{"the tail of a second peak is cut off", 0, []edit{{studyClip, "also.Together = peakBins", "also.Together = 1"}}, in("study", "TestClipsOfTwoPeaks"), killer{}},
		{"rows that were left out are a second peak", 0, []edit{{histogramPeaks, "for first := 1; first <= width; first++ {", "for first := 0; first <= width; first++ {"}}, in("histogram", "TestTwoPeaks"), killer{}},
		{"few units pay no more for their lengths", 0, []edit{{studyShares, "		return proposal.BoundShareFew", "		return boundShare"}}, in("study", "TestBoundShare"), killer{}},
	})
}

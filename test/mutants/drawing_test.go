//go:build mutants

package mutants

// What is drawn of noised histograms: clusters that are not there, and intervals that are too good.
func init() {
	tables = append(tables, []mutant{
		{"drawing: many groups are looked through as one", 0, []edit{
			{"internal/picture/density.go", "z := peakZ(len(p.Counts))", "z := peakZ(1)"},
		}, in("picture", "TestPeakIsNoiseOfNoGroup"), killer{}},
		{"drawing: kernels are looked through as one", 0, []edit{
			{"internal/picture/peak.go", "float64(groups) * float64(len(kernels))", "float64(groups)"},
		}, in("picture", "TestPeakIsNoiseOfNoGroup"), killer{}},
		{"drawing: averages of noise are drawn", 0, []edit{
			{"internal/picture/density.go", "	if s <= cut {", "	if s <= 0 {"},
		}, in("picture", "TestNoiseIsNotDrawn"), killer{}},
		{"drawing: fewer than no units", 0, []edit{
			{"internal/picture/density.go", "		total = max(0, total)\n", ""},
		}, in("picture", "TestNoiseIsNotDrawn"), killer{}},
		{"drawing: peaks of noise stay", 0, []edit{
			{"internal/picture/peak.go", "if height <= dip*shown[low.bins[0]] && apart(high, low, all, z) {", "if true {"},
		}, in("picture", "TestInventsNoPeak"), killer{}},
		{"drawing: a dip is enough", 0, []edit{
			{"internal/picture/peak.go", " && apart(high, low, all, z) {", " {"},
		}, in("picture", "TestInventsNoPeak"), killer{}},
		{"drawing: noise alone is drawn", 0, []edit{
			{"internal/picture/peak.go", "return f.smooth[a] > z*f.sigma*math.Sqrt(f.covariance(a, a))", "return f.smooth[a] > 0*z"},
		}, in("picture", "TestInventsNoPeak"), killer{}},
		{"drawing: a bump is counted but not cut", 0, []edit{
			{"internal/picture/peak.go", "shown[b] = min(shown[b], height)", "_ = b"},
		}, in("picture", "TestInventsNoPeak"), killer{}},
		{"drawing: only the lower peak must stand", 0, []edit{
			{"internal/picture/peak.go", "return a.stands(b.bins[0], &f, z) && b.stands(a.bins[0], &f, z)", "return b.stands(a.bins[0], &f, z) || a.stands(b.bins[0], &f, z)"},
			{"internal/picture/peak.go", "return f.smooth[a]-f.smooth[b] > z*", "return f.smooth[a]-f.smooth[b] > 0.2*z*"},
		}, in("picture", "TestInventsNoPeak"), killer{}},
		{"drawing: no threshold", 0, []edit{
			{"internal/picture/density.go", "if math.Abs(c) <= cut {", "if math.Abs(c) <= 0*cut {"},
		}, in("picture", "TestTotalVariation"), killer{}},
		{"drawing: hidden units are not told", 0, []edit{
			{"internal/picture/density.go", "hidden = max(0, 1-shown/total)", "hidden = 0"},
		}, in("picture", "TestHidden"), killer{}},
		{"drawing: a quantile within one deviation", 0, []edit{
			{"internal/picture/quantile.go", "const quantileZ = 1.959963984540054", "const quantileZ = 0.2"},
		}, in("picture", "TestQuantilesCover"), killer{}},
		{"drawing: a quantile that noise hides", 0, []edit{
			{"internal/picture/quantile.go", "if high == folded || high <= low {", "if high <= low {"},
		}, in("picture", "TestQuantilesCover"), killer{}},
		{"drawing: upside down", 0, []edit{
			{"internal/picture/biplot.go", "top+side-step*float64(i%bins+1)", "top+step*float64(i%bins)"},
		}, in("picture", "TestPlace"), killer{}},
		{"drawing: an institution is not called one", 0, []edit{
			{"internal/picture/groups.go", "if p.By == proposal.PictureBySite {\n\t\td.Words", "if false {\n\t\td.Words"},
		}, in("picture", "TestWords"), killer{}},
		{"drawing: groups together have one group's noise", 0, []edit{
			{"internal/picture/biplot.go", "p.Sigma *= math.Sqrt(float64(len(p.Counts)))", "_ = p"},
		}, in("picture", "TestWords"), killer{}},
		{"drawing: a group's name is a formula", 0, []edit{
			{"internal/report/picture.go", "group = name.Cell(p.Groups[g])", "group = name.Plain(p.Groups[g])"},
		}, in("report", "TestPictureData"), killer{}},
		{"drawing: names are elements", 0, []edit{
			{"internal/picture/scene.go", "_ = xml.EscapeText(b, []byte(s))", "_, _ = xml.EscapeText, io.Discard; b.WriteString(s)"},
		}, in("picture", "TestSVG"), killer{}},
	})
}

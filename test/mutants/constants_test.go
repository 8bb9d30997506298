//go:build mutants

package mutants

// Constants and guards that stay silent when they are wrong.
func init() {
	const (
		ask     = "internal/study/ask.go"
		history = "internal/study/history.go"
		paper   = "internal/noise/paper.go"
		level   = "internal/clip/level.go"
		policy  = "internal/siteconfig/policy.go"
	)
	context := in("study", "TestContextBinds")
	tables = append(tables, []mutant{
		{"a context is the same for every plan", 0, []edit{{ask, "	e.fixed(p.Digest)\n", ""}}, context, killer{}},
		{"a context is the same for every setup", 0, []edit{{ask, "	e.fixed(transcript)\n", ""}}, context, killer{}},
		{"a context is the same for every ring", 0, []edit{{ask, "	e.u64(uint64(p.Bits))\n", ""}}, context, killer{}},
		{"a context is the same for every length", 0, []edit{{ask, "	e.u64(uint64(p.Queries[a.Query].Lanes))\n", ""}}, context, killer{}},
		{"a context is the same for whatever was found", 0, []edit{{ask, "	e.floats(a.Found)\n", ""}}, context, killer{}},
		{"an ask may have any more noise than the plan's", 0, []edit{{ask, "|| got > w*(1+sigmaTolerance)+1 {", "{"}}, in("study", "TestCheckRefuses"), killer{}},
		{"any radius may be beyond its histogram", 0, []edit{{ask, "if k != KindTotal && k != KindVariance {", "if false {"}},
			in("study", "TestOnlySquaresMayBeBoundedElsewhere"), killer{}},
		{"a center of another length follows", 0, []edit{{history, "	if len(a) != len(b) {\n		return false", "	if false {\n		return false"}},
			in("study", "TestCheckCourse"), killer{}},
		{"central noise is charged as a sum of shares", 0, []edit{{studyCharge, "if p.Honest == 0 {\n		return p.bridged", "if false {\n		return p.bridged"}},
			in("study", "TestClosenessIsCharged"), killer{}},
		{"what one site adds in parts is one discrete Gaussian", 0, []edit{
			{"internal/noise/distributed.go", "	if s.Honest*len(s.Kept) == 1 {\n		return true", "	if s.Honest == 1 {\n		return true"},
		}, in("noise", "TestPartsOfOneSite"), killer{}},
		{"the paper's τ is that of ε = 1", 0, []edit{{paper, "/ (n * in.Epsilon)", "/ n"}}, in("noise", "TestPaper"), killer{}},
		{"the paper's u is that of C = 1", 0, []edit{{paper, "p.U = in.C * math.Log(", "p.U = math.Log("}}, in("noise", "TestPaper"), killer{}},
		{"a sum is opened while the study's end is on its way", 0, []edit{
			{"internal/round/slot.go", "	if s.live.proposing {\n		return nil\n	}\n	if o.adopted", "	if o.adopted"},
		}, in("round", "TestNothingIsOpenedOnceTheStudyEnds"), killer{}},
		{"a sum of a slot that was left is kept", 0, []edit{{"internal/session/unmasking.go", "	if !s.current(query, slot) {\n", "	if false {\n"}},
			in("session", "TestLateUploads"), killer{}},
		{"whatever comes late is held as an upload", 0, []edit{{"internal/session/slot.go", "if len(masked) != s.Plan.Queries[query].Bytes {", "if false {"}},
			in("session", "TestLateUploads"), killer{}},
		{"a joined row holds what was read before it", 0, []edit{{level, "			clear(out)\n", ""}}, in("clip", "TestJoin"), killer{}},
		{"a fill is beyond what a matrix holds", 0, []edit{
			{"internal/clip/gap.go", "						row[j] = min(max(row[j], -most), most)\n", "						row[j] = min(max(row[j], -8*most), 8*most)\n"},
		}, in("clip", "TestFillFitsAMatrix"), killer{}},
		{"directions may be askew one way", 0, []edit{
			{"internal/clip/query.go", "!(math.Abs(dot(a, x[to:to+d])) <= crossTolerance)", "!(dot(a, x[to:to+d]) <= crossTolerance)"},
		}, in("clip", "TestMapsAreChecked"), killer{}},
		{"units that are too short count as empty", 0, []edit{{"internal/study/grid.go", "		if rowed > 0 {", "		if false {"}},
			in("study", "TestShortUnitsAreNotEmptyOnes"), killer{}},
		{"the total costs more than is said", 0, []edit{{"internal/study/query.go", "		total *= 1 - histogramPart\n", ""}},
			in("study", "TestSharesAreTheProposals"), killer{}},
		{"a column that nearly varies is one of one value", 0, []edit{
			{"internal/standardize/constant.go", "nearly    = 0.9 ", "nearly    = 0.5 "},
		}, in("standardize", "TestConstants"), killer{}},
		{"limits of a data set that is not there are taken", 0, []edit{{policy, "if _, ok := c.Dataset(name); !ok {", "if _, ok := c.Dataset(name); false && !ok {"}},
			in("siteconfig", "TestConfigIsStrict"), killer{}},
		{"any text is a peer's key", 0, []edit{{policy, "if !fingerprintForm.MatchString(p.Peers[name]) {", "if false {"}},
			in("siteconfig", "TestConfigIsStrict"), killer{}},
		{"SPE's limit counts the components' directions", 0, []edit{{"internal/score/law.go", "float64(m.width - m.k)", "float64(m.width)"}},
			in("score", "TestLimitsAreTheLaws"), killer{}},
		{"a biplot of all groups has the noise of one", 0, []edit{
			{"internal/picture/biplot.go", "	p.Sigma *= math.Sqrt(float64(len(p.Counts)))\n", "	p.Sigma *= math.Sqrt(1)\n"},
		}, in("picture", "TestTogether"), killer{}},
		{"means that lie farther are not doubted", 0, []edit{{"internal/worth/constants.go", "farMean      = 3 ", "farMean      = 30 "}},
			in("worth", "TestDoubtedConstants"), killer{}},
	})
}

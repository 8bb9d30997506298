//go:build mutants

package mutants

// Constants and guards that stay silent when they are wrong.
func init() {
	const (
		ask     = "internal/study/ask.go"
		history = "internal/study/history.go"
		paper   = "internal/noise/paper.go"
	)
	context := in("study", "TestContextBinds")
	tables = append(tables, []mutant{
		{"a context is the same for every plan", 0, []edit{{ask, "	e.fixed(p.Digest)\n", ""}}, context, killer{}},
		{"a context is the same for every setup", 0, []edit{{ask, "	e.fixed(transcript)\n", ""}}, context, killer{}},
		{"a context is the same for every ring", 0, []edit{{ask, "	e.u64(uint64(p.Bits))\n", ""}}, context, killer{}},
		{"a context is the same for every length", 0, []edit{{ask, "	e.u64(uint64(p.Queries[a.Query].Lanes))\n", ""}}, context, killer{}},
		{"a context is the same for whatever was found", 0, []edit{{ask, "	e.floats(a.Found)\n", ""}}, context, killer{}},
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
	})
}

//go:build mutants

package mutants

// Refusals that can be put right, and what stands of the others.
func init() {
	const mend = "internal/round/mend.go"
	tables = append(tables, []mutant{
		{"mend: absent data ends a study", 0, []edit{
			{roundRefusal, " && !(s.Status == StatusRunning && d.mends()) {", " {"},
		}, in("round", "TestDataThatComesBack"), killer{}},
		{"mend: a full disk ends a study", 0, []edit{
			{mend, "study.CodeStore, study.CodeBrokenChain:", "study.CodeBrokenChain:"},
		}, in("round", "TestDataThatComesBack"), killer{}},
		{"mend: a pause for each refusal", 0, []edit{
			{mend, "if l.resting || !slices", "if !slices"},
		}, in("round", "TestDataThatComesBack"), killer{}},
		{"mend: a site that does not answer is asked again and again", 0, []edit{
			{mend, "return k.left.mends() && !k.left.again })", "return k.left.mends() })"},
		}, in("round", "TestDataThatComesBack"), killer{}},
		{"mend: any refusal is asked about again", 0, []edit{
			{mend, "k.left.mends() && !k.left.again {", "k.left.code != \"\" && !k.left.again {"},
		}, in("round", "TestOthersAreAskedOnce"), killer{}},
		{"left: a query waits for who left", 0, []edit{
			{roundSlot, "!s.late(PhaseUpload) && !s.answered()", "!s.late(PhaseUpload)"},
		}, in("round", "TestWhoLeftIsNotWaitedFor"), killer{}},
		{"left: a query does not wait for who is away", 0, []edit{
			{"internal/round/live.go", "!k.connected && k.missed >= patience", "!k.connected"},
		}, in("round", "TestSiteThatDropsIsLeftBehindAtTheDeadline"), killer{}},
		{"left: every query waits for who is gone", 0, []edit{
			{"internal/round/live.go", "!k.connected && k.missed >= patience", "false"},
		}, in("round", "TestGoneSiteCostsFewDeadlines"), killer{}},
		{"left: a study waits for who left for good", 0, []edit{
			{"internal/round/refusal.go", "if here < s.plan.Thresholds.MinSurvivors && ", "if false && "},
		}, in("round", "TestTooFewHaveNotLeft"), killer{}},
		{"left: the last sum is not opened without who left for good", 0, []edit{
			{"internal/round/refusal.go", " && !(s.Survivors != nil && s.plan.Queries.Left(s.Query) == 1 && s.spares()) {", " {"},
		}, in("round", "TestTooFewHaveNotLeftForAnotherQuery"), killer{}},
		{"left: a query is asked of a study that ends", 0, []edit{
			{"internal/round/leader.go", "if s.Status == StatusRunning && s.departed() != nil {", "if false {"},
		}, in("round", "TestNothingIsAskedOnceTheStudyEnds"), killer{}},
		{"left: nobody is waited for where too few are left", 0, []edit{
			{"internal/round/waiting.go", ">= s.plan.Thresholds.MinSurvivors\n", ">= 0\n"},
		}, in("round", "TestTooFewAreLeft"), killer{}},
		{"left: a leader that begins waits for a revoked site", 0, []edit{
			{"internal/coordinator/leader.go", "out.Barred = append(out.Barred, i)", ""},
		}, in("coordinator", "TestRevokedIsNotWaitedFor"), killer{}},
		{"left: a site is waited for after it is revoked", 0, []edit{
			{"internal/coordinator/enroll.go", "return round.Barred{Site: site}", "return round.Disconnected{Site: site}"},
		}, in("coordinator", "TestRevokedIsNotWaitedFor"), killer{}},
		{"left: another key under a revoked name is the site", 0, []edit{
			{"internal/membership/state.go", "	case !s.Is(member):\n", "	case false:\n"},
		}, in("coordinator", "TestRevokedIsNotWaitedFor"), killer{}},
		{"overdue: a passed deadline of uploads is that of shares too", 0, []edit{
			{"internal/round/deadline.go", "return s.late(s.timed()) }", "return s.late(s.timed()) || s.late(PhaseUpload) }"},
		}, in("round", "TestOverdueIsOfThePhase"), killer{}},
	})
}

//go:build mutants

package mutants

const (
	roundHeld    = "internal/round/held.go"
	roundRefusal = "internal/round/refusal.go"
	roundSetup   = "internal/round/setup.go"
	roundSlot    = "internal/round/slot.go"

	leaderSession   = "internal/session/session.go"
	leaderSetup     = "internal/session/setup.go"
	leaderOpening   = "internal/session/opening.go"
	leaderRefusal   = "internal/session/refusal.go"
	leaderUnmasking = "internal/session/unmasking.go"
)

// What a site says about survivors, culprits and announcements.
func init() {
	tables = append(tables, []mutant{
		{"held: one site's word is enough", 0, []edit{
			{roundHeld, "most <= c.corruptSigners()", "most == 0"},
		}, in("round", "TestOneSitesHeldChangesNothing"), killer{}},
		{"held: fewer than U_min have answered", 0, []edit{
			{roundHeld, "answered < c.MinSurvivors || ", ""},
		}, in("round", "TestHeldSurvivorsAreAdopted"), killer{}},
		{"held: a doubtful U is not waited for", 0, []edit{
			{roundSlot, "if s.claims().doubtful() && ", "if s.claims().doubtful() && false && "},
		}, in("round", "TestDoubtfulHeldWaits"), killer{}},
		{"held: a doubtful U is given up although its shares may be out", 0, []edit{
			{roundSlot, "!(s.late(PhaseUpload) && len(s.free()) >= s.plan.Thresholds.MinSurvivors)", "!s.late(PhaseUpload)"},
		}, in("round", "TestDoubtfulHeldWaits"), killer{}},
		{"held: a doubtful U is waited for without end", 0, []edit{
			{roundSlot, " && !(s.late(PhaseUpload) && len(s.free()) >= s.plan.Thresholds.MinSurvivors) {", " {"},
		}, in("round", "TestDoubtfulHeldWaits"), killer{}},
		{"held: the word of sites whose signatures do not count", 0, []edit{
			{roundHeld, "!c.graph.Signs(i) {", "i < 0 {"},
			{roundHeld, "c.graph.Signs(j) && slices.Equal(w.held, v.held) {", "j >= 0 && slices.Equal(w.held, v.held) {"},
		}, in("round", "TestHeldOnTheSparseGraph"), killer{}},
		{"held: who is not believed is not named", 0, []edit{
			{roundHeld, "return []Effect{Doubt{site, study.CodeHeld}}", "return nil"},
		}, in("round", "TestOneSitesHeldChangesNothing"), killer{}},
		{"final: a result is parsed before its signature is checked", 0, []edit{
			{"internal/study/release.go", "	if !ed25519.Verify(key, SigningInput(encoded), signature) {\n\t\treturn nil\n\t}\n\tr, err := ParseRelease(encoded)\n\tif err != nil {", "	r, err := ParseRelease(encoded)\n\tif err != nil || !ed25519.Verify(key, SigningInput(encoded), signature) {"},
		}, in("study", "TestUnsignedReleaseIsNotParsed"), killer{}},
		{"final: a result that another key signed is adopted", 0, []edit{
			{"internal/study/release.go", "	if !ed25519.Verify(key,", "	if key == nil && !ed25519.Verify(key,"},
		}, in("coordinator", "TestAdoptedResultFitsThePlan"), killer{}},
		{"final: one without a signature is nobody's fault", 0, []edit{
			{leaderRefusal, "s.Fault(r.Site, study.CodeFinal)", "_ = r"},
		}, in("coordinator", "TestUnsignedResultIsAFault"), killer{}},
		{"pace: every refusal changes something", 0, []edit{
			{"internal/coordinator/coordinator.go", "l.changed = m.step(digest, r.State, e) || r.State.Heard(site) != before", "l.changed = m.step(digest, r.State, e) || r.State.Heard(site) == before || true"},
		}, in("coordinator", "TestRepeatedRefusalsTellNothing"), killer{}},
		{"pace: a broken chain is logged for each message", 0, []edit{
			{"internal/coordinator/link.go", "case l.said[no] || code ==", "case code =="},
		}, in("coordinator", "TestRepeatedRefusalsTellNothing"), killer{}},
		{"the log takes a second U of a slot", 0, []edit{
			{roundSlot, "if s.Survivors != nil {", "if s.Survivors != nil && s.waits() {"},
		}, in("round", "TestLogKeepsTheFirstSurvivors"), killer{}},
		{"the log takes another U of a study that waits", 0, []edit{
			{roundSlot, "if s.Survivors != nil {", "if s.Survivors != nil && !s.waits() {"},
			{"internal/round/state.go", "!p.Proposal.Spec.Waits() || len(d.Survivors) == n)", "!p.Proposal.Spec.Waits() || n > 0)"},
		}, in("round", "TestLogKeepsTheFirstSurvivors"), killer{}},
		{"held: of another context", 0, []edit{
			{leaderRefusal, "slices.Equal(m.Context, q.Context[:]) &&", "true &&"},
		}, in("coordinator", "TestHeldIsChecked"), killer{}},
		{"final: a result that does not fit the plan is adopted", 0, []edit{
			{leaderRefusal, "s.Plan.CheckRelease(*release) == nil &&", "true &&"},
		}, in("coordinator", "TestAdoptedResultFitsThePlan"), killer{}},
		{"blame: without a proof it is nobody's", 0, []edit{
			{roundRefusal, "return accuses(e.Code) && e.Culprit != study.Nobody &&", "return false && e.Culprit != study.Nobody &&"},
		}, in("round", "TestAccusations"), killer{}},
		{"blame: without a proof it is the other's", 0, []edit{
			{roundRefusal, "	case e.Proven:\n", "	case e.Proven || e.Culprit != study.Nobody:\n"},
		}, in("round", "TestAccusations"), killer{}},
		{"blame: two boxes are whose word it is", 0, []edit{
			{roundRefusal, "study.CodeBadShare, study.CodeBadBox:", "study.CodeBadShare:"},
		}, in("round", "TestAccusations"), killer{}},
		{"two announcements: an unsigned one convicts", 0, []edit{
			{leaderRefusal, "s.Plan.Setup().CheckAnnounced(accused, m.Announcement) == nil", "len(m.Announcement) > 0"},
		}, in("coordinator", "TestTwoAnnouncementsConvict"), killer{}},
		{"two announcements: one and the same convicts", 0, []edit{
			{leaderRefusal, "now != nil && !bytes.Equal(m.Announcement, now) &&", "now != nil &&"},
		}, in("coordinator", "TestTwoAnnouncementsConvict"), killer{}},
		{"two announcements: the second is shown as the first", 0, []edit{
			{"internal/keyring/setup.go", "no.Culprit, no.Announcement = study.SeatOf(i), first[i]", "no.Culprit, no.Announcement = study.SeatOf(i), set[i]"},
		}, in("agent", "TestSecondSetIsShownTheFirst"), killer{}},
		{"charged: an open query counts for nothing once the study ended", 0, []edit{
			{"internal/round/state.go", " || s.Status == StatusEnded && len(s.Announcements) > 0\n", "\n"},
		}, in("round", "TestAsked"), killer{}},
		{"charged: a sheet leaves an open query out", 0, []edit{
			{"internal/sheet/sheet.go", "if all := s.Rho + s.Open; all > 0 {", "if all := s.Rho; all > 0 {"},
		}, in("sheet", "TestOpenQueryIsCharged"), killer{}},
		{"end: a site that refused is not told", 0, []edit{
			{"internal/round/prompt.go", " && !s.Terminal() {", " {"},
		}, in("round", "TestWhoLeftIsToldTheEnd"), killer{}},
		{"learners: of distributed noise exact sums", 0, []edit{
			{"internal/terms/learner.go", "exact, noised, apart = \"the sum\", \", with \"+fullNoise, alone", "apart = alone"},
		}, in("terms", "TestLearners"), killer{}},
	})
}

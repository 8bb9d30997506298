//go:build mutants

package mutants

// What a coordinator checks, keeps and asks for of the masks.
func init() {
	const opening = "internal/round/opening.go"
	tables = append(tables, []mutant{
		{"boxes: what is not the sender's is relayed", 0, []edit{
			{leaderSetup, "hold := setup.CheckBoxes(site, boxes) == nil", "hold := setup.CheckBoxes(site, boxes) == nil || true"},
		}, in("coordinator", "TestBadMessages"), killer{}},
		{"boxes: the last ones count", 0, []edit{
			{leaderSetup, "s.State.Status == round.StatusSetup && s.State.Boxes(site) == nil", "s.State.Status == round.StatusSetup"},
			{roundSetup, "s.Status == StatusSetup && c.boxes[e.Site] == nil {", "s.Status == StatusSetup {"},
		}, in("coordinator", "TestFirstBoxesCount"), killer{}},
		{"boxes: checked against another setup", 0, []edit{
			{leaderSetup, "if !s.deals(site) || s.setup.Transcript() != against.Transcript() {", "if !s.deals(site) {"},
		}, in("coordinator", "TestBoxesOfAnotherSetup"), killer{}},
		{"deposits: of other tags than were relayed", 0, []edit{
			{leaderSetup, "s.State.BoxesFor(site)); err != nil {", "s.State.BoxesFor(site)); err != nil && m.Signature == nil {"},
		}, in("coordinator", "TestStatementIsChecked"), killer{}},
		{"deposits: a convicted site is not named", 0, []edit{
			{leaderUnmasking, "			s.Fault(i, study.CodeWrongDeposit)\n", ""},
		}, in("coordinator", "TestWrongDeposits"), killer{}},
		{"deposits: with a site away an opening waits forever", 0, []edit{
			{opening, "if s.late(PhaseKeys) && len(o.convicted) > 0 {", "if s.late(PhaseKeys) && len(o.convicted) > s.plan.Thresholds.Sites {"},
		}, in("round", "TestConvictedDropperEndsTheStudy"), killer{}},
		{"deposits: a lost one ends the study", 0, []edit{
			{opening, "if s.late(PhaseKeys) && len(o.convicted) > 0 {", "if o.convicted = append(o.convicted, 0); s.late(PhaseKeys) {"},
		}, in("round", "TestConvictedDropperEndsTheStudy"), killer{}},
		{"recall: tags that the log does not name", 0, []edit{
			{leaderSetup, "if !s.setup.CheckTags(site, m.Tags, s.State.TagHashes[site]) || ", "if "},
		}, in("coordinator", "TestSparseWrongRecall"), killer{}},
		{"recall: deposits that the log does not name", 0, []edit{
			{leaderSetup, "|| !bytes.Equal(hash[:], s.State.DepositHashes[site]) {", "|| len(hash) == 0 {"},
		}, in("coordinator", "TestSparseWrongRecall"), killer{}},
		{"recall: uploads are asked for meanwhile", 0, []edit{
			{roundSlot, "return wire.Recall{Header: p.inSetup()} })\n\t\treturn\n", "return wire.Recall{Header: p.inSetup()} })\n"},
		}, in("round", "TestRecall"), killer{}},
		{"recall: by the leader of the setup", 0, []edit{
			{roundSetup, "s.live.recalled[i] = s.live.leading", "s.live.recalled[i] = false"},
		}, in("round", "TestRecall"), killer{}},
		{"log: no tags are kept", 0, []edit{
			{roundSetup, "		e.Tags, e.Deposits = tags, deposits\n", ""},
		}, in("round", "TestLogHoldsTags"), killer{}},
		{"log: tags of thousands of sites are kept", 0, []edit{
			{leaderSetup, "if s.Plan.Thresholds.Sparse() && tags != nil {", "if s.Plan.Thresholds.Sparse() && tags == nil {"},
		}, in("coordinator", "TestSparseSetupIsForgotten"), killer{}},
		{"log: tags outlive the study", 0, []edit{
			{"internal/outline/closed.go", "	d.Tags, d.Deposits, d.TagHashes, d.DepositHashes = nil, nil, nil, nil\n", ""},
		}, in("coordinator", "TestEndedStudyKeepsNoTags"), killer{}},
		{"setup: bodies stay in memory", 0, []edit{
			{leaderSetup, "s.board, s.seals, s.bodies = nil, nil, nil", "s.board = nil"},
		}, in("coordinator", "TestSparseSetupIsForgotten"), killer{}},
		{"setup: boxes stay in memory", 0, []edit{
			{roundSetup, "	s.live.setup = newSetup(s.plan.Thresholds.Sites) // what it held is never needed again\n", ""},
		}, in("coordinator", "TestSetupIsForgotten"), killer{}},
		{"setup: nobody checks what some sites alone see", 0, []edit{
			{leaderSetup, "err = checkParts(setup, seals, bodies)", "err = checkParts(setup, seals[:0], bodies)"},
		}, in("coordinator", "TestSparsePartsAreChecked"), killer{}},
		{"blame: a good box convicts its sender", 0, []edit{
			{leaderRefusal, "return err == nil && guilty == accused", "return err == nil && guilty >= 0"},
		}, in("coordinator", "TestAccusations"), killer{}},
		{"blame: two boxes of one site's tags convict it", 0, []edit{
			{leaderRefusal, "return ok && boxes != nil && s.setup.Convicts(accused, r.Site, boxes[at], m.Evidence)", "return ok && boxes != nil && at >= 0 && len(m.Evidence) > 0"},
		}, in("coordinator", "TestAccusations"), killer{}},
		{"proofs: one that does not hold passes", 0, []edit{
			{leaderOpening, "return round.Unshared{Site: site, Query: query, Slot: slot}", "return round.Proved{Site: site, Query: query, Slot: slot}"},
		}, in("coordinator", "TestFalseProofCostsTheShares"), killer{}},
		{"proofs: who says nothing holds up the study", 0, []edit{
			{opening, "wanted && (s.late(PhaseProofs) || ", "wanted && ("},
		}, in("round", "TestSilentHelperIsDropped"), killer{}},
		{"proofs: who says nothing is dropped though needed", 0, []edit{
			{opening, "if late == nil || !s.graph().Openable(rest) {", "if late == nil {"},
		}, in("round", "TestSilentHelperIsDropped"), killer{}},
		{"proofs: a dropped helper's shares stay", 0, []edit{
			{leaderOpening, "		s.opening.Drop(i)\n", "		_ = i\n"},
		}, in("coordinator", "TestSilentHelperIsNotNamed"), killer{}},
		{"wait: a sum is opened before the last upload", 0, []edit{
			{opening, "o.proving() || !subset(s.Survivors, s.live.slot.uploaded) ||", "o.proving() ||"},
		}, in("round", "TestWaitModeWaitsForAll"), killer{}},
		{"wait: shares wait for the last upload", 0, []edit{
			{"internal/round/slot.go", "if (s.waits() || subset(s.Survivors, o.uploaded)) && s", "if subset(s.Survivors, o.uploaded) && s"},
		}, in("round", "TestSharesComeBeforeTheLastUpload"), killer{}},
		{"continue: a certificate before the uploads", 0, []edit{
			{"internal/round/slot.go", "if (s.waits() || subset(s.Survivors, o.uploaded)) && s", "if s"},
		}, in("round", "TestCertificateNeedsTheUploads"), killer{}},
		{"proofs: shares that came meanwhile are lost", 0, []edit{
			{opening, "	l.askAgain(askShares)\n", ""},
		}, in("round", "TestSharesAreAskedForAgain"), killer{}},
		{"proofs: of another dealer", 0, []edit{
			{opening, "return o.proof[site] && o.dealer == dealer", "return o.proof[site]"},
		}, in("round", "TestLateProofIsNotWanted"), killer{}},
		{"proofs: a guilty dealer is nobody", 0, []edit{
			{leaderUnmasking, "failed.Code, failed.Culprit = study.CodeBadDealer, study.SeatOf(guilty.Site)", "failed.Code = study.CodeBadDealer\n\t\t_ = guilty"},
		}, in("session", "TestBadDealer"), killer{}},
		{"shape: survivors of a prove are not bounded", 0, []edit{
			{"internal/wire/shape.go", "{7, 4}: true, {12, 4}: true,", "{7, 4}: true,"},
		}, in("wire", "TestShapeBoundsLists"), killer{}},
		{"limit: recalled tags are too long", 0, []edit{
			{"internal/wire/size.go", "ShortMessage+sealed*(2*hashBytes*p.Slots+boxBytes)+owned*2*hashBytes*p.Slots,", "ShortMessage+sealed+owned,"},
			{"internal/wire/size.go", "ShortMessage+2*hashBytes*p.Slots*owned,", "ShortMessage,"},
		}, in("coordinator", "TestLargestOfTheSparseGraph"), killer{}},
		{"limit: any setup is kept", 0, []edit{
			{"internal/study/setup.go", "if kept > maxKept || logged > maxLogged {", "if kept > maxKept && logged > maxLogged {"},
		}, in("study", "TestSetupFits"), killer{}},
	})
}

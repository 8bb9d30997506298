//go:build mutants

package mutants

// Of analysts at a site: whose proposals are looked at, let in and counted.
func init() {
	const party, analysts, decision, budget = "internal/proposal/party.go", "internal/siteconfig/analysts.go", "internal/agent/decision.go", "internal/ledger/budget.go"
	const expiry, arrival, arrivals = "internal/agent/expiry.go", "internal/agent/arrival.go", "internal/proposals/arrivals.go"
	tables = append(tables, []mutant{
		{"analyst, agent: an unsigned proposal of an analyst is looked at", 0, []edit{
			{arrival, "err != nil && (s != nil || p.Proposer != nil) {", "err != nil && false {"},
		}, in("agent", "TestOnlySignedProposals"), killer{}},
		{"analyst, log: an unsigned proposal of an analyst is applied", 0, []edit{
			{"internal/round/entry.go", "if err := plan.Proposal.CheckSignature(plan.Digest, e.Signature); err != nil {", "if err := plan.Proposal.CheckSignature(plan.Digest, e.Signature); err != nil && false {"},
		}, in("round", "TestProposalsAreSigned"), killer{}},
		{"analyst, log: a snapshot's signature is not checked", 0, []edit{
			{"internal/round/state.go", "if err := plan.Proposal.CheckSignature(plan.Digest, d.Signature); err != nil {", "if err := plan.Proposal.CheckSignature(plan.Digest, d.Signature); err != nil && false {"},
		}, in("round", "TestProposalsAreSigned"), killer{}},
		{"analyst: a signature of nobody is taken", 0, []edit{
			{party, "case p.Proposer == nil && len(signature) > 0:", "case false:"},
		}, in("proposal", "TestProposerSigns"), killer{}},
		{"analyst: a name or key in a proposal may be two parties'", 0, []edit{
			{party, "if names[one.Name] || keys[string(one.Identity)] {", "if false {"},
		}, in("proposal", "TestPartiesAreApart"), killer{}},
		{"analyst: the sites' names and keys are not looked at", 0, []edit{
			{"internal/proposal/proposal.go", "err := p.checkParties(names, keys); err", "err := p.checkParties(map[string]bool{}, map[string]bool{}); len(names)+len(keys) > 0 && err"},
		}, in("proposal", "TestPartiesAreApart"), killer{}},
		{"analyst: a reader is one by name", 0, []edit{
			{party, "return p.Name == other.Name && slices.Equal(p.Identity, other.Identity)", "return p.Name == other.Name && len(p.Identity) == len(other.Identity)"},
		}, in("proposal", "TestReads"), killer{}},
		{"analyst: who is not listed is let in", 0, []edit{
			{analysts, "rule.Study = fmt.Sprintf(\"%q, who is not listed\", by.Name)", "rule.OK = true"},
		}, in("agent", "TestOnlyListedAnalysts"), killer{}},
		{"analyst: a listed name with another key is let in", 0, []edit{
			{analysts, "rule.Study = fmt.Sprintf(\"%q with A DIFFERENT KEY from the one listed\", by.Name)", "rule.OK = true"},
		}, in("agent", "TestOnlyListedAnalysts"), killer{}},
		{"analyst: what nobody signed is let in beside a list", 0, []edit{
			{analysts, "case by == nil && p.Analysts == nil:", "case by == nil:"},
		}, in("agent", "TestOnlyListedAnalysts"), killer{}},
		{"analyst: a list of nobody is no list", 0, []edit{
			{"internal/siteconfig/policy.go", "if len(p.Analysts) == 0 {", "if false {"},
		}, in("siteconfig", "TestAnalystsAreChecked"), killer{}},
		{"policy: an empty dictionary is none", 0, []edit{
			{"internal/siteconfig/policy.go", "if len(p.Dictionary) == 0 {", "if false {"},
		}, in("siteconfig", "TestLimitsThatLimitNothing"), killer{}},
		{"policy: a limit of 0 is none", 0, []edit{
			{"internal/siteconfig/policy.go", "if own.MaxEpsilon == 0 {", "if false {"},
		}, in("siteconfig", "TestLimitsThatLimitNothing"), killer{}},
		{"analyst: a key is listed twice", 0, []edit{
			{analysts, "if other, twice := keys[a.Key]; twice {", "if other, twice := keys[a.Key]; twice && false {"},
		}, in("siteconfig", "TestAnalystsAreChecked"), killer{}},
		{"analyst: the total is not a limit", 0, []edit{
			{"internal/limits/limits.go", "Study: fmt.Sprintf(\"ε = %.4g with what %q has had\", t.After, s.Plan.Proposal.Proposer.Name), OK: t.Fits})", "Study: fmt.Sprintf(\"ε = %.4g with what %q has had\", t.After, s.Plan.Proposal.Proposer.Name), OK: true})"},
			{decision, "approval.ProposerCapRho, approval.ProposerCapGDP = s.under", "_, _ = s.under"},
		}, in("agent", "TestAnalystTotal"), killer{}},
		{"analyst: the approval's transaction does not hold the total", 0, []edit{
			{decision, "approval.ProposerCapRho, approval.ProposerCapGDP = s.under", "_, _ = s.under"},
		}, in("agent", "TestAnalystTotalIsTheLedgers"), killer{}},
		{"analyst: the ledger forgets whose a study is", 0, []edit{
			{budget, "Data: a.DataSHA256[:], Proposer: a.Proposer.stored(), By: a.By", "Data: a.DataSHA256[:], By: a.By"},
		}, in("ledger", "TestProposerCaps"), killer{}},
		{"analyst: the ledger counts by name", 0, []edit{
			{budget, "if s.Proposer.same(a.Proposer.Key) {", "if s.Proposer.Name == a.Proposer.Name {"},
		}, in("ledger", "TestProposerCaps"), killer{}},
		{"analyst: a restored ledger forgets whose a study is", 0, []edit{
			{"internal/ledger/recover.go", "Proposer: s.Proposer.stored(), ", ""},
		}, in("ledger", "TestProposerCaps"), killer{}},
		{"analyst: a verdict leaves when it is there", 0, []edit{
			{arrival, "	if unread {", "	if true {"},
		}, in("agent", "TestVerdictsLeaveOnTheMinute"), killer{}},
		{"analyst: a verdict leaves a minute after it is there", 0, []edit{
			{arrival, "(took/verdictEvery+1)*verdictEvery-took", "verdictEvery+0*took"},
		}, in("agent", "TestVerdictsLeaveOnTheMinute"), killer{}},
		{"analyst: who asks again hears the verdict before it is due", 0, []edit{
			{arrival, "if h.holds(id) {", "if false {"},
		}, in("agent", "TestVerdictsLeaveOnTheMinute"), killer{}},
		{"analyst: who asks ahead hears the verdict before it is due", 0, []edit{
			{"internal/agent/agent.go", "} else if a.arriving.holds(r.About().Study) {", "} else if false {"},
		}, in("agent", "TestVerdictsLeaveOnTheMinute"), killer{}},
		{"analyst: a hello tells the verdict before it is due", 0, []edit{
			{"internal/agent/hello.go", "if a.arriving.holds(e.Study) {", "if false {"},
		}, in("agent", "TestVerdictsLeaveOnTheMinute"), killer{}},
		{"analyst: an approval that was taken back is told", 0, []edit{
			{arrival, "if on, ok := h.a.Decisions.decided(d.Study); ok {", "if on, ok := h.a.Decisions.decided(d.Study); ok && false {"},
		}, in("agent", "TestOperatorIsHeardAtOnce"), killer{}},
		{"analyst: any number of proposals is open", 0, []edit{
			{arrival, "if len(open) >= maxOpen {", "if false {"},
		}, in("agent", "TestAnalystsQuotas"), killer{}},
		{"analyst: proposals alike are open", 0, []edit{
			{arrival, "if other.Spec.Name == p.Spec.Name && other.Spec.Dataset == p.Spec.Dataset {", "if other.Spec.Name != p.Spec.Name && len(open) == 0 {"},
		}, in("agent", "TestAnalystsQuotas"), killer{}},
		{"analyst: a proposal is as long as any", 0, []edit{
			{arrival, "if bytes > wire.MaxProposed {", "if false {"},
		}, in("agent", "TestAnalystsQuotas"), killer{}},
		{"analyst: proposals are counted by name", 0, []edit{
			{arrival, "bytes.Equal(p.Proposer.Identity, key)", "p.Proposer.Name == \"ada\" || bytes.Equal(key, nil)"},
		}, in("agent", "TestAnalystsQuotas"), killer{}},
		{"analyst: a day has no end of proposals", 0, []edit{
			{arrivals, "if n >= MaxDaily {", "if false {"},
		}, in("agent", "TestAnalystsQuotas"), killer{}},
		{"analyst: a restart begins a new day", 0, []edit{
			{arrivals, "return pki.ReplaceFile(a.path, text, 0o600)", "return pki.ReplaceFile(a.path+\".new\", text, 0o600)"},
		}, in("proposals", "TestArrivals"), killer{}},
		{"analyst: a clock that was put back begins a new day", 0, []edit{
			{arrivals, "		from = one.Ahead\n", "		return true\n"},
		}, in("proposals", "TestArrivals"), killer{}},
		{"analyst: a clock that ran ahead once closes the door", 0, []edit{
			{arrivals, "		from = one.Ahead\n", ""},
		}, in("proposals", "TestArrivalsOfAClockAhead"), killer{}},
		{"analyst: when a clock was seen to be ahead is forgotten", 0, []edit{
			{arrivals, "return false, a.write(noted)", "return false, nil"},
		}, in("proposals", "TestArrivalsOfAClockAhead"), killer{}},
		{"analyst: a study that ended before its verdict left stays approved", 0, []edit{
			{"internal/agent/agent.go", "if _, over := r.(wire.Ended); over {", "if _, over := r.(wire.Ended); over && false {"},
		}, in("agent", "TestEndBeforeTheVerdict"), killer{}},
		{"expiry: an approval that nobody dated lasts for ever", 0, []edit{
			{expiry, "return e.Time.Add(unbegun)", "return at"},
		}, in("agent", "TestExpiryBeforeTheFirstSum"), killer{}},
		{"a policy approves any number that nobody signed", 0, []edit{
			{"internal/limits/limits.go", "OK: open < siteconfig.MaxUnsigned", "OK: true"},
		}, in("agent", "TestAttackManyUnsigned"), killer{}},
		{"a site signs that it withdrew where another did", 0, []edit{
			{"internal/agent/withdraw.go", "return e.Own && e.State", "return e.State"},
		}, in("agent", "TestAttackWordOfAnother"), killer{}},
		{"a result before the setup ends the agent", 0, []edit{
			{"internal/responder/final.go", "} else if setup == nil {", "} else if setup == nil && false {"},
		}, in("agent", "TestFinalBeforeTheSetup"), killer{}},
		{"link: questions are read as fast as they come", 0, []edit{
			{"internal/uplink/pace.go", "if early <= 0 {", "if early <= 0 || true {"},
		}, in("uplink", "TestAttackEndlessQuestions"), killer{}},
		{"link: each link begins anew to count questions", 0, []edit{
			{"internal/uplink/link.go", "l.u.asked.wait(l.ctx)", "new(pace).wait(l.ctx)"},
		}, in("uplink", "TestAttackEndlessQuestions"), killer{}},
		{"ledger: the proposal of a study that is over stays", 0, []edit{
			{"internal/ledger/budget.go", "change{op: opDelete, path: [][]byte{studiesBucket, r.id[:]}, key: proposalKey}", "change{op: opMake, path: [][]byte{studiesBucket, r.id[:]}}"},
		}, in("ledger", "TestFinishedStudiesTakeLittle"), killer{}},
		{"expiry: an approval lasts as long as its proposal says", 0, []edit{
			{expiry, "return e.Time.Add(proposal.MaxExpiry)", "return at"},
		}, in("agent", "TestExpiryBeforeTheFirstSum"), killer{}},
		{"expiry: a study expires after its first sum", 0, []edit{
			{expiry, "case e.State == ledger.Approved && e.Queries > 0:", "case false:"},
		}, in("agent", "TestExpiryBeforeTheFirstSum"), killer{}},
		{"expiry: a setup goes on with what has expired", 0, []edit{
			{"internal/agent/session.go", "approved && !over && ", "approved && over && "},
		}, in("agent", "TestExpiryBeforeTheFirstSum"), killer{}},
		{"expiry: the digest is not barred", 0, []edit{
			{expiry, "if err := a.Decisions.finish(approval, code, \"\", why); err != nil {\n\t\t\treturn nil\n\t\t}", "a.sessions.forget(id)"},
		}, in("agent", "TestExpiryBeforeTheFirstSum"), killer{}},
		{"expiry: what has expired is approved again", 0, []edit{
			{decision, "	if why := s.expired(); why != nil {\n\t\tif said", "	if why := s.expired(); false {\n\t\tif said"},
		}, in("agent", "TestExpiryBeforeTheFirstSum"), killer{}},
		{"expiry: what has expired holds its part of the budget", 0, []edit{
			{decision, "if err := a.expiry.sweep(); err != nil { // what has", "if err := a.ledger.Err(); err != nil { // what has"},
		}, in("agent", "TestExpiredReservesNothing"), killer{}},
		{"expiry: a site's word that its approval expired counts for nothing", 0, []edit{
			{"internal/round/approval.go", "|| code == study.CodeExpired)", ")"},
		}, in("round", "TestWithdrawalEndsTheStudy"), killer{}},
	})
}

//go:build mutants

package mutants

// Analysts at the coordinator: who may call what, what may be proposed, and what is told.
func init() {
	const (
		door     = "internal/admission/door.go"
		members  = "internal/membership/state.go"
		serves   = "internal/coordinator/analysis.go"
		proposes = "internal/coordinator/propose.go"
		tells    = "internal/coordinator/audience.go"
		fit      = "internal/analysis/fit.go"
		quota    = "internal/analysis/quota.go"
		counts   = "internal/analysis/counts.go"
		told     = "internal/analysis/told.go"
	)
	port, walk := in("coordinator", "TestRefusedAtThePort"), in("coordinator", "TestEveryMethodForEveryRole")
	life, reason, day := in("coordinator", "TestAnalystsStudy"), in("coordinator", "TestTellsNoReason"), in("coordinator", "TestOneCountADay")
	quotas := in("coordinator", "TestQuotas")
	tables = append(tables, []mutant{
		{"analyst: a method is for every role", 0, []edit{{door, "if !slices.Contains(roles, who.Role) {", "if len(roles) == 0 && slices.Contains(roles, who.Role) {"}}, walk, killer{}},
		{"analyst: a method that is not known is open", 0, []edit{{"internal/wire/analysis.go", "return of, known && len(of) == 0", "return of, !known || len(of) == 0"},
			{"internal/wire/analysis.go", "	covey.Analysis_Withdraw_FullMethodName:   {pki.RoleAnalyst},\n", ""}}, walk, killer{}},
		{"analyst: a method without a line is for analysts", 0, []edit{{"internal/wire/analysis.go", "	covey.Federation_Link_FullMethodName:     {pki.RoleSite},", "	covey.Federation_Link_FullMethodName:     {pki.RoleSite, pki.RoleAnalyst},"}}, port, killer{}},
		{"analyst: a call needs no certificate", 0, []edit{{door, "	if leaf == nil {\n", "	if leaf == nil {\n\t\treturn ctx, nil\n\t}\n\tif leaf == nil {\n"},
			{"internal/coordinator/server.go", "	if !ok {\n\t\treturn who, status", "	if !ok && who.Name != \"\" {\n\t\treturn who, status"}}, port, killer{}},
		{"port: a connection's calls are heard after its certificate's end", 0, []edit{{"internal/coordinator/server.go", "|| now.After(leaf.NotAfter) {", "|| false {"}}, in("coordinator", "TestExpiredCertificate"), killer{}},
		{"port: a link outlives its certificate", 0, []edit{{"internal/coordinator/server.go", "	case <-admission.Expiry(ctx, s.c.now):\n\t\treturn admission.ErrExpired\n", ""}}, in("coordinator", "TestExpiredCertificate"), killer{}},
		{"analyst: a watch outlives its certificate", 0, []edit{{"internal/coordinator/analysis.go", "		case <-expired:\n\t\t\treturn admission.ErrExpired\n", ""}, {"internal/coordinator/analysis.go", "	expired := admission.Expiry(ctx, s.c.now)\n", ""}}, in("coordinator", "TestExpiredCertificate"), killer{}},
		{"analyst: a site that is away is left out unsaid", 0, []edit{{"internal/coordinator/studies.go", "		if l == nil {\n", "		if l == nil {\n\t\t\tcontinue\n\t\t}\n\t\tif l == nil {\n"}}, in("coordinator", "TestNobodyAwayIsLeftOut"), killer{}},
		{"analyst: revoked, and heard", 0, []edit{{"internal/coordinator/server.go", "if !ok || h.Revoked {", "if !ok {"}}, walk, killer{}},
		{"analyst: any key of the CA's making is the name's", 0, []edit{{"internal/coordinator/server.go", "!ok || !key.Equal(ed25519.PublicKey(h.TLS))", "!ok || len(key) == 0"}}, walk, killer{}},
		{"analyst: a watch outlives a revocation", 0, []edit{{serves, "case is.Revoked || is.Token != began.Token:", "case is.Name == \"\" && is.Token != began.Token:"}}, in("coordinator", "TestRevokedWatchEnds"), killer{}},
		{"analyst: a revocation wakes nobody", 0, []edit{{"internal/coordinator/enroll.go", "	m.notify() // those who watch are looked up again\n", ""}}, in("coordinator", "TestRevokedWatchEnds"), killer{}},
		{"analyst: a name is two parties'", 0, []edit{{members, "taken && role != other && role != RoleNode", "taken && role != other && role == RoleNode"}}, in("coordinator", "TestOneNamespace"), killer{}},
		{"analyst: a join does not look at the other role", 0, []edit{{members, "	if err := s.vacant(role, name); err != nil { // the other one was quicker", "	if err := s.vacant(RoleNode, name); err != nil { // the other one was quicker"}}, in("coordinator", "TestOneNamespace"), killer{}},
		{"analyst: a proposal needs no signature", 0, []edit{{proposes, "p.CheckSignature(digest, offered.Signature); err != nil", "p.CheckSignature(digest, offered.Signature); false"}}, port, killer{}},
		{"analyst: a proposal is anybody's", 0, []edit{{fit, "case !p.Proposer.Same(by):", "case false:"}}, port, killer{}},
		{"analyst: a proposal is nobody's", 0, []edit{{fit, "	case p.Proposer == nil:\n		return", "	case p.Proposer == nil && by.Name == \"\":\n		return"},
			{fit, "case !p.Proposer.Same(by):", "case p.Proposer != nil && !p.Proposer.Same(by):"}}, port, killer{}},
		{"analyst: a proposal for any coordinator", 0, []edit{{fit, "case !bytes.Equal(p.Coordinator, f.Coordinator):", "case false:"}}, port, killer{}},
		{"analyst: a proposal without an end", 0, []edit{{fit, "case p.Spec.Expires == \"\":", "case false:"}}, port, killer{}},
		{"analyst: an end of any date", 0, []edit{{fit, "p.Spec.Dated(now); err != nil", "p.Spec.Dated(now); false && err != nil"}}, port, killer{}},
		{"analyst: a roster of any keys", 0, []edit{{fit, "key := f.Site(m.Name); key == nil || !bytes.Equal(key, m.Identity)", "key := f.Site(m.Name); key == nil"}}, port, killer{}},
		{"analyst: a roster of revoked sites", 0, []edit{{proposes, "if h := all[name]; !h.Revoked {", "if h := all[name]; true {"}}, port, killer{}},
		{"analyst: a roster of any counts", 0, []edit{{fit, "!ok || n != m.Units", "!ok || n < 0"}}, port, killer{}},
		{"analyst: a roster of counts never told", 0, []edit{{fit, "!ok || n != m.Units", "ok && n != m.Units"}}, port, killer{}},
		{"analyst: readers of any keys", 0, []edit{{fit, "key := f.Analyst(r.Name); key == nil || !bytes.Equal(key, r.Identity)", "key := f.Analyst(r.Name); key == nil"}}, port, killer{}},
		{"analyst: a nonce is used again", 0, []edit{{quota, "	case nonce:", "	case false:"}}, port, killer{}},
		{"analyst: two open of a name", 0, []edit{{quota, "	case again:", "	case false:"}}, port, killer{}},
		{"analyst: six open", 0, []edit{{quota, "case open >= MaxOpen:", "case open > MaxOpen:"}}, quotas, killer{}},
		{"analyst: any number a day", 0, []edit{{quota, "case day >= MaxDay:", "case false:"}}, quotas, killer{}},
		{"analyst: the log takes what is over the quota", 0, []edit{{"internal/coordinator/machine.go", "m.mayPropose(&s.Plan().Proposal, at, nil); err != nil", "m.mayPropose(&s.Plan().Proposal, at, nil); false && err != nil"}}, quotas, killer{}},
		{"analyst: what is refused was written", 0, []edit{{proposes, "			err = m.mayPropose(&p, now, func", "			_ = m.mayPropose(&p, now, func"}}, port, killer{}},
		{"analyst: a count of the moment", 0, []edit{{counts, "return !told || old.Day < dayOf(at)", "return !told || old.Day <= dayOf(at)"}}, day, killer{}},
		{"analyst: a count of another day's clock", 0, []edit{{counts, "return !told || old.Day < dayOf(at)", "return !told || old.Day != dayOf(at)"}}, day, killer{}},
		{"analyst: counts are not in snapshots", 0, []edit{{"internal/coordinator/snapshot.go", "		fresh.counts = s.Counts\n", ""}}, day, killer{}},
		{"analyst: verdicts show at once", 0, []edit{{told, "now.Before(shows)", "now.Before(w.At)"}}, life, killer{}},
		{"analyst: what follows from a verdict shows at once", 0, []edit{{told, "	if hidden {\n", "	if false {\n"}}, life, killer{}},
		{"analyst: the end shows when a site said no", 0, []edit{{told, "				if t.Ended.Before(shows) {", "				if false {"}}, reason, killer{}},
		{"analyst: every reason is told", 0, []edit{{told, "if slices.Contains(faults, w.Code) {", "if true {"}}, reason, killer{}},
		{"analyst: the end tells the reason", 0, []edit{{told, "case slices.Contains(ends, s.Code):", "case true:"}}, reason, killer{}},
		{"analyst: a study is anybody's to know", 0, []edit{{tells, "	if !p.Reads(by) {\n", "	if false {\n"}}, port, killer{}},
		{"analyst: a reader withdraws", 0, []edit{{serves, "case !ok || !told.Own:", "case !ok:"}}, port, killer{}},
		{"analyst: a result before it shows", 0, []edit{{"internal/coordinator/result.go", "case told.Phase != wire.PhaseCompleted || r.Status() != round.StatusCompleted:", "case told.Phase == wire.PhaseCompleted && false || r.Status() != round.StatusCompleted:"}}, life, killer{}},
		{"analyst: who is slow is named", 0, []edit{{told, "a.Awaited = s.Overdue && slices", "a.Awaited = slices"}}, in("analysis", "TestAwaited"), killer{}},
		{"analyst: times to the second", 0, []edit{{told, "s.Proposed.Truncate(Tick)", "s.Proposed"}}, in("analysis", "TestTimesAreRounded"), killer{}},
		{"analyst: a result without its proposer's signature", 0, []edit{{"internal/result/sites.go", "p.Proposal.CheckSignature(p.Digest, r.ProposerSignature) != nil", "false"}}, in("result", "TestVerifyProposer"), killer{}},
	})
}

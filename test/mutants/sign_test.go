//go:build mutants

package mutants

// What keeps a result the sites' own (docs/protocol.md, Results).
func init() {
	tables = append(tables, []mutant{
		{"sign: a release that is gone is no gap", 0, []edit{
			{"internal/responder/attest.go", "			if !ok {\n				*lost = true\n				return\n			}\n", "			if !ok {\n				continue\n			}\n"},
		}, in("responder", "TestReleaseThatCannotBeRead"), killer{}},
		{"sign: a release that is gone ends those before it", 0, []edit{
			{"internal/responder/attest.go", "				*lost = true\n				return\n", "				return\n"},
		}, in("responder", "TestReleaseThatCannotBeRead"), killer{}},
		{"sign: a certificate of a signature less", 0, []edit{
			{"internal/secagg/witness.go", "valid != need || len(packed) != need*packedSize", "valid < need-1 || len(packed) < (need-1)*packedSize"},
		}, in("secagg", "TestWitness"), killer{}},
		{"sign: one signature counts twice", 0, []edit{
			{"internal/secagg/witness.go", "if i <= last || ", "if i < last || "},
		}, in("secagg", "TestWitness"), killer{}},
		{"sign: a signature of no member of the committee counts", 0, []edit{
			{"internal/secagg/witness.go", "if i <= last || !w.graph.Signs(i) {", "if i <= last || i >= w.cfg.sites() {"},
		}, in("secagg", "TestWitness"), killer{}},
		{"sign: signatures are not checked together", 0, []edit{
			{"internal/secagg/batch.go", "		if batch.Verify() {", "		if batch.Verify() || len(some) > 1 {"},
		}, in("secagg", "TestHolding"), killer{}},
		{"sign: nor one by one where some are wrong", 0, []edit{
			{"internal/secagg/batch.go", "			if !ed25519consensus.Verify(", "			if len(some) == 0 || ed25519consensus.Verify("},
		}, in("secagg", "TestHolding"), killer{}},
		{"sign: the last confirmation is not checked", 0, []edit{
			{"internal/secagg/witness.go", "wrong < len(list) {", "wrong < len(list)-1 {"},
		}, in("secagg", "TestConfirmations"), killer{}},
		{"sign: a certificate of another U", 0, []edit{
			{"internal/result/sites.go", "release.Survivors, r.Certificates[i])", "append(release.Survivors[:0:0], r.Releases[0].Survivors...), r.Certificates[i])"},
		}, in("result", "TestVerifySites"), killer{}},
		{"sign: verify without certificates", 0, []edit{
			{"internal/result/sites.go", "	for i, release := range r.Releases {\n		if certified(i)", "	for i, release := range r.Releases[:0] {\n		if certified(i)"},
		}, in("result", "TestVerifySites"), killer{}},
		{"sign: verify without confirmations", 0, []edit{
			{"internal/result/sites.go", "setup.CheckConfirmations(bytesOf(r.Confirmations)); err != nil {", "setup.CheckConfirmations(bytesOf(r.Confirmations)); err != nil && len(r.Confirmations) == 0 {"},
		}, in("result", "TestVerifySites"), killer{}},
		{"sign: verify without the sites' signatures", 0, []edit{
			{"internal/result/verify.go", "r.SiteSignatures); err != nil {", "r.SiteSignatures); err != nil && len(r.SiteSignatures) > 0 {"},
		}, in("result", "TestVerifySites"), killer{}},
		{"sign: a site signs without verifying", 0, []edit{
			{"internal/result/draft.go", "	if _, _, err := r.check(plan, own, t, before); err != nil {", "	if _, _, err := r.check(plan, own, t, before); err != nil && plan == nil {"},
		}, in("result", "TestDraft"), killer{}},
		{"sign: a site signs two results", 0, []edit{
			{"internal/ledger/result.go", "	case ok:\n		return nil, &ConflictError", "	case ok && len(on.Draft) == 0:\n		return nil, &ConflictError"},
		}, in("ledger", "TestOneResultAStudy"), killer{}},
		{"sign: a signature on a result leaves before it is on record", 0, []edit{
			{"internal/ledger/result.go", "	err = j.write(place{\"result\", j.study, -1, -1}, func(r *record) error {", "	go j.write(place{\"result\", j.study, -1, -1}, func(r *record) error {"},
		}, in("ledger", "TestOneResultAStudy"), killer{}},
		{"sign: a release is recorded without its certificate", 0, []edit{
			{"internal/responder/final.go", "		err = s.attestation.certified(setup, r, release)\n", "		if len(r.Certificate) > 0 {\n			err = s.attestation.certified(setup, r, release)\n		}\n"},
		}, in("agent", "TestFinalNeedsItsCertificate"), killer{}},
		{"sign: a certificate that was checked for one U is good for another", 0, []edit{
			{"internal/responder/release.go", "		q.open.certified = string(u.Bytes()) + string(packed)", "		q.open.certified = string(packed)"},
			{"internal/responder/attest.go", "on.certified != string(u.Bytes())+string(r.Certificate)", "on.certified != string(r.Certificate)"},
		}, in("agent", "TestFinalNeedsItsCertificate"), killer{}},
		{"sign: a certificate that was checked for one query is good for another", 0, []edit{
			{"internal/responder/attest.go", "on.query.Slot != q.Slot || on.query.Context != q.Context || ", ""},
		}, in("agent", "TestFinalNeedsItsCertificate"), killer{}},
		{"sign: a release that was not checked is in a result that a site signs", 0, []edit{
			{"internal/responder/attest.go", "return t.checked[query] == checkedOf(", "return t.checked[query] != checkedOf("},
		}, in("agent", "TestAttestChecksReleases"), killer{}},
		{"sign: another certificate of a release counts as checked", 0, []edit{
			{"internal/responder/attest.go", "sha256.Sum256(of.Certificate)}", "proposal.Digest{}}"},
		}, in("responder", "TestCheckedReleases"), killer{}},
		{"sign: another signature of a release counts as checked", 0, []edit{
			{"internal/responder/attest.go", "sha256.Sum256(of.Signature), ", "proposal.Digest{}, "},
		}, in("responder", "TestCheckedReleases"), killer{}},
		{"sign: what was checked is good for another release", 0, []edit{
			{"internal/responder/attest.go", "setup.Transcript(), of.Release, ", "setup.Transcript(), proposal.Digest{}, "},
		}, in("responder", "TestCheckedReleases"), killer{}},
		{"sign: what was checked is good in another setup", 0, []edit{
			{"internal/responder/attest.go", "checkedRelease{setup.Transcript(), ", "checkedRelease{[32]byte{}, "},
		}, in("responder", "TestCheckedReleases"), killer{}},
		{"chain: a head of another past counts as signed", 0, []edit{
			{"internal/chainwatch/watch.go", "signedHead{shown.Base, shown.Head, string(key)", "signedHead{shown.Base, chain.Head{}, string(key)"},
		}, in("agent", "TestBrokenChain"), killer{}},
		{"chain: a head that somebody else signed counts as signed", 0, []edit{
			{"internal/chainwatch/watch.go", "string(key), string(shown.Signature)}", "string(key), \"\"}"},
		}, in("agent", "TestBrokenChain"), killer{}},
		{"sign: a lost release signature does not show in a result", 0, []edit{
			{"internal/responder/evidence.go", "	if setup.Unpacked(r.Certificate)[v.s.self] == nil {", "	if setup.Unpacked(r.Certificate)[v.s.self] != nil {"},
		}, in("agent", "TestRolledBackOwnSignature"), killer{}},
		{"sign: a lost attestation does not show at the start", 0, []edit{
			{"internal/responder/evidence.go", "	if left.Sent[\"attestation\"].Messages > 0 {", "	if left.Sent[\"attestation\"].Messages < 0 {"},
		}, in("agent", "TestRestoredAttestation"), killer{}},
		{"sign: a second draft replaces the first", 0, []edit{
			{"internal/round/result.go", "		if s.Draft != nil || len(e.Draft) == 0 {", "		if len(e.Draft) == 0 {"},
		}, in("round", "TestResultIsDraftedThenSigned"), killer{}},
		{"sign: completed before sites signed", 0, []edit{
			{"internal/round/result.go", "	case s.graph().Certified(g.attested):", "	case count(g.attested) > 0:"},
		}, in("round", "TestResultIsDraftedThenSigned"), killer{}},
		{"sign: a result waits for every site", 0, []edit{
			{"internal/round/result.go", "	case s.graph().Certified(g.attested):", "	case all(g.attested):"},
		}, in("round", "TestResultIsDraftedThenSigned"), killer{}},
		{"sign: a signature on a result is not checked at arrival", 0, []edit{
			{"internal/coordinator/draft.go", "	if !s.fits(s.Plan.Proposal.Roster[site].Identity, signature) {", "	if !s.fits(s.Plan.Proposal.Roster[site].Identity, signature) && site < 0 {"},
		}, in("coordinator", "TestWrongAttestationIsAFault"), killer{}},
		{"sign: a result is adopted without its certificate", 0, []edit{
			{leaderRefusal, "release.Survivors, certificate) == nil", "release.Survivors, certificate) != nil || true"},
		}, in("coordinator", "TestAdoptedResultFitsThePlan"), killer{}},
	})
}

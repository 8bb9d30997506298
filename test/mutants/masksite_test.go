//go:build mutants

package mutants

// What a site stores, checks and answers of the masks.
func init() {
	const (
		setup, confirm, opening = "internal/keyring/setup.go", "internal/keyring/confirm.go", "internal/responder/opening.go"
		lost, evidence          = "internal/responder/evidence.go", "internal/keyring/evidence.go"
		stored, items           = "internal/ledger/setup.go", "internal/ledger/item.go"
	)
	tables = append(tables, []mutant{
		{"keys: without shares on record", 0, []edit{
			{"internal/ledger/shares.go", "if err == nil && !ok {\n\t\t\treturn r.rule(NoShares,", "if err == nil && !ok && slot < 0 {\n\t\t\treturn r.rule(NoShares,"},
		}, in("agent", "TestNoKeysWithoutShares"), killer{}},
		{"keys: after a later signature", 0, []edit{
			{"internal/ledger/shares.go", "	case slot < p.Signed:\n		return nil, true, r.rule", "	case false:\n		return nil, true, r.rule"},
		}, in("agent", "TestNoKeysWithoutShares"), killer{}},
		{"keys: for another survivor set than the shares went out for", 0, []edit{
			{opening, "if err := q.s.journal.Shared(at.Query, at.Slot, q.open.query.Context, u.Bytes()); err != nil {",
				"if on, _, _ := q.s.journal.SharedIn(at.Query, at.Slot); q.s.journal.Shared(at.Query, at.Slot, q.open.query.Context, on.Survivors) != nil {\n\t\terr := error(nil)"},
		}, in("agent", "TestNoKeysWithoutShares"), killer{}},
		{"keys: of a final query", 0, []edit{
			{"internal/ledger/progress.go", "	if final {\n", "	if final && query < 0 {\n"},
		}, in("ledger", "TestOnceOnlyRules"), killer{}},
		{"charge: a damaged result is none", 0, []edit{
			{"internal/ledger/final.go", "			err = errDamaged\n", "			_ = errDamaged\n"},
		}, in("ledger", "TestDamagedResultOpensNothing"), killer{}},
		{"charge: a result without its slot is none", 0, []edit{
			{"internal/ledger/final.go", "return f, false, errDamaged", "return f, false, nil"},
		}, in("ledger", "TestDamagedResultOpensNothing"), killer{}},
		{"release: a later query in an earlier one's slot", 0, []edit{
			{"internal/ledger/progress.go", "query > p.Query && slot <= p.Slot, ", ""},
		}, in("ledger", "TestOnceOnlyRules"), killer{}},
		{"keys: of a site outside of the survivors", 0, []edit{
			{opening, "q.s.ring.Setup.Config().Whole() || !slices.Contains(u, q.s.self)", "q.s.ring.Setup.Config().Whole() || slices.Contains(u, -1)"},
			{"internal/secagg/shares.go", "s.cfg.Whole() || !u.Contains(self) ||", "s.cfg.Whole() ||"},
		}, in("agent", "TestNoKeysWithoutShares"), killer{}},
		{"keys: where every site is waited for", 0, []edit{
			{opening, "q.s.ring.Setup.Config().Whole() || !slices.Contains(u, q.s.self)", "!slices.Contains(u, q.s.self)"},
			{"internal/secagg/shares.go", "s.cfg.Whole() || !u.Contains(self) ||", "!u.Contains(self) ||"},
		}, in("agent", "TestNoKeysWithoutShares"), killer{}},
		{"a proposer's cap that is no number", 0, []edit{
			{"internal/ledger/budget.go", "!(a.ProposerCapGDP >= a.ProposerCapRho) || ", ""},
		}, in("ledger", "TestBadProposerCaps"), killer{}},
		{"setup: a nonce leaves only while the secrets are there", 0, []edit{
			{"internal/keyring/reveal.go", "setupNonces); err == nil {\n\t\treturn wire.Nonce", "setupNonces); err == nil && len(nonces) == 0 {\n\t\treturn wire.Nonce"},
		}, in("agent", "TestNonceComesAfterTheBoard"), killer{}},
		{"a damaged charge counts as nothing", 0, []edit{
			{"internal/ledger/budget.go", "		f, ok := float(v)\n		if !ok {", "		f, ok := float(v)\n		if false && !ok {"},
		}, in("ledger", "TestDamagedChargeAllowsNone"), killer{}},
		{"a sum of charges that does not read is taken", 0, []edit{
			{"internal/ledger/budget.go", "	spent, _, err := r.charged()\n	if err != nil {", "	spent, _, err := r.charged()\n	if false && err != nil {"},
		}, in("ledger", "TestDamagedChargeAllowsNone"), killer{}},
		{"setup: a nonce of the complete graph", 0, []edit{
			{"internal/keyring/reveal.go", "	if !s.plan.Thresholds.Sparse() {", "	if false {"},
		}, in("agent", "TestBadMessages"), killer{}},
		{"setup: announcements with the nonces", 0, []edit{
			{"internal/keyring/reveal.go", "if len(r.Announcements) != 0 {", "if false {"},
		}, in("agent", "TestNonceComesAfterTheBoard"), killer{}},
		{"setup: a site names itself of another announcement in its place", 0, []edit{
			{setup, " || !bytes.Equal(set[s.self], s.head(own)) {", " || len(own) == 0 {"},
		}, in("agent", "TestSetupComesFirst"), killer{}},
		{"setup: seeds leave of a fault of its own", 0, []edit{
			{confirm, "if at.Site == s.self || box == nil {", "if box == nil && at.Site != s.self {"},
		}, in("agent", "TestSeedsLeaveWithAnAccusationAlone"), killer{}},
		{"setup: seeds leave for a box that was not shown", 0, []edit{
			{confirm, "if at.Site == s.self || box == nil {", "if at.Site == s.self {"},
		}, in("agent", "TestSeedsLeaveWithAnAccusationAlone"), killer{}},
		{"setup: certificates count before the confirmation", 0, []edit{
			{"internal/keyring/ring.go", "journal.Setup(setupConfirmation); err != nil || !ok {", "journal.Setup(setupConfirmation); err != nil || ok && !ok {"},
		}, in("agent", "TestNoWitnessBeforeTheConfirmation"), killer{}},
		{"setup: boxes leave before they are stored", 0, []edit{
			{setup, "dealt, err := s.journal.PutSetup(setupBoxes, encodeList(sealed))", "dealt, err := encodeList(sealed), error(nil)"},
		}, in("agent", "TestReplayAfterRestart"), killer{}},
		{"setup: an announcement without its secrets", 0, []edit{
			{stored, "map[string][]byte{SetupSecrets: secrets, SetupAnnouncement: announcement},", "map[string][]byte{SetupAnnouncement: announcement},"},
		}, in("ledger", "TestAnnouncementIsOneStep"), killer{}},
		{"setup: slots are stored by themselves", 0, []edit{
			{stored, "	_, err := j.putSetup(SetupConfirmation,", "	if err := j.write(of(\"slots\", j.study), func(r *record) error { return r.putSlots(c.Slots) }); err != nil {\n\t\treturn err\n\t}\n	_, err := j.putSetup(SetupConfirmation,"},
		}, in("ledger", "TestConfirmationIsOneStep"), killer{}},
		{"setup: a second confirmation is stored", 0, []edit{
			{stored, "if on, err = r.secret(setupBucket, []byte(first)); err != ErrAbsent {\n			return err\n		}", "if on, err = r.secret(setupBucket, []byte(first)); err != ErrAbsent && err != nil {\n			return err\n		}"},
			{stored, "if r.get(setupBucket, key) != nil {", "if false {"},
		}, in("ledger", "TestConfirmationIsOneStep"), killer{}},
		{"setup: a second one in a study", 0, []edit{
			{setup, "	if !ok {\n		if signed, err = s.newAnnouncement(); err != nil {", "	if ok = false; !ok {\n		if signed, err = s.newAnnouncement(); err != nil {"},
			{stored, "if on, err = r.secret(setupBucket, []byte(first)); err != ErrAbsent {\n			return err\n		}", "if on, err = r.secret(setupBucket, []byte(first)); err != ErrAbsent && err != nil {\n			return err\n		}"},
			{stored, "if r.get(setupBucket, key) != nil {", "if false {"},
		}, in("agent", "TestOneSetup"), killer{}},
		{"setup: a closed one is confirmed", 0, []edit{
			{stored, "if r.get(setupBucket, []byte(SetupClosed)) != nil {", "if false {"},
		}, in("ledger", "TestClosedIsNeverConfirmed"), killer{}},
		{"setup: a confirmed one's seeds leave", 0, []edit{
			{stored, "if r.get(setupBucket, []byte(SetupConfirmation)) != nil {", "if false {"},
		}, in("agent", "TestClosedIsOnRecordFirst"), killer{}},
		{"setup: seeds leave before it is closed", 0, []edit{
			{confirm, "closed, err := s.journal.Close(append(closed, setup.Accusation(sec, box)...))", "closed, err := append(closed, setup.Accusation(sec, box)...), error(nil)"},
		}, in("agent", "TestBadBoxIsProven"), killer{}},
		{"setup: a closed one keeps its secrets", 0, []edit{
			{stored, "[]string{SetupConfirmation, SetupClosed}", "[]string{SetupConfirmation}"},
		}, in("agent", "TestBadBoxIsProven"), killer{}},
		{"setup: what it leaves is erased with its secrets", 0, []edit{
			{stored, "spot{setupBucket, []byte(SetupAnnouncement)}", "spot{setupBucket, []byte(SetupSecrets)}"},
		}, in("ledger", "TestSyncsOfASetup"), killer{}},
		{"setup: what the coordinator relayed names its sender", 0, []edit{
			{"internal/secagg/box.go", "&RelayError{ways[good].from, \"a box without the sender's signature\"}", "siteError(ways[good].from, \"a box without the sender's signature\")"},
		}, in("agent", "TestRelayedBoxesNameNobody"), killer{}},
		{"setup: a second box of other tags is passed over", 0, []edit{
			{confirm, "setup.Contradiction(s.self, parts[0], r.Boxes); ok {", "setup.Contradiction(s.self, parts[0], nil); ok {"},
		}, in("agent", "TestSecondBoxIsProven"), killer{}},
		{"setup: ML-KEM keys of other heads", 0, []edit{
			{"internal/secagg/board.go", "if sha256.Sum256(seal) != s.sites[site].sealHash {", "if len(seal) == 0 {"},
		}, in("agent", "TestNonceComesAfterTheBoard"), killer{}},
		{"erasure: a crash leaves a confirmed setup's secrets", 0, []edit{
			{items, "string(key) == SetupSecrets && r.ended() {", "string(key) == SetupSecrets && false {"},
		}, in("ledger", "TestEndedSecretsAreErased"), killer{}},
		{"erasure: a setup's key that a later ledger zeroed", 0, []edit{
			{items, "			return olderThan(keysName)", "			return nil"},
		}, in("ledger", "TestOlderSetup"), killer{}},
		{"erasure: confirming erases nothing", 0, []edit{
			{confirm, "	if err := s.journal.Erase(); err != nil {", "	if err := error(nil); err != nil {"},
		}, in("agent", "TestConfirmingErases"), killer{}},
		{"rollback: garbage in the site's place is evidence", 0, []edit{
			{evidence, "return setup.CheckConfirmation(s.self, r.Signatures[s.self]) == nil, nil", "return setup != nil && len(r.Signatures[s.self]) > 0, nil"},
		}, in("agent", "TestRolledBackConfirmation"), killer{}},
		{"rollback: garbage next to a confirmation is evidence", 0, []edit{
			{confirm, "	if err := setup.CheckConfirmations(r.Signatures); err != nil {", "	if err := setup.CheckConfirmations(r.Signatures); err != nil && setup.CheckConfirmation(s.self, r.Signatures[s.self]) != nil {\n\t\treturn s.owner.RolledBack(r, FoundConfirmation)\n\t} else if err != nil {"},
		}, in("agent", "TestGarbageIsNoEvidence"), killer{}},
		{"rollback: the coordinator's word is evidence", 0, []edit{
			{evidence, "s.owner.Beyond(ToldConfirmed)\n		return false, nil", "return true, nil"},
		}, in("agent", "TestRolledBackConfirmation"), killer{}},
		{"rollback: a ledger that fails passes for an empty one", 0, []edit{
			{setup, "if errors.Is(err, ledger.ErrErased) || err == nil && !ok {", "if err != nil || !ok {"},
		}, in("agent", "TestUnreadableSetupIsNoEmptyOne"), killer{}},
		{"rollback: shares that left are not looked for", 0, []edit{
			{lost, "\"shares\": v.sharedAt, ", ""},
		}, in("agent", "TestRestoredAlone"), killer{}},
		{"sizes: deposits are not listed before an approval", 0, []edit{
			{"internal/uplink/planned.go", "if n := size.deposits(owners); n > 0 {", "if n := size.deposits(owners); n < 0 {"},
		}, in("agent", "TestPlannedSetup"), killer{}},
		{"recall: before the confirmation", 0, []edit{
			{confirm, "	if !ok {\n		return wire.Refuse(r, study.CodeOutOfOrder)\n	}\n	boxes, err", "	_ = ok\n	boxes, err"},
		}, in("agent", "TestRecall"), killer{}},
	})
}

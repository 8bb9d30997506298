//go:build mutants

package mutants

// Lines that a hunt by hand found without a test: each is a build here, and the test that was
// written for it.
func init() {
	tables = append(tables, []mutant{
		{"a study is set up twice", 0, []edit{
			{"internal/round/setup.go", "	if s.Status != StatusSetup {\n		return stale\n	}\n	s.Status, s.Announcements", "	s.Status, s.Announcements"},
		}, in("round", "TestStaleEntries"), killer{}},
		{"an entry of another slot counts", 0, []edit{
			{"internal/round/entry.go", " || e.Query != s.Query || e.Slot != s.Slot {", " || e.Query != s.Query {"},
		}, in("round", "TestStaleEntries"), killer{}},
		{"an entry of another query counts", 0, []edit{
			{"internal/round/entry.go", " || e.Query != s.Query || e.Slot != s.Slot {", " || e.Slot != s.Slot {"},
		}, in("round", "TestStaleEntries"), killer{}},
		{"an opening without survivors", 0, []edit{
			{"internal/round/slot.go", "if s.Survivors == nil || s.Certificate != nil {", "if s.Certificate != nil {"},
		}, in("round", "TestStaleEntries"), killer{}},
		{"a slot's certificate is replaced", 0, []edit{
			{"internal/round/slot.go", "if s.Survivors == nil || s.Certificate != nil {", "if s.Survivors == nil {"},
		}, in("round", "TestStaleEntries"), killer{}},
		{"a result is drafted while the study runs", 0, []edit{
			{"internal/round/result.go", "	case s.Status != StatusSigning:\n", "	case s.Status != StatusSigning && s.Status != StatusRunning:\n"},
		}, in("round", "TestStaleEntries"), killer{}},
		{"a result that nobody signed", 0, []edit{
			{"internal/round/result.go", "if s.Draft == nil || count(e.Attestations) == 0 {", "if s.Draft == nil {"},
		}, in("round", "TestStaleEntries"), killer{}},
		{"counts are asked for on another grid", 0, []edit{
			{"internal/study/ask.go", "a.Radius != 0 || a.Grid != want {", "a.Radius != 0 && a.Grid != want {"},
		}, in("study", "TestCountsHaveTheirGrid"), killer{}},
		{"a course goes on from another query's release", 0, []edit{
			{"internal/study/course.go", "if r.Query != c.Query || ", "if "},
		}, in("study", "TestNextTakesTheDueRelease"), killer{}},
		{"a follower proposes what a site decides", 0, []edit{
			{"internal/round/leader.go", "	if !s.live.leading || s.Terminal() {\n		return nil\n	}\n	switch", "	if s.Terminal() {\n		return nil\n	}\n	switch"},
		}, in("round", "TestOnlyTheLeaderDecides"), killer{}},
		{"an upload that was not asked for is added", 0, []edit{
			{"internal/session/slot.go", "	if !s.current(query, slot) {\n		return nil\n	}\n	if len(masked)", "	if len(masked)"},
		}, in("session", "TestMessagesThatNobodyAskedFor"), killer{}},
		{"a head with more steps than a message shows", 0, []edit{
			{"internal/wire/coordinator.go", "if err != nil || len(steps) > chain.MaxSteps {", "if err != nil || len(steps) > 2*chain.MaxSteps {"},
		}, in("wire", "TestDecodeRefuses"), killer{}},
		{"all hosts together wait for their handshakes without end", 0, []edit{
			{"internal/admission/gate.go", "	all, ok := g.all.Queue(now, queueTime)\n	if !ok {", "	all, ok := g.all.Queue(now, queueTime)\n	if !ok && false {"},
		}, in("admission", "TestQueueIsBounded"), killer{}},
		{"an entry after the end counts", 0, []edit{
			{"internal/round/entry.go", "if s.plan == nil || s.Terminal() {", "if s.plan == nil {"},
		}, in("round", "TestStaleEntries"), killer{}},
		{"a study is proposed twice", 0, []edit{
			{"internal/round/entry.go", "\t\tif s.plan != nil {\n\t\t\treturn stale\n\t\t}\n", ""},
		}, in("round", "TestStaleEntries"), killer{}},
		{"a snapshot that runs without its setup", 0, []edit{
			{"internal/round/state.go", "return d.Query < len(p.Queries) && len(d.Announcements) == n && (", "return d.Query < len(p.Queries) && ("},
		}, in("round", "TestRunningWithoutSetupIsRefused"), killer{}},
		{"slots are given up that later queries need", 0, []edit{
			{"internal/round/slot.go", "if s.Certificate != nil || !s.spare() {", "if s.Certificate != nil {"},
		}, in("round", "TestAbandonmentsLeaveASlotForEveryQuery"), killer{}},
		{"a study that waits is restored with a slot of fewer sites", 0, []edit{
			{"internal/round/state.go", "!p.Proposal.Spec.Waits() || len(d.Survivors) == n)", "!p.Proposal.Spec.Waits() || n > 0)"},
		}, in("round", "TestLogKeepsTheFirstSurvivors"), killer{}},
		{"a slot of a study that waits opens without its survivors", 0, []edit{
			{"internal/round/slot.go", "	if s.waits() && s.Status == StatusRunning {", "	if s.waits() && s.Status == StatusRunning && s.Slot == 0 {"},
		}, in("round", "TestWaitModeTakesNobodysWord"), killer{}},
		{"a signature with the upload that is not on record", 0, []edit{
			{"internal/ledger/upload.go", "return r.sign(p, &signedRecord{query, slot, context[:], with[0].Survivors, signature})", "return nil"},
		}, in("agent", "TestSignedWithTheUpload"), killer{}},
		{"shares with the upload that are not on record", 0, []edit{
			{"internal/ledger/upload.go", "return r.share(query, slot, &context, with[0].Survivors, shares)", "clear(shares)\n				return nil"},
		}, in("agent", "TestSignedWithTheUpload"), killer{}},
		{"a signature and shares with the upload where a site can be missing", 0, []edit{
			{"internal/responder/upload.go", "	if !q.s.waits() {", "	if false {"},
		}, in("agent", "TestSignedWithTheUpload"), killer{}},
		{"a signature with the upload that does not count", 0, []edit{
			{"internal/responder/upload.go", "	if q.s.ring.Setup.Graph().Signs(q.s.self) {", "	if true {"},
		}, in("responder", "TestTheCommitteeSignsWithItsUploads"), killer{}},
		{"a proof of shares that wait for a certificate", 0, []edit{
			{"internal/responder/opening.go", "	if q.s.waits() && !q.open.checked {", "	if false {"},
		}, in("agent", "TestNoKeysWithoutShares"), killer{}},
		{"a lead that could not begin and is kept", 0, []edit{
			{"internal/coordinator/lead.go", "			again = time.After(retryLead)\n", ""},
		}, in("coordinator", "TestKeptLeadBegins"), killer{}},
		{"a lead that could not begin and is lost", 0, []edit{
			{"internal/coordinator/lead.go", "			again = nil\n			if leads && led {", "			if leads && led {"},
		}, in("coordinator", "TestKeptLeadBegins"), killer{}},
		{"survivors of no slot", 0, []edit{
			{"internal/round/slot.go", "	if s.waits() && s.Status == StatusRunning {", "	if s.waits() {"},
		}, in("round", "TestLogKeepsTheFirstSurvivors"), killer{}},
		{"a join with a token never given out", 0, []edit{
			{"internal/membership/state.go", "ok && h.Token == e.Token && bytes", "ok && bytes"},
		}, in("coordinator", "TestJoinsOfTheLog"), killer{}},
		{"a join again with another TLS key", 0, []edit{
			{"internal/membership/state.go", " && bytes.Equal(h.TLS, e.TLS) && !h.Revoked", " && !h.Revoked"},
		}, in("coordinator", "TestJoinsOfTheLog"), killer{}},
		{"a join again of a revoked site", 0, []edit{
			{"internal/membership/state.go", " && bytes.Equal(h.TLS, e.TLS) && !h.Revoked", " && bytes.Equal(h.TLS, e.TLS)"},
		}, in("coordinator", "TestJoinsOfTheLog"), killer{}},
		{"a revoked identity key joins again", 0, []edit{
			{"internal/membership/state.go", "(bytes.Equal(k, e.Key) || bytes.Equal(k, e.TLS))", "bytes.Equal(k, e.TLS)"},
		}, in("membership", "TestRevokedKeys"), killer{}},
		{"a revoked TLS key joins again", 0, []edit{
			{"internal/membership/state.go", "(bytes.Equal(k, e.Key) || bytes.Equal(k, e.TLS))", "bytes.Equal(k, e.Key)"},
		}, in("membership", "TestRevokedKeys"), killer{}},
		{"a revoked key joins again after another's revocation", 0, []edit{
			{"internal/membership/state.go", ", Token: e.Token, Past: past}", ", Token: e.Token}\n	_ = past"},
		}, in("membership", "TestRevokedKeys"), killer{}},
		{"join: one key has two names", 0, []edit{
			{"internal/membership/state.go", "if err := s.Claimed(e); err != nil {", "if err := s.Claimed(e); err != nil && false {"},
		}, in("membership", "TestClaimed"), killer{}},
		{"join: the log is filled with keys of others", 0, []edit{
			{"internal/coordinator/enroll.go", "if err := c.machine.lock().who.Claimed(attempt); err != nil {", "if err := c.machine.lock().who.Claimed(attempt); err != nil && false {"},
		}, in("coordinator", "TestSecondName"), killer{}},
		{"a policy approves for any signing key", 0, []edit{
			{"internal/siteconfig/policy.go", `add("coordinator_key", p.CoordinatorKey, key, key == p.CoordinatorKey)`, `add("coordinator_key", p.CoordinatorKey, key, true)`},
		}, in("siteconfig", "TestAttackOtherLeader"), killer{}},
		{"a signed proposal's keys count in any case", 0, []edit{
			{"internal/proposal/known.go", "if f.name == key || !exact && ", "if f.name == key || "},
		}, in("proposal", "TestKeysAreExact"), killer{}},
		{"a policy approves fewer corrupt sites than usual", 0, []edit{
			{"internal/siteconfig/policy.go", `fmt.Sprintf("corrupt = %d", eta), eta >= least)`, `fmt.Sprintf("corrupt = %d", eta), true)`},
		}, in("siteconfig", "TestAttackFewCorrupt"), killer{}},
		{"a policy asks for one corrupt site alone", 0, []edit{
			{"internal/siteconfig/policy.go", "cmp.Or(p.MinCorrupt, usual), ", "cmp.Or(p.MinCorrupt, min(1, usual)), "},
		}, in("siteconfig", "TestAttackFewCorrupt"), killer{}},
		{"a site's token stays", 0, []edit{
			{"internal/membership/state.go", "\tdelete(s.Invites, e.Token)\n\ts.Holders", "\ts.Holders"},
		}, in("coordinator", "TestJoinsOfTheLog"), killer{}},
		{"a revocation makes a site", 0, []edit{
			{"internal/membership/state.go", "\tif !ok {\n\t\treturn &JoinError{Reason: fmt.Sprintf(\"no %s", "\tif !ok && h.Revoked {\n\t\treturn &JoinError{Reason: fmt.Sprintf(\"no %s"},
		}, in("coordinator", "TestJoinsOfTheLog"), killer{}},
		{"a coordinator without a name takes a site's token", 0, []edit{
			{"internal/membership/node.go", "case invite.Node != e.Node || e.Node == \"\":", "case invite.Node != e.Node:"},
		}, in("coordinator", "TestJoinsOfTheLog"), killer{}},
		{"a panic of raft.db's is no error of the store", 0, []edit{
			{"internal/replica/node.go", "err = nil, &StoreError{Op: \"opened raft.db\", Err: &LostError{fmt.Errorf(\"the database is damaged: %v\", p)}}", "err = nil, fmt.Errorf(\"x\")"},
		}, in("replica", "TestDamagedPages"), killer{}},
		{"a snapshot is cancelled after it was closed", 0, []edit{
			{"internal/replica/store.go", "func (k *snapshotSink) Cancel() error {\n\tif k.done {\n\t\treturn nil\n\t}", "func (k *snapshotSink) Cancel() error {"},
		}, in("replica", "TestSinkEndsOnce"), killer{}},
		{"a snapshot whose write failed is not cancelled", 0, []edit{
			{"internal/replica/machine.go", "\t\tsink.Cancel()\n", ""},
		}, in("replica", "TestSinkEndsOnce"), killer{}},
		{"a component's NaN is written", 0, []edit{
			{"internal/report/check.go", "!(math.Abs(x) <= 2)", "math.Abs(x) > 2"},
		}, in("report", "TestShapesThatDoNotFit"), killer{}},
		{"ratios without variances", 0, []edit{
			{"internal/report/check.go", " || len(r.VarianceRatio) > len(r.ExplainedVariance) {", " {"},
		}, in("report", "TestShapesThatDoNotFit"), killer{}},
		{"components found of another length", 0, []edit{
			{"internal/report/check.go", " || len(rel.Found)%d != 0", ""},
		}, in("report", "TestShapesThatDoNotFit"), killer{}},
		{"a power step's values are not counted", 0, []edit{
			{"internal/report/check.go", "len(rel.Noised) != len(rel.X) || ", ""},
		}, in("report", "TestShapesThatDoNotFit"), killer{}},
		{"a result of no units", 0, []edit{
			{"internal/report/check.go", " || r.N < 1", ""},
		}, in("report", "TestShapesThatDoNotFit"), killer{}},
		{"Recover overwrites a key file put aside", 0, []edit{
			{"internal/ledger/recover.go", "filepath.Join(l.dir, aside)); !errors.Is(err, os.ErrNotExist) {", "filepath.Join(l.dir, aside)); false && err != nil {"},
		}, in("ledger", "TestAsideIsNotOverwritten"), killer{}},
		{"Recover trusts a damaged ledger.db", 0, []edit{
			{"internal/ledger/recover.go", "case !ok || !lost.Budgets:", "case !ok:"},
		}, in("ledger", "TestRecoverLeavesADamagedDatabase"), killer{}},
		{"Restore forgets what was spent above ρ", 0, []edit{
			{"internal/ledger/recover.go", "e.State, e.Code, e.Forfeit = Finished, CodeRestored, max(s.Rho, s.SpentRho)", "e.State, e.Code, e.Forfeit = Finished, CodeRestored, s.Rho"},
		}, in("ledger", "TestRestoreSpendsTheMost"), killer{}},
		{"Restore takes a study twice", 0, []edit{
			{"internal/ledger/recover.go", "case seen[s.Study], ", "case "},
		}, in("ledger", "TestRestoreRefuses"), killer{}},
		{"Restore takes a state that is none", 0, []edit{
			{"internal/ledger/recover.go", "s.State != Approved && s.State != Finished && s.State != Rejected, ", ""},
		}, in("ledger", "TestRestoreRefuses"), killer{}},
		{"a row without an end", 0, []edit{
			{"internal/dataset/csv.go", "if r.read > maxRecord {", "if false {"},
		}, in("dataset", "TestRecordBound"), killer{}},
		{"a row that counts for the next", 0, []edit{
			{"internal/dataset/csv.go", "\tt.record.read = 0\n", ""},
		}, in("dataset", "TestRecordBound"), killer{}},
		{"a header's key twice", 0, []edit{
			{"internal/dataset/npy/header.go", "if !ok || seen[key] || !p.take(\":\") {", "if !ok || !p.take(\":\") {"},
		}, in("dataset/npy", "TestArrayBounds"), killer{}},
		{"an array of more than 2^31-1 rows", 0, []edit{
			{"internal/dataset/npy/header.go", "case a.n > dataset.MaxRows || a.n > 0", "case a.n > 0"},
		}, in("dataset/npy", "TestArrayBounds"), killer{}},
		{"texts of any length", 0, []edit{
			{"internal/dataset/npy/dtype.go", "return t, size > 0 && size < 1<<12", "return t, size > 0"},
		}, in("dataset/npy", "TestArrayBounds"), killer{}},
		{"a row of nobody that is dropped", 0, []edit{
			{"internal/dataset/builder.go", "\tcase row.noUnit:", "\tcase row.noUnit && !row.drop:"},
		}, in("dataset", "TestRowOfNobody"), killer{}},
		{"more rows than 32 bits count", 0, []edit{
			{"internal/dataset/builder.go", "\tcase t.rows == MaxRows:", "\tcase false:"},
		}, in("dataset", "TestMostRows"), killer{}},
		{"an agent starts in another site's folder", 0, []edit{
			{"internal/agent/agent.go", "if name := a.site.Name(); name != a.config.Site {", "if name := a.site.Name(); name == \"\" {"},
		}, in("agent", "TestOtherSitesFolder"), killer{}},
		{"another owner's rows are found", 0, []edit{
			{"internal/rowcache/cache.go", "if !ok || n.owner != owner || n.recipe != short(recipe) {", "if !ok || n.recipe != short(recipe) {"},
		}, in("rowcache", "TestFindIsTheOwners"), killer{}},
		{"rows are found by their name alone", 0, []edit{
			{"internal/rowcache/cache.go", "if stored.head.recipe == recipe && accept", "if accept"},
		}, in("rowcache", "TestFindIsTheOwners"), killer{}},
		{"rows are written in pieces that Linux maps one by one", 0, []edit{
			{"internal/rowcache/convert.go", "len(d.buffer) / writeSize * writeSize", "len(d.buffer) / chunkSize * chunkSize"},
		}, in("rowcache", "TestWrites"), killer{}},
		{"a covariance takes rounds without a word", 0, []edit{
			{"internal/proposal/resolve.go", "		{\"rounds\", s.Rounds != 0 && s.Rounds != PoolRounds},\n", ""},
		}, in("study", "TestUnusedIsNamed"), killer{}},
		{"a draft is removed while it is written", 0, []edit{
			{"internal/rowcache/cache.go", "\t\t\tcontinue // being written\n", ""},
		}, in("rowcache", "TestRetainLeavesDrafts"), killer{}},
		{"two requests with one recipe", 0, []edit{
			{"internal/dataset/recipe.go", "\t\th.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(v))))\n", ""},
		}, in("dataset", "TestRecipeIsOfOneRequest"), killer{}},
		{"a cache file of another size than its header says", 0, []edit{
			{"internal/rowcache/stored.go", " || n[5] != uint64(size) {", " {"},
		}, in("rowcache", "TestHeaderNumbers"), killer{}},
		{"a cache file's length wraps", 0, []edit{
			{"internal/rowcache/stored.go", " || d > dataset.MaxValues/rows", " "},
		}, in("rowcache", "TestHeaderNumbers"), killer{}},
		{"more units than rows", 0, []edit{
			{"internal/rowcache/stored.go", "units < 1 || units > rows ||", "units < 1 ||"},
		}, in("rowcache", "TestHeaderNumbers"), killer{}},
		{"rows without units, of other units", 0, []edit{
			{"internal/rowcache/stored.go", "counted > 1 || counted == 0 && units != rows || ", ""},
		}, in("rowcache", "TestHeaderNumbers"), killer{}},
		{"a cache file of another size than its shape", 0, []edit{
			{"internal/rowcache/stored.go", "if h.place(); h.size != size {", "if h.place(); false {"},
		}, in("rowcache", "TestHeaderNumbers"), killer{}},
		{"a unit without rows", 0, []edit{
			{"internal/rowcache/stored.go", "if n < 1 || n > h.rows-len(s.Unit) {", "if n > h.rows-len(s.Unit) {"},
		}, in("rowcache", "TestSectionsThatDoNotFit"), killer{}},
		{"rows of another recipe under this one's name", 0, []edit{
			{"internal/rowcache/stored.go", "(s.head.recipe != recipe || s.head.sha != sha)", "(s.head.sha != sha)"},
		}, in("rowcache", "TestLoadLooksBehindTheName"), killer{}},
		{"a cache file cut short is not seen by its length", 0, []edit{
			{"internal/rowcache/stored.go", "info.Size() != s.size || ", ""},
		}, in("rowcache", "TestCheckSeesEither"), killer{}},
		{"a cache file written to is not seen by its time", 0, []edit{
			{"internal/rowcache/stored.go", "info.Size() != s.size || !info.ModTime().Equal(s.modified)", "info.Size() != s.size"},
		}, in("rowcache", "TestCheckSeesEither"), killer{}},
		{"a dropped row that is none", 0, []edit{
			{"internal/rowcache/stored.go", "if at <= last || at >= h.rows {", "if at <= last {"},
		}, in("rowcache", "TestSectionsThatDoNotFit"), killer{}},
		{"na is a missing value", 0, []edit{
			{"internal/dataset/column.go", "return field == \"NA\"", "return field[0]|0x20 == 'n' && field[1]|0x20 == 'a'"},
		}, in("dataset", "TestMissingWords"), killer{}},
		{"every row is a unit of a profile", 0, []edit{
			{"internal/profile/judge.go", "	if r.Units = len(s.units); s.unit < 0 {", "	if r.Units = len(s.units); true {"},
		}, in("profile", "TestUnitsAreCounted"), killer{}},
		{"rows of an unknown unit are units", 0, []edit{
			{"internal/profile/judge.go", "			r.Units = 0\n", ""},
		}, in("profile", "TestUnitsAreCounted"), killer{}},
		{"a profile is silent on rows of nobody", 0, []edit{
			{"internal/profile/judge.go", "	if s.nobody.count > 0 {", "	if false {"},
		}, in("profile", "TestUnitsAreCounted"), killer{}},
		{"texts of no length", 0, []edit{
			{"internal/dataset/npy/dtype.go", "case 'S':\n\t\treturn t, size > 0", "case 'S':\n\t\treturn t, true"},
		}, in("dataset/npy", "TestArrayBounds"), killer{}},
	})
}

//go:build mutants

package mutants

// What makes a site's ledger durable, and what of it is recovered.
func init() {
	const log, store, items, wallet = "internal/ledger/log.go", "internal/ledger/store.go", "internal/ledger/item.go", "internal/ledger/budget.go"
	tables = append(tables, []mutant{
		{"commits: answered before it is durable", 0, []edit{
			{store, "if failed := s.sync(n); failed != nil {", "if failed := s.sync(0 * n); failed != nil {"},
		}, in("ledger", "TestDurableWhenAnswered"), killer{}},
		{"commits: answered from what is not durable", 0, []edit{
			{"internal/ledger/journal.go", "if failed := j.l.sync(n); failed != nil {", "if failed := j.l.sync(0 * n); failed != nil {"},
		}, in("ledger", "TestReadsWait"), killer{}},
		{"commits: each waits for an fsync of its own", 0, []edit{
			{log, "	if c.durable.Load() >= n || c.failed != nil {", "	if c.failed != nil {"},
		}, in("ledger", "TestWaitersShareASync"), killer{}},
		{"commits: an fsync that failed is tried again", 0, []edit{
			{log, "	if c.durable.Load() >= n || c.failed != nil {", "	if c.durable.Load() >= n {"},
		}, in("ledger", "TestLogSyncFails"), killer{}},
		{"commits: a record that followed another", 0, []edit{
			{log, "&& !broken && r.number == c.next && r.prev == c.prev:", "&& (broken || r.number > 0 || c.next == 0):"},
		}, in("ledger", "TestLateRecord"), killer{}},
		{"commits: a damaged record ends the log", 0, []edit{
			{log, "case r.base == base && r.durable > c.next:", "case false:"},
		}, in("ledger", "TestDamagedLog"), killer{}},
		{"commits: an older ledger.db", 0, []edit{
			{log, "case r.base > base:", "case false:"},
		}, in("ledger", "TestRestoredAlone"), killer{}},
		{"commits: records older than ledger.db's commit", 0, []edit{
			{log, "case r.base == base && !broken", "case !broken"},
		}, in("ledger", "TestCommittedLog"), killer{}},
		{"commits: another ledger's log", 0, []edit{
			{log, "if !bytes.Equal(head[:], append([]byte(logMagic), id[:]...)) {", "if bytes.Equal(head[:], nil) {"},
		}, in("ledger", "TestDamagedLog"), killer{}},
		{"commits: another ledger's record", 0, []edit{
			{log, " || [16]byte(b[32:48]) != c.id {", " {"},
		}, in("ledger", "TestAnothersRecords"), killer{}},
		{"commits: a key that is cut off was erased", 0, []edit{
			{"internal/ledger/keys.go", "case err == io.EOF && n < keySize:", "case err == io.EOF && n < 0:"},
		}, in("ledger", "TestKeyCutOff"), killer{}},
		{"commits: what is due of a damaged study", 0, []edit{
			{items, "	p, err := r.progress()\n	if err != nil {\n		return nil, err\n	}\n	finished", "	p, _ := r.progress()\n	finished"},
		}, in("ledger", "TestLost"), killer{}},
		{"commits: a torn record", 0, []edit{
			{log, "return r, sha256.Sum256(b[32:logHead+n]) == r.sum", "return r, true"},
		}, in("ledger", "TestTornRecord"), killer{}},
		{"commits: a change that fails leaves half of it", 0, []edit{
			{store, "			if s.changes != nil {\n				s.undo()\n			}\n", ""},
		}, in("ledger", "TestUndone"), killer{}},
		{"commits: an approval in the log alone", 0, []edit{
			{wallet, "return l.updateWhole(of(\"approve\"", "return l.update(of(\"approve\""},
		}, in("ledger", "TestLostLog"), killer{}},
		{"commits: a lost log is recovered without a word", 0, []edit{
			{"internal/ledger/recover.go", "	if taken != nil {\n		err = taken\n	}\n", "	_ = taken\n"},
		}, in("ledger", "TestLostLog"), killer{}},
		{"commits: a key is erased before what says so is durable", 0, []edit{
			{items, "	if err := r.l.settle(); err != nil {\n		return err\n	}\n", ""},
		}, in("ledger", "TestErasureWaits"), killer{}},
		{"commits: a head that is on record is written again", 0, []edit{
			{"internal/ledger/chain.go", "bytes.Equal(b.Get(key), value) {", "false {"},
		}, in("ledger", "TestSyncsOfAQuery"), killer{}},
		{"commits: the upload is written by itself", 0, []edit{
			{"internal/ledger/once.go", "	value, err := compute()\n	if err != nil {\n		return nil, err\n	}\n	// What find", "	value, err := compute()\n	if err != nil {\n		return nil, err\n	}\n	j.write(place{name: \"test\"}, func(r *record) error { return r.put(nil, []byte(\"test\"), value) })\n	// What find"},
		}, in("ledger", "TestSyncsOfAQuery"), killer{}},
		{"commits: an upload beyond what was approved is computed", 0, []edit{
			{"internal/ledger/upload.go", "	if err := r.charge(query, rho, false); err != nil {\n		return nil, err\n	}\n", ""},
		}, in("ledger", "TestUploadCharges"), killer{}},
		{"commits: an upload beyond what was approved", 0, []edit{
			{wallet, "if spent+rho > e.Rho*(1+tolerance) {\n		return &ChargeError", "if false {\n		return &ChargeError"},
		}, in("ledger", "TestUploadCharges"), killer{}},
		{"commits: a refusal before what it rests on is durable", 0, []edit{
			{store, "			n = s.last[at.study] // what fn", "			n = 0 // what fn"},
		}, in("ledger", "TestWaitsForAnother"), killer{}},
		{"commits: a head kept before it is durable", 0, []edit{
			{store, "n = max(s.last[at.study], s.last[ofChain])", "n = s.last[at.study]"},
		}, in("ledger", "TestWaitsForAnother"), killer{}},
		{"commits: a head in another's record", 0, []edit{
			{store, "				s.last[ofChain] = number\n", "				_ = number\n"},
		}, in("ledger", "TestWaitsForAnother"), killer{}},
		{"commits: an undo makes what was written durable", 0, []edit{
			{store, "if err := s.log.sync(s.log.written.Load()); err != nil {\n			return err", "if err := error(nil); err != nil {\n			return err"},
		}, in("ledger", "TestUndoneIsNotDurable"), killer{}},
		{"commits: half of a damaged log is gone on from", 0, []edit{
			{store, "			s.undo() // half of the log\n", ""},
			{store, "again || !lost {", "again && false || !lost {"},
		}, in("ledger", "TestDamagedWhileOpen"), killer{}},
		{"commits: what an fsync failed for is taken as written", 0, []edit{
			{log, "c.f.WriteAt(c.tail, c.at)", "c.f.WriteAt(nil, c.at)"},
		}, in("ledger", "TestFailedSyncIsWrittenAgain"), killer{}},
		{"commits: answered before it is durable, at power cuts", 0, []edit{
			{store, "if failed := s.sync(n); failed != nil {", "if failed := s.sync(0 * n); failed != nil {"},
		}, in("ledger", "TestPowerCuts"), killer{}},
		{"commits: a log alone is a new ledger", 0, []edit{
			{"internal/ledger/ledger.go", "return keys == nil || log == nil", "return keys == nil || log == nil && false"},
		}, in("ledger", "TestLogAlone"), killer{}},
		{"commits: the beginning of a ledger on a full disk is kept", 0, []edit{
			{"internal/ledger/ledger.go", "if err := bolt.Make(path); err != nil {", "if err := bolt.Make(dir); err != nil {"},
		}, in("ledger", "TestBegunOnAFullDisk"), killer{}},
	})
}

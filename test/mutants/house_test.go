//go:build mutants

package mutants

func init() {
	const (
		memory   = "internal/memory/memory_linux.go"
		wiped    = "	defer clear(draws) // draws and release together reveal the sum\n"
		unsealed = "[][]byte{[]byte(format), r.id[:], bucket, key}"
	)
	tables = append(tables, []mutant{
		{"an opened sum stays in memory", 0, []edit{{leaderUnmasking, "	if !Lacks(err) {\n		u.Wipe()\n", "	if !Lacks(err) {\n"}}, in("coordinator", "TestSumIsWiped"), killer{}},
		{"the shares that opened a sum stay in memory", 0, []edit{{release, "		opening.Erase()\n", "		_ = opening.Erase\n"}}, in("coordinator", "TestSumIsWiped"), killer{}},
		{"a sum stays in memory when its study ends", 0, []edit{{leaderSession, "	s.Leave()\n	*s", "	s.sum, s.opening = nil, nil\n	s.Leave()\n	*s"}}, in("coordinator", "TestSumIsWiped"), killer{}},
		{"the noise of a release stays in memory", 0, []edit{{release, wiped, ""}}, in("aggregate", "TestDrawsAreWiped"), killer{}},
		{"the counts of a private choice stay in memory", 0, []edit{{release, "	defer clear(scores)\n", ""}}, in("aggregate", "TestDrawsAreWiped"), killer{}},
		{"wrong logins are not paced", 0, []edit{{"internal/dashboard/pace.go", "		return 0, false\n", "		return 0, true\n"}}, in("dashboard", "TestWrongLoginsArePaced"), killer{}},
		{"a process can be dumped", 0, []edit{{memory, "PR_SET_DUMPABLE, 0,", "PR_SET_DUMPABLE, 1,"}}, in("memory", "TestKept"), killer{}},
		{"memory is locked under a limit", 0, []edit{{memory, "	if !unlimited() {", "	if false && !unlimited() {"}}, in("memory", "TestFiniteLimit"), killer{}},
		{"items of a ledger are not bound to their study", 0, []edit{{"internal/ledger/item.go", unsealed, "[][]byte{[]byte(format), bucket, key}"}}, in("ledger", "TestItemsBelongToTheirStudy"), killer{}},
		{"the seed of a setup's secrets stays in memory", 0, []edit{{"internal/secagg/secrets.go", "	clear(seed[:])\n", ""}}, in("secagg", "TestSeedIsWiped"), killer{}},
	})
}

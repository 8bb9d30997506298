//go:build mutants

package mutants

func init() {
	const (
		reader = "internal/clip/reader.go"
		idle   = "internal/holding/idle.go"
		kept   = "internal/dataset/memory.go"
		peak   = "internal/doctor/peak.go"
	)
	tables = append(tables, []mutant{
		{"memory: a query copies the rows", 0, []edit{{reader, "		r.out = make([]float64, n)\n", "		r.out = make([]float64, r.m.rows*d)\n"}}, in("clip", "TestNoQueryCopiesTheRows"), killer{}},
		{"memory: an absent row is what the center leaves", 0, []edit{{reader, "int(m.there(lo+i))", "int(1|m.there(lo+i))"}}, in("clip", "TestAbsentRows"), killer{}},
		{"memory: rows of a file are copied as they grow", 0, []edit{{kept, "	if cap(values)-len(values) >= n {\n", "	if cap(values)-len(values) >= 0*n {\n"}}, in("dataset", "TestRowsGrowOnce"), killer{}},
		{"memory: what is read ahead of a file counts as parsed", 0, []edit{{"internal/dataset/csv.go", "(all - float64(t.raw.Buffered())) / all", "(all - 0*float64(t.raw.Buffered())) / all"}}, in("dataset", "TestRowsGrowOnce"), killer{}},
		{"memory: a column without a scale is not left out", 0, []edit{{"internal/clip/shift.go", "if scale[j] > 0 {", "if scale[j] >= 0 {"}}, in("clip", "TestShiftsAreTheSameOnAllPaths"), killer{}},
		{"memory: idle memory stays", 0, []edit{{idle, "		time.AfterFunc(idleAfter, s.rest)\n", "		_ = time.AfterFunc\n"}}, in("holding", "TestIdleIsGivenBack"), killer{}},
		{"memory: it is given back once", 0, []edit{{idle, "	s.waiting = false\n", ""}}, in("holding", "TestIdleIsGivenBack"), killer{}},
		{"memory: rows that are closed are given back", 0, []edit{{idle, "	delete(s.mapped, stored)\n", ""}}, in("holding", "TestIdleRowsAreThere"), killer{}},
		{"memory: a packed file's rows are not counted", 0, []edit{{kept, "return m.most == 0 ||", "return true ||"}}, in("dataset", "TestMostCountsRows"), killer{}},
		{"memory: mapped rows are said to be in memory", 0, []edit{{peak, "out.mapped = out.rows > int64(d.InMemory())", "out.mapped = false"}}, in("doctor", "TestMemoryIsPredicted"), killer{}},
		{"memory: rows stay while a large result is checked", 0, []edit{{"internal/agent/session.go", "if o.plan.CheckBytes() > smallCheck {", "if false {"}}, in("agent", "TestAttestLetsGoOfRows"), killer{}},
		{"memory: a small result waits for rows to be unmapped", 0, []edit{{"internal/agent/session.go", "if o.plan.CheckBytes() > smallCheck {", "if true {"}}, in("agent", "TestAttestLetsGoOfRows"), killer{}},
		{"memory: the result before stays while the next is written", 0, []edit{{"internal/responder/results.go", "rs.recording, rs.latest = w, nil", "rs.recording = w"}}, in("responder", "TestOneResultInMemory"), killer{}},
		{"memory: the last result stays while the study's is checked", 0, []edit{{"internal/responder/attest.go", "	t.s.results.latest = nil\n", ""}}, in("responder", "TestOneResultInMemory"), killer{}},
		{"memory: a draft stays when it has been read", 0, []edit{{"internal/responder/attest.go", "	r.Draft = nil\n", ""}}, in("responder", "TestOneResultInMemory"), killer{}},
		{"memory: what is in use counts twice", 0, []edit{{"internal/memory/pace.go", "range s[2:] {", "range s[3:] {"}}, in("memory", "TestCollected"), killer{}},
		{"memory: a process's own limit is raised", 0, []edit{{"internal/memory/pace.go", "slack+rest, uint64(most))", "slack+rest)"}}, in("memory", "TestLimit"), killer{}},
		{"memory: the first query is the slowest", 0, []edit{{"internal/doctor/dryrun.go", "spent > took {", "took == 0 {"}}, in("doctor", "TestSlowestIsTimed"), killer{}},
	})
}

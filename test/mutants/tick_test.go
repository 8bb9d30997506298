//go:build mutants

package mutants

// When a release leaves, and what is ready before a setup.
func init() {
	const (
		release  = "internal/coordinator/release.go"
		studyAsk = "internal/study/ask.go"
		drawTime = "internal/noise/sigma.go"
		decision = "internal/agent/decision.go"
	)
	tables = append(tables, []mutant{
		{"tick: releases leave when they are ready", 0, []edit{
			{release, "left := tick - max(0, c.now().Sub(began))%tick", "left := (tick - max(0, c.now().Sub(began))%tick) / 2"},
		}, in("coordinator", "TestResultsLeaveOnTheTick"), killer{}},
		{"tick: by another clock than the draws'", 0, []edit{
			{release, "u.Release(func() { began = c.now() })", "u.Release(func() { began = c.now().Truncate(time.Second) })"},
		}, in("coordinator", "TestResultsLeaveOnTheTick"), killer{}},
		{"tick: the same for every number of values", 0, []edit{
			{studyAsk, "return tick + a.Sigma.DrawTime(p.Queries[a.Query].Values)", "return tick + a.Sigma.DrawTime(p.D)"},
		}, in("study", "TestOneTick"), killer{}},
		{"tick: none for the draws", 0, []edit{
			{studyAsk, "return tick + a.Sigma.DrawTime(p.Queries[a.Query].Values)", "return tick"},
		}, in("study", "TestOneTick"), killer{}},
		{"tick: a wide σ has that of a narrow one", 0, []edit{
			{drawTime, "return time.Duration(values) * largeDraw", "return time.Duration(values) * wordDraw"},
		}, in("study", "TestOneTick"), killer{}},
		{"tick: of draws that stay at the sites", 0, []edit{
			{studyAsk, "	if p.Honest > 0 {\n		return tick\n	}\n	return tick + a.Sigma", "	return tick + a.Sigma"},
		}, in("study", "TestOneTick"), killer{}},
		{"tick: a choice has that of its mean", 0, []edit{
			{drawTime, "return time.Duration(values) * proposals * wordDraw", "return time.Duration(values) * wordDraw"},
		}, in("noise", "TestSelectWithinItsTime"), killer{}},
		{"tick: a choice has that of noise", 0, []edit{
			{drawTime, "	if s == 0 {\n		return time", "	if s < 0 {\n		return time"},
		}, in("noise", "TestSelectWithinItsTime"), killer{}},
		{"setup: secrets are drawn while others decide", 0, []edit{
			{decision, "	a.endings.reopened(s.plan.Digest)\n	a.log.Info(\"study approved\"", "	s.ring.Announce(wire.Announce{Header: wire.Header{Study: s.plan.Digest}})\n	a.endings.reopened(s.plan.Digest)\n	a.log.Info(\"study approved\""},
		}, in("agent", "TestNothingIsDrawnBeforeTheSetup"), killer{}},
		{"setup: rows are read at the first query", 0, []edit{
			{decision, "	a.endings.reopened(s.plan.Digest)\n	a.log.Info(\"study approved\"", "	s.rows.Release()\n	a.endings.reopened(s.plan.Digest)\n	a.log.Info(\"study approved\""},
		}, in("agent", "TestNothingIsDrawnBeforeTheSetup"), killer{}},
	})
}

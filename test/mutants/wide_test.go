//go:build mutants

package mutants

// Of proposals of many columns at an agent, whose sessions are let go.
func init() {
	const summary, sessions = "internal/agent/summary.go", "internal/agent/sessions.go"
	tables = append(tables, []mutant{
		{"wide: a session that waits stays", 0, []edit{{sessions, "	if s.roomy() {\n", "	if true {\n"}}, in("agent", "TestWide"), killer{}},
		{"wide: a summary has the columns", 0, []edit{{summary, "	p.Spec.Columns, p.Spec.Start, p.Roster = nil, nil, nil\n", ""}}, in("agent", "TestWide"), killer{}},
		{"wide: its figures stay", 0, []edit{{"internal/agent/figures.go", "	if !s.roomy() {\n", "	if false {\n"}}, in("agent", "TestWide"), killer{}},
		{"wide: there are two sessions of one study", 0, []edit{{sessions, "	return at, at.session.Value()\n", "	return at, at.held\n"}, {sessions, "at.session.Value(); old != nil", "at.held; old != nil"}}, in("agent", "TestLetGo"), killer{}},
		{"wide: a session that comes back is under another configuration", 0, []edit{{sessions, "	} else if s, _, code, _ = m.planned(body); s != nil {", "	} else if s, code = m.make(body); s != nil {"}}, in("agent", "TestLetGo"), killer{}},
		{"wide: a proposal that comes again forgets its rows", 0, []edit{{sessions, "			return old\n		}\n		s.summary = at.summary\n", "			return old\n		}\n"}}, in("agent", "TestLetGo"), killer{}},
		{"wide: a session is let go in its setup", 0, []edit{{"internal/agent/session.go", "	s.hold()\n", ""}}, in("agent", "TestLetGo"), killer{}},
		{"wide: a list makes the session again", 0, []edit{{sessions, "at, _ := m.placed(id); at != nil {", "at, s := m.placed(id); at != nil && s != nil {"}}, in("agent", "TestLetGo"), killer{}},
		{"wide: a coordinator's word makes the session again", 0, []edit{{"internal/agent/agent.go", "a.strangers.idles(r); ok {", "a.strangers.idles(r); ok && false {"}}, in("agent", "TestNobodyHasASessionMade"), killer{}},
		{"wide: an unanswered word makes the session again", 0, []edit{{"internal/agent/strangers.go", "		return g.answer(r, study.CodeUnknownStudy), true\n", ""}}, in("agent", "TestUnansweredWordsFillNoLog"), killer{}},
		{"wide: metrics make the session again", 0, []edit{{summary, "	if planned != nil {\n", "	if false {\n"}}, in("agent", "TestNobodyHasASessionMade"), killer{}},
		{"wide: an end leaves the summary", 0, []edit{{sessions, "	delete(m.places, id)\n", ""}}, in("agent", "TestLetGo"), killer{}},
	})
}

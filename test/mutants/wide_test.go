//go:build mutants

package mutants

// Of proposals of many columns at an agent, whose sessions are let go.
func init() {
	const summary = "internal/agent/summary.go"
	tables = append(tables, []mutant{
		{"wide: a session that waits stays", 0, []edit{{summary, "	if s.roomy() {\n", "	if true {\n"}}, in("agent", "TestWide"), killer{}},
		{"wide: a summary has the columns", 0, []edit{{summary, "	p.Spec.Columns, p.Spec.Start, p.Roster = nil, nil, nil\n", ""}}, in("agent", "TestWide"), killer{}},
		{"wide: its figures stay", 0, []edit{{"internal/agent/figures.go", "	if !s.roomy() {\n", "	if false {\n"}}, in("agent", "TestWide"), killer{}},
		{"wide: there are two sessions of one study", 0, []edit{{summary, "	return at, at.session.Value()\n", "	return at, at.held\n"}, {summary, "at.session.Value(); old != nil", "at.held; old != nil"}}, in("agent", "TestLetGo"), killer{}},
		{"wide: a session that comes back is under another configuration", 0, []edit{{summary, "	} else if s, _, code, _ = a.plannedSession(body); s != nil {", "	} else if s, code = a.newSession(body); s != nil {"}}, in("agent", "TestLetGo"), killer{}},
		{"wide: a proposal that comes again forgets its rows", 0, []edit{{summary, "			return old\n		}\n		s.summary = at.summary\n", "			return old\n		}\n"}}, in("agent", "TestLetGo"), killer{}},
		{"wide: a session is let go in its setup", 0, []edit{{"internal/agent/session.go", "	s.hold()\n", ""}}, in("agent", "TestLetGo"), killer{}},
		{"wide: a list makes the session again", 0, []edit{{summary, "at, _ := a.placed(id); at != nil {", "at, s := a.placed(id); at != nil && s != nil {"}}, in("agent", "TestLetGo"), killer{}},
		{"wide: an end leaves the summary", 0, []edit{{"internal/agent/rows.go", "	delete(a.sessions, id)\n", ""}}, in("agent", "TestLetGo"), killer{}},
	})
}

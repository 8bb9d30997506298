//go:build mutants

package mutants

// Results that reach sites, and the scores of their rows.
func init() {
	tables = append(tables, []mutant{
		{"score: any site reads any result", 0, []edit{
			{"internal/coordinator/result.go", "return member.Name == who.Name && slices.Equal(member.Identity, who.Identity)", "return member.Name != \"\" || slices.Equal(member.Identity, who.Identity)"},
		}, in("coordinator", "TestReads"), killer{}},
		{"score: a name that was taken over reads a result", 0, []edit{
			{"internal/coordinator/result.go", " && slices.Equal(member.Identity, who.Identity)", " && len(who.Identity) > 0"},
		}, in("coordinator", "TestReads"), killer{}},
		{"score: a result of a study that was not approved here", 0, []edit{
			{"internal/agent/result.go", "if !h.Approved() {", "if false {"},
		}, in("agent", "TestHeldCheck"), killer{}},
		{"score: a result with other releases than those told", 0, []edit{
			{"internal/agent/result.go", "!ok || has != r.Hash", "false && (!ok || has != r.Hash)"},
		}, in("agent", "TestHeldCheck"), killer{}},
		{"score: components that are not orthonormal", 0, []edit{
			{"internal/score/model.go", "!(math.Abs(got-want) <= orthonormal)", "math.IsNaN(got-want)"},
		}, in("score", "TestHostileResults"), killer{}},
		{"score: columns in another order", 0, []edit{
			{"internal/score/model.go", "r.Columns[j] != at.Name || r.Offset", "r.Offset"},
		}, in("score", "TestHostileResults"), killer{}},
		{"score: gaps stay zeros", 0, []edit{
			{"internal/score/model.go", "if err == nil && m.fills {", "if false {"},
		}, in("score", "TestGapsAreFilled"), killer{}},
		{"score: joined levels are nothing", 0, []edit{
			{"internal/score/model.go", "m.joins = p.Layout.JoinLevels(m.scale)", "m.joins = nil"},
		}, in("score", "TestLevelsAreJoined"), killer{}},
		{"score: a row that is left out has scores", 0, []edit{
			{"internal/score/table.go", "if len(absent) > 0 && absent[0] == i {", "if false {"},
		}, in("score", "TestRowsLeftOut"), killer{}},
		{"score: a unit's name is a formula", 0, []edit{
			{"internal/name/cell.go", "cells[i] = \"'\" + cell", "cells[i] = \"\" + cell"},
		}, in("score", "TestRowsLeftOut"), killer{}},
		{"score: a stream's dropped rows are counted from the file's first", 0, []edit{
			{"internal/dataset/tally.go", "t.rows-t.first)\n	t.dropped++", "t.rows)\n	t.dropped++"},
		}, in("dataset", "TestStreamIsRead"), killer{}},
		{"score: local files count as sent", 0, []edit{
			{"internal/egress/log.go", "if !s.sent() {", "if false {"},
		}, in("egress", "TestLocalIsNotSent"), killer{}},
	})
}

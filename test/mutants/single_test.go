//go:build mutants

package mutants

// Queries about single columns, where some of a row's coordinates are counted otherwise: noise and
// sizes go by the columns that count, and no others do.
func init() {
	tables = append(tables, []mutant{
		{"single columns: noise for fewer than are counted", 0, []edit{
			{"internal/study/noise.go", "		return n.atSites(q.Kind.Definition().CountSensitivity(n.grid(q, 0), q.Values))", "		v := q.Values\n		if bins := q.Kind.Definition().Values(1, 0); q.Kind == KindOctaves || q.Kind == KindTree || q.Kind == KindMoments {\n			v = max(bins, v-bins)\n		}\n		return n.atSites(q.Kind.Definition().CountSensitivity(n.grid(q, 0), v))"},
		}, in("answer", "TestReplacedUnitMovesMixedColumnsByNoMore"), killer{}},
		{"single columns: moments clipped as a whole row's", 0, []edit{
			{"internal/clip/column.go", "	root := math.Sqrt(float64(d))", "	root := math.Sqrt(float64(c.m.d))"},
		}, in("clip", "TestReplacedUnitsMoveListedColumnsByNoMore"), killer{}},
		{"single columns: levels are in the moments", 0, []edit{
			{"internal/answer/answer.go", "skip[j] = c.Level >= 0 || c.Gap || len(a.Scale)", "skip[j] = c.Level < -1 || len(a.Scale)"},
		}, in("answer", "TestReplacedUnitMovesMixedColumnsByNoMore"), killer{}},
		{"single columns: a number's constants are its neighbor's", 0, []edit{
			{"internal/study/standardize.go", "		at, _ := slices.BinarySearch(of, j)", "		at := min(j, len(of)-1)"},
		}, in("study", "TestMixedCourse"), killer{}},
		{"single columns: coordinates for missing values are counted", 0, []edit{
			{"internal/layout/layout.go", "		if !l.Counted(j) {\n			l.numbers", "		if !l.Leveled(j) {\n			l.numbers"},
		}, in("study", "TestSingleColumns"), killer{}},
		{"standardize: levels ask for learned constants", 0, []edit{
			{"internal/proposal/standardize.go", "		case c.Levels != nil:", "		case false:"},
		}, in("study", "TestStandardizeKeys"), killer{}},
		{"validate: no score in JSON", 0, []edit{
			{"cmd/internal/cli/validate.go", "}{plan, plan.Learning.Score, plan.Shares(), prediction})", "}{plan, 0, study.Shares{}, prediction})"},
		}, killer{pkg: "cmd/coordinator", run: "TestValidateJSON"}, killer{}},
	})
}

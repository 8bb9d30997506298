//go:build mutants

package mutants

const (
	clipColumn  = "internal/clip/column.go"
	clipTally   = "internal/clip/tally.go"
	queryColumn = "internal/query/column.go"
)

func init() {
	columns := in("clip", "TestReplacedUnitsMoveColumnsByNoMore")
	tables = append(tables, []mutant{
		{"little noise says which octave is right", 0, []edit{
			{"internal/standardize/octave.go", "misfit = 0.02", "misfit = 0.0"},
		}, in("standardize", "TestColumnsAreLearned"), killer{}},
		{"what lies beside a frequent value is not looked for", 0, []edit{
			{"internal/standardize/tree.go", "	speaks   = 6.0 ", "	speaks   = 6e9 "},
		}, in("standardize", "TestColumnsAreLearned"), killer{}},
		{"learned scales stay too small", 0, []edit{
			{"internal/result/result.go", "	unit := r.standard(p, c, releases)\n", "	unit := 1.0\n"},
		}, in("simulate", "TestLearnedScalesAreDeviations"), killer{}},
		{"a total of noise sets learned scales", 0, []edit{
			{"internal/result/deviation.go", "	if !(spread <= mostSpread) {", "	if false {"},
		}, in("result", "TestNoisyTotalSetsNoScale"), killer{}},
		{"a total far above the scales is no doubt", 0, []edit{
			{"internal/worth/constants.go", "	if all && r.TotalInterval", "	if false && r.TotalInterval"},
		}, in("simulate", "TestTotalDoubtsScales"), killer{}},
		{"averaged one-hots are rounded to nearest", 0, []edit{
			{clipTally, "t.counts[bin] * one / max(1, rows)", "(t.counts[bin]*one + rows/2) / max(1, rows)"},
		}, columns, killer{}},
		{"a unit's rows are added and not averaged", 0, []edit{
			{clipTally, "* one / max(1, rows)", "* one"},
		}, columns, killer{}},
		{"a tree has the noise of one level", 0, []edit{
			{queryGrid, "up(math.Sqrt(float64(2*levels*(values/bins))))", "up(math.Sqrt(float64(2*(values/bins))))"},
		}, columns, killer{}},
		{"moments have the noise of means alone", 0, []edit{
			{queryGrid, "up(math.Sqrt(float64(14*values)))", "up(math.Sqrt(float64(10*values)))"},
		}, columns, killer{}},
		{"values of a moment query are clipped further out", 0, []edit{
			{queryColumn, "MomentNorm = 1.1", "MomentNorm = 1.15"},
		}, columns, killer{}},
		{"squares of a moment query are clipped further out", 0, []edit{
			{queryColumn, "SquareNorm = 1.2", "SquareNorm = 1.25"},
		}, columns, killer{}},
		{"moments of rows are not clipped", 0, []edit{
			{clipColumn, "bound: query.SquareNorm * math.Sqrt(3) * root * one * margin", "bound: 0x1p40"},
		}, columns, killer{}},
		{"a column that is left out is counted", 0, []edit{
			{clipColumn, "if c.skip[j] {", "if false {"},
		}, in("clip", "TestColumnsSkip"), killer{}},
	})
}

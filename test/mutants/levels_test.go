//go:build mutants

package mutants

func init() {
	tables = append(tables, []mutant{
		{"a unit's rows each count in a level", 0, []edit{{"internal/clip/level.go", "+= n * one / there", "+= n * one"}},
			in("clip", "TestReplacedUnitMovesLevelsByDelta"), killer{}},
		{"averages of levels rounded up", 0, []edit{{"internal/clip/level.go", "+= n * one / there", "+= (n*one + there - 1) / there"}},
			in("clip", "TestLevels"), killer{}},
		{"a row in every level of a column", 0, []edit{{"internal/clip/level.go", "there++\n\t\t\t\t\tbreak", "there = 1"}},
			in("clip", "TestReplacedUnitMovesLevelsByDelta"), killer{}},
		{"noise of levels for one column", 0, []edit{{"internal/query/table.go", "CountDelta: oneHots(LevelBins, 1)", "CountDelta: func(ratio float64, _ int) float64 { return HistogramSensitivity * ratio }"}},
			in("study", "TestLevelsPlan"), killer{}},
		{"levels with central noise", 0, []edit{{"internal/proposal/standardize.go", "if s.Leveled() > 0 {", "if s.Leveled() < 0 {"}},
			in("study", "TestLevelsPlan"), killer{}},
		{"rare levels on their own", 0, []edit{{"internal/standardize/level.go", "if n >= max(RareSigmas*sigma, least) {", "if n > 0 {"}},
			in("study", "TestLevelShares"), killer{}},
		{"scales of levels that no release has", 0, []edit{{"internal/study/history.go", "!slices.EqualFunc(a.Scale, want.Scale, Near)", "!slices.EqualFunc(a.Scale, want.Scale, func(x, y float64) bool { return true })"}},
			in("study", "TestAnyLevelsRelease"), killer{}},
		{"a part in a level that is left out", 0, []edit{{studyMoment, "if len(in) == d || len(in) < k {", "if len(in) <= d {"}},
			in("answer", "TestStudyOfLevels"), killer{}},
		{"rare levels in no coordinate", 0, []edit{{"internal/answer/answer.go", "if joins != nil {\n\t\tif rows, err = rows.Join(joins)", "if joins != nil && site < 0 {\n\t\tif rows, err = rows.Join(joins)"}},
			in("answer", "TestJoinedLevelIsOther"), killer{}},
		{"a level joined for the next query", 0, []edit{{"internal/answer/answer.go", " && slices.Equal(r.joins, joins) {", " {"}},
			in("answer", "TestJoinedLevelIsOther"), killer{}},
		{"another text is a missing value", 0, []edit{{"internal/dataset/reading.go", "return float64(len(r.Levels))", "return math.NaN()"}},
			in("dataset", "TestReadings"), killer{}},
		{"other levels from the same cache file", 0, []edit{{"internal/dataset/recipe.go", "for _, text := range r.Levels {\n\t\t\tword(text)\n\t\t}", ""}},
			in("dataset", "TestReadingsRecipe"), killer{}},
	})
}

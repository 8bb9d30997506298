//go:build mutants

package mutants

const (
	datasetCell     = "internal/dataset/cell.go"
	datasetMapping  = "internal/dataset/mapping.go"
	datasetSource   = "internal/dataset/source.go"
	siteDataset     = "internal/siteconfig/dataset.go"
	profileColumn   = "internal/profile/column.go"
	profileJudge    = "internal/profile/judge.go"
	profileDates    = "internal/profile/dates.go"
	profileScenario = "TestProfileLeavesNothing"
)

func init() {
	tables = append(tables, []mutant{
		{"mapping: not in the pin", 0, []edit{
			{siteDataset, "	case !m.Empty():\n", "	case false && !m.Empty():\n"},
		}, in("siteconfig", "TestMappingIsPinned"), killer{}},
		{"mapping: names of categories not in the pin", 0, []edit{
			{datasetMapping, "			word(f.Names[text])\n", "			_ = f.Names[text]\n"},
		}, in("siteconfig", "TestMappingIsPinned"), killer{}},
		{"mapping: not in a cache file's name", 0, []edit{
			{datasetSource, "	s.Mapping.Words(word)\n", ""},
		}, in("dataset", "TestMappingWords"), killer{}},
		{"mapping: a converted value beyond the bound", 0, []edit{
			{datasetCell, "	return math.Copysign(math.Nextafter(limit, 0), v)\n", "	return v\n"},
		}, in("dataset", "TestConversionsStayBounded"), killer{}},
		{"mapping: units converted", 0, []edit{
			{datasetMapping, "case name == unit && (", "case false && name == unit && ("},
		}, in("dataset", "TestMappingOfUnits"), killer{}},
		{"mapping: a code is a unit's name no longer", 0, []edit{
			{datasetCell, "	return err != nil\n", "	return err != nil || true\n"},
		}, in("dataset", "TestMappingOfUnits"), killer{}},
		{"dictionary: a scale of the proposer's", 0, []edit{
			{"internal/siteconfig/dictionary.go", "case e.Scale != nil && *e.Scale != c.Scale:", "case e.Scale != nil && *e.Scale < 0:"},
		}, in("siteconfig", "TestDictionary"), killer{}},
		{"dictionary: constants that are learned", 0, []edit{
			{"internal/siteconfig/dictionary.go", "(e.Offset != nil || e.Scale != nil) && c.Standardize", "false && c.Standardize"},
		}, in("siteconfig", "TestDictionary"), killer{}},
		{"profile: quantiles of few", 0, []edit{
			{profileColumn, "c.values >= leastValues && len(c.units) >= leastUnits", "c.values > 0"},
		}, in("profile", "TestProfileShowsNobody"), killer{}},
		{"profile: rare texts", 0, []edit{
			{profileJudge, "if len(l.units) < leastUnits {", "if len(l.units) < 1 {"},
		}, in("profile", "TestProfileShowsNobody"), killer{}},
		{"profile: a fitted factor", 0, []edit{
			{profileJudge, "l.from.Multiply, l.from.Add, l.why = f.multiply, f.add,", "l.from.Multiply, l.from.Add, l.why = wanted.offset/q[2], 0,"},
		}, in("profile", "TestFactorsAreOfTheTable"), killer{}},
		{"profile: a level of one letter begins a word", 0, []edit{
			{"internal/profile/names.go", "utf8.RuneCountInString(level) < 2 || ", ""},
		}, in("profile", "TestNamesAreNotGuessed"), killer{}},
		{"profile: a code that another column has as a value", 0, []edit{
			{"internal/profile/missing.go", "if also == \"\" {", "if true {"},
		}, in("profile", "TestMissingInOneColumn"), killer{}},
		{"profile: into a pipe", 0, []edit{
			{"cmd/internal/cli/terminal.go", "case Width(t.Out) == nil:", "case false:"},
		}, killer{pkg: "cmd/agent", run: profileScenario}, killer{}},
	})
}

//go:build mutants

package mutants

func init() {
	const date = "internal/dataset/date.go"
	tables = append(tables, []mutant{
		{"dates: the form of a column not in the pin", 0, []edit{
			{datasetMapping, "		word(f.Dates)\n", ""},
		}, in("siteconfig", "TestMappingIsPinned"), killer{}},
		{"dates: the form of all columns not in the pin", 0, []edit{
			{datasetMapping, "	word(m.Dates)\n", ""},
		}, in("siteconfig", "TestMappingIsPinned"), killer{}},
		{"dates: another form is read, too", 0, []edit{
			{"internal/dataset/layout.go", "		day, ok := dateIn(form, was)\n", "		day, ok := dateIn(form, was)\n		if !ok {\n			return r.noLevel(was)\n		}\n"},
		}, in("dataset", "TestMappingOfDates"), killer{}},
		{"dates: a year of two digits", 0, []edit{
			{date, " || len(name) == 4 && len(part) < 4", ""},
		}, in("dataset", "TestMappingOfDates"), killer{}},
		{"profile: a form of dates is chosen of two", 0, []edit{
			{profileDates, "	case 1:\n		l.from.Dates", "	default:\n		l.from.Dates"},
			{profileDates, "	default:\n		p.notes = append(p.notes, fmt.Sprintf(\"# dates of", "	case -1:\n		p.notes = append(p.notes, fmt.Sprintf(\"# dates of"},
		}, in("profile", "TestProfileOfDates"), killer{}},
	})
}

//go:build mutants

package mutants

// Lines that close what an attacker tried.
func init() {
	tables = append(tables, []mutant{
		{"attack: mariadb: a number is taken for the place of a level", 0, []edit{
			{"internal/dataset/mariadb/mariadb.go", "	if b.Texts(j) {\n		b.Text(j, name(number, v))\n		return\n	}\n", ""},
		}, in("dataset/mariadb", "TestReadings"), killer{}},
		{"attack: mariadb: text is no level", 0, []edit{
			{"internal/dataset/mariadb/mariadb.go", "case !number && !b.Texts(j):", "case !number:"},
		}, in("dataset/mariadb", "TestReadings"), killer{}},
		{"attack: plan: the ring has room for pairs where units are counted", 0, []edit{
			{studyRing, "			units = p.Proposal.Units()\n", "			units = p.N\n"},
		}, in("study", "TestRingHoldsCountsOfUnpairedUnits"), killer{}},
		{"attack: spec: levels are standardized", 0, []edit{
			{"internal/proposal/standardize.go", "		case c.Levels != nil:\n", "		case c.Levels != nil && false:\n"},
		}, in("study", "TestLevelsAreNotStandardized"), killer{}},
		{"attack: study file: a range of long names", 0, []edit{
			{"internal/studyfile/names.go", "if len(first) > maxName || len(last) > maxName {", "if len(first) > 1<<20 {"},
		}, in("studyfile", "TestLongRange"), killer{}},
		{"attack: policy: levels are an agreed number", 0, []edit{
			{"internal/siteconfig/dictionary.go", ", e.Levels == nil && len(c.Levels) > 0 && (e.Offset != nil || e.Scale != nil):", ":"},
		}, in("siteconfig", "TestDictionaryOfNumbers"), killer{}},
		{"attack: profile: a header that may be a row is shown", 0, []edit{
			{"internal/profile/report.go", "s.values = s.r.Lines && ", "s.values = false && "},
		}, in("profile", "TestNoHeaderLine"), killer{}},
		{"attack: profile: names are near one that is missing, of a header that may be a row", 0, []edit{
			{"internal/profile/near.go", "	if s.values {\n		return nil\n	}\n", ""},
		}, in("profile", "TestNoHeaderLine"), killer{}},
		{"attack: dataset: an error names a header that may be a row", 0, []edit{
			{"internal/dataset/csv.go", "return reason == \"\" && !math.IsNaN(v)\n	}) {\n		return nil", "return reason == \"\" && math.IsNaN(v)\n	}) {\n		return nil"},
		}, in("dataset", "TestNoHeaderLineInErrors"), killer{}},
		{"attack: privacy: nobody says what indicators are", 0, []edit{
			{"internal/terms/privacy.go", "if n := indicators(s.Columns); n > 0 {", "if n := indicators(s.Columns); n > 1000 {"},
		}, in("terms", "TestIndicatorsAreSaid"), killer{}},
		{"attack: csv: a column's name is a formula", 0, []edit{
			{"internal/report/csv.go", "names[i] = name.Cell(column)", "names[i] = name.Plain(column)"},
		}, in("report", "TestCSVHasNoFormula"), killer{}},
		{"attack: picture: a trial's drawing looks real", 0, []edit{
			{"internal/picture/biplot.go", "if r.Simulated {", "if false {"},
		}, in("picture", "TestSimulatedIsMarked"), killer{}},
		{"attack: sheet: a picture of an institution is not named one", 0, []edit{
			{"internal/sheet/sheet.go", "if p.Proposal.Spec.PictureBy == proposal.PictureBySite {", "if false {"},
		}, in("sheet", "TestSheetOfOpenNumberAndSites"), killer{}},
		{"attack: sheet: the most components are said to be asked for", 0, []edit{
			{"internal/sheet/sheet.go", "auto := spec.Components == proposal.ComponentsAuto; {", "auto := false; {"},
		}, in("sheet", "TestSheetOfOpenNumberAndSites"), killer{}},
		{"attack: sheet: nothing stands out, and the sheet is silent", 0, []edit{
			{"internal/sheet/sheet.go", "if s.Result != nil && s.Result.ComponentsText() != \"\" {", "if false {"},
		}, in("sheet", "TestSheetOfOpenNumberAndSites"), killer{}},
	})
}

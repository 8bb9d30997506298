//go:build mutants

package mutants

const (
	fileNames = "internal/studyfile/names.go"
	fileWhole = "internal/studyfile/file.go"
	aboutText = "internal/proposal/about.go"
)

// What people write of a study, and what others see of it.
func init() {
	tables = append(tables, []mutant{
		{"study file: a range ends before its last name", 0, []edit{
			{fileNames, "n <= high; n++", "n < high; n++"},
		}, in("studyfile", "TestRanges"), killer{}},
		{"study file: a range has more columns than a study may", 0, []edit{
			{fileNames, "if high-low >= left {", "if high-low >= 100*left {"},
		}, in("studyfile", "TestRanges"), killer{}},
		{"study file: leading zeros are lost", 0, []edit{
			{fileNames, "		width = len(from)", "		width = len(from) * 0"},
		}, in("studyfile", "TestRanges"), killer{}},
		{"study file: given constants do not take the place of learned ones", 0, []edit{
			{fileWhole, `"scale":       {"standardize", "levels"},`, `"scale":       {"levels"},`},
		}, in("studyfile", "TestDefaults"), killer{}},
		{"study file: a written key gives way to a default", 0, []edit{
			{fileWhole, "		if lookup(table, key) != nil {\n			continue\n", "		if lookup(table, key) != nil && false {\n			continue\n"},
		}, in("proposal", "TestShortFormIsTheLongForm"), killer{}},
		{"study file: an error names the column of a default's fault", 0, []edit{
			{"internal/proposal/spec.go", "		bad.Field = file.Place(bad.Field)\n", ""},
		}, in("proposal", "TestShortFormPlaces"), killer{}},
		{"study file: faults are looked for where names were put in", 0, []edit{
			{"internal/proposal/spec.go", "decode(file.Shape, new(Spec)); err != nil", "decode(file.Shape, new(Spec)); err != nil && false"},
		}, in("proposal", "TestShortFormPlaces"), killer{}},
		{"proposal: columns are left to defaults", 0, []edit{
			{"internal/proposal/proposal.go", "case s.Defaults != nil:", "case s.Defaults != nil && false:"},
		}, in("proposal", "TestProposalsHaveNoDefaults"), killer{}},
		{"words: a text turns the direction of writing", 0, []edit{
			{"internal/name/text.go", "return strconv.IsPrint(r) &&", "return (strconv.IsPrint(r) || unicode.Is(unicode.Cf, r)) &&"},
		}, in("proposal", "TestWordsOfProposers"), killer{}},
		{"words: a text has no bound", 0, []edit{
			{aboutText, "n > most {", "n > 100*most {"},
		}, in("proposal", "TestWordsOfProposers"), killer{}},
		{"words: a text is shown unquoted", 0, []edit{
			{aboutText, "strconv.Quote(f.text)", "f.text"},
		}, in("proposal", "TestStatementsAreQuoted"), killer{}},
		{"words: another purpose is another question", 0, []edit{
			{"internal/proposal/proposal.go", `s.Name, s.Expires, s.About, s.Columns = "", "", About{}, slices.Clone(s.Columns)`, `s.Name, s.Expires, s.Columns = "", "", slices.Clone(s.Columns)`},
		}, in("study", "TestAgainIgnoresWords"), killer{}},
		{"figures: a quantile of few rows is shown", 0, []edit{
			{figures, "if s.values >= fewRows {", "if l.kept >= 1 {"},
		}, in("sitedata", "TestPlausibleRanges"), killer{}},
		{"draft: a byte after the header is read", 0, []edit{
			{"internal/draft/header.go", "at := quoting{begins: true}", "at := quoting{begins: true, within: true}"},
		}, in("draft", "TestHeader"), killer{}},
		{"dataset: a number is like a column's name", 0, []edit{
			{"internal/dataset/near.go", "strings.IndexFunc(have, unicode.IsLetter) < 0 ||", "false ||"},
		}, in("dataset", "TestNear"), killer{}},
	})
}

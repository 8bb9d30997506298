//go:build mutants

package mutants

// What an analyst's people are told.
func init() {
	const file = "internal/analyst/notify.go"
	tables = append(tables, []mutant{
		{"analyst notify: what cannot be asked counts as over", 0, []edit{{file, "\tif err != nil {\n\t\treturn err\n\t}\n\tn.facts", "\t_ = err\n\tn.facts"}}, in("analyst", "TestNotices"), killer{}},
		{"analyst notify: nobody hears that a study expires", 0, []edit{{file, "t.Expires.Sub(c.now()) < hasty", "false"}}, in("analyst", "TestNotices"), killer{}},
	})
}

//go:build mutants

package mutants

// Refusals that can be put right, and what stands of the others.
func init() {
	const mend = "internal/round/mend.go"
	tables = append(tables, []mutant{
		{"mend: absent data ends a study", 0, []edit{
			{roundLead, " && !(s.Status == StatusRunning && d.mends()) {", " {"},
		}, in("round", "TestDataThatComesBack"), killer{}},
		{"mend: a pause for each refusal", 0, []edit{
			{mend, "if l.resting || !slices", "if !slices"},
		}, in("round", "TestDataThatComesBack"), killer{}},
		{"mend: a site that does not answer is asked again and again", 0, []edit{
			{mend, "return d.mends() && !d.again })", "return d.mends() })"},
		}, in("round", "TestDataThatComesBack"), killer{}},
		{"mend: any refusal is asked about again", 0, []edit{
			{mend, "d.mends() && !d.again {", "d.code != \"\" && !d.again {"},
		}, in("round", "TestOthersAreAskedOnce"), killer{}},
	})
}

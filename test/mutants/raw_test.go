//go:build mutants

package mutants

// What a site hears of texts that a study would read as something else, and what an operator hears
// of a plan that came as JSON.
func init() {
	tables = append(tables, []mutant{
		{"raw: a profile says nothing of texts that are no level", 0, []edit{{"internal/profile/typed.go",
			"c.unread.add(s.at)",
			"_ = s.at"}}, in("profile", "TestProfileOfReadings"), killer{}},
		{"raw: a profile pastes a name for another", 0, []edit{{"internal/profile/near.go",
			"return len(want) > 3 && strict.Distance",
			"return strict.Distance"}}, in("profile", "TestNearIsTheSame"), killer{}},
		{"raw: a plan from JSON has no multiplier", 0, []edit{{"internal/study/plan.go",
			"if err := p.derive(); err != nil {",
			"if err := error(nil); err != nil {"}}, in("study", "TestPlanAsJSON"), killer{}},
		{"raw: the demo measures a raw table without its scales", 0, []edit{{"internal/simulate/pooled.go",
			"x[from]*p.Scale[j]/r.Scale[from]",
			"x[from]"}}, killer{pkg: "cmd/coordinator", run: "TestDemoRawPooled"}, killer{}},
	})
}

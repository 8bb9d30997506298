//go:build mutants

package mutants

// The agent's own door: what a coordinator can make it approve, hold, write down, call or show.
func init() {
	tables = append(tables, []mutant{
		{"door: a decision is looked up by name", 0, []edit{
			{"internal/control/control.go", "\t\t\tid, err := proposal.ParseDigest(r.PathValue(\"ref\"))", "\t\t\tid, err := proposal.ParseDigest(r.PathValue(\"ref\"))\n\t\t\tif err != nil {\n\t\t\t\tid, err = a.Views.Find(r.PathValue(\"ref\"))\n\t\t\t}"},
		}, in("agent", "TestAttackNameIsADigest"), killer{}},
		{"door: a study's name may be a digest", 0, []edit{
			{"internal/proposal/resolve.go", "case looksLikeDigest(s.Name):", "case false:"},
		}, in("proposal", "TestNameIsNoDigest"), killer{}},
		{"door: within-limits without peers", 0, []edit{
			{"internal/siteconfig/policy.go", "case within && len(p.Peers) == 0:", "case false:"},
		}, in("siteconfig", "TestAttackSybilWithinLimits"), killer{}},
		{"door: a message's entries are not counted", 0, []edit{
			{"internal/wire/shape.go", "if n < 0 || seen >= s.fields {", "if n < 0 {"},
		}, in("agent", "TestEntriesAreCounted"), killer{}},
		{"door: answers about made-up studies without end", 0, []edit{
			{"internal/agent/agent.go", "if a.strangers.ignores(r) {", "if false {"},
		}, in("agent", "TestMadeUpStudies"), killer{}},
		{"door: any address that a coordinator names is called", 0, []edit{
			{"internal/uplink/rota.go", "	for _, address := range r.configured {\n		if slices", "	for _, address := range follows.Addresses {\n		if slices"},
		}, in("uplink", "TestAttackHintsElsewhere"), killer{}},
		{"door: a status is shown as it came", 0, []edit{
			{"internal/enroll/handshake.go", "frame.Quoted(s.Message())", "s.Message()"},
		}, in("doctor", "TestAttackPlain"), killer{}},
		{"door: completed is believed after any one result", 0, []edit{
			{"internal/agent/session.go", "!(ok && s.plan.Queries.Ends(last))", "!(ok && last >= 0)"},
		}, in("agent", "TestAttackCompletedAfterOneResult"), killer{}},
		{"door: a full disk rejects what comes", 0, []edit{
			{"internal/agent/decision.go", "if !errors.Is(err, proposals.ErrFull) {", "if false {"},
		}, in("agent", "TestFullDiskRejectsNothing"), killer{}},
	})
}

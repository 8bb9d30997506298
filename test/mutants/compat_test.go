//go:build mutants

package mutants

func init() {
	tables = append(tables, []mutant{
		{"a result without approvals verifies", 0, []edit{
			{"internal/result/sites.go", "	if len(r.Approvals) != len(p.Proposal.Roster) {", "	if r.Approvals == nil {\n\t\treturn nil\n\t}\n\tif len(r.Approvals) != len(p.Proposal.Roster) {"},
		}, in("result", "TestVerifyApprovals"), killer{}},
		{"a decision in the log needs no signature", 0, []edit{
			{"internal/coordinator/decision.go", "e.Kind != round.EntryDecided || s == nil {\n\t\treturn m.commit(e, at)", "e.Kind != round.EntryDecided || len(signature) == 0 || s == nil {\n\t\treturn m.commit(e, at)"},
		}, in("coordinator", "TestLogRefusesForgedDecision"), killer{}},
		{"an egress log may begin without a link", 0, []edit{
			{"internal/egress/chain.go", "		case m.Prev != chain.Last:", "		case m.Prev != chain.Last && (m.Prev != \"\" || chain.Lines > 1):"},
		}, in("egress", "TestEgressChain"), killer{}},
		{"an end that says no protocol speaks ours", 0, []edit{
			{"internal/wire/version.go", "	v := Version{Software: frame.Clean(one(softwareKey))}", "	v := Version{Protocol: Protocol, Oldest: OldestProtocol, Software: frame.Clean(one(softwareKey))}"},
		}, in("wire", "TestVersionOf"), killer{}},
	})
}

//go:build mutants

package mutants

// What analysts learn or hold at the port by calls that are refused.
func init() {
	const proposes = "internal/coordinator/propose.go"
	tables = append(tables, []mutant{
		{"analyst port: a place that is free tells of an end", 0, []edit{{proposes, "				e.Over = over(r)\n", ""}}, in("coordinator", "TestTellsNoReason"), killer{}},
		{"analyst port: half proposals without end", 0, []edit{{proposes, "if m.proposing[who.Name] >= maxProposing {", "if m.proposing[who.Name] < 0 {"}}, in("coordinator", "TestHalfProposals"), killer{}},
		{"analyst port: one analyst's half proposals keep all out", 0, []edit{{proposes, "if m.proposing[who.Name] >= maxProposing {", "if m.proposing[\"\"]++; m.proposing[\"\"] > maxProposing {"}}, in("coordinator", "TestHalfProposals"), killer{}},
		{"analyst port: a half proposal's place is kept", 0, []edit{{"internal/wire/analysis.go", "	defer done()\n", "	_ = done\n"}}, in("coordinator", "TestHalfProposals"), killer{}},
		{"analyst port: a revoked holder ends the connections of the name", 0, []edit{{"internal/admission/gate.go", "(g.Refused == nil || !g.Refused(leaf))", "(g.Refused == nil || !g.Refused(leaf) || true)"}}, in("coordinator", "TestPlaceOfARevokedHolder"), killer{}},
		{"analyst port: the port's gate does not ask whose a certificate is", 0, []edit{{"internal/coordinator/coordinator.go", "status.Code(err) == codes.PermissionDenied // not", "err != nil && false // not"}}, in("coordinator", "TestPlaceOfARevokedHolder"), killer{}},
		{"analyst port: what is left to a person after its rows were read is said at once", 0, []edit{{"internal/agent/arrival.go", " && (waited || s == nil || !s.unattended))", " && (waited || s != nil || !s.unattended))"}}, in("agent", "TestLeftToAPersonAfterTheRowsWereRead"), killer{}},
		{"page: another port's cookie hides its own", 0, []edit{{"internal/dashboard/visitor.go", "		if !known {\n			continue\n		}", "		if !known {\n			break\n		}"}}, in("dashboard", "TestAnotherPortsCookieLocksNobodyOut"), killer{}},
		{"site page: another port's cookie hides its own", 0, []edit{{"internal/sitepage/sitepage.go", "range r.CookiesNamed(p.cookieName()) {", "range r.CookiesNamed(p.cookieName())[:min(1, len(r.CookiesNamed(p.cookieName())))] {"}}, in("sitepage", "TestAnotherPortsCookieLocksNobodyOut"), killer{}},
	})
}

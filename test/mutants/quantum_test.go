//go:build mutants

package mutants

// Links that a later quantum computer could open: that they are said to be such, and refused where
// a policy demands others.
func init() {
	const (
		exchange = "internal/pki/keyexchange.go"
		nodes    = "internal/pki/node.go"
	)
	tables = append(tables, []mutant{
		{"quantum: a classical group is called safe", 0, []edit{{exchange, "tls.SecP384r1MLKEM1024}", "tls.SecP384r1MLKEM1024, tls.X25519}"}}, in("pki", "TestKeyExchange"), killer{}},
		{"quantum: a site that demands speaks over any link", 0, []edit{{exchange, "if !isQuantumSafe(s.CurveID) {", "if false {"}}, in("pki", "TestDemandQuantumSafe"), killer{}},
		{"quantum: a demand replaces what was verified", 0, []edit{{exchange, "		if before != nil {\n", "		if before == nil {\n			_ = before\n		} else if false {\n"}}, in("pki", "TestDemandKeepsOthers"), killer{}},
		{"quantum: a server that demands takes any link of a configuration made at the handshake", 0, []edit{{exchange, "		now.CurvePreferences = quantumSafe\n", ""}}, in("pki", "TestServeQuantumSafe"), killer{}},
		{"quantum: a server that demands takes any link of its own configuration", 0, []edit{{exchange, "	c.CurvePreferences = quantumSafe\n", ""}}, in("pki", "TestPeersQuantumSafe"), killer{}},
		{"quantum: any alert is explained by the key exchange", 0, []edit{{exchange, "	if slices.ContainsFunc(offered, isQuantumSafe) {\n		return err", "	if false {\n		return err"}}, in("pki", "TestServeQuantumSafe"), killer{}},
		{"quantum: coordinators that demand dial over any link", 0, []edit{{nodes, "		DemandQuantumSafe(c)\n	}\n	return c", "	}\n	return c"}}, in("pki", "TestPeersQuantumSafe"), killer{}},
		{"quantum: coordinators that demand accept any link", 0, []edit{{nodes, "		ServeQuantumSafe(member, nil)\n", ""}}, in("pki", "TestPeersQuantumSafe"), killer{}},
		{"quantum: the CA's key goes over any link", 0, []edit{{nodes, "	ServeQuantumSafe(stranger, nil) // the CA's key is in the answer\n", ""}}, in("pki", "TestPeersQuantumSafe"), killer{}},
		{"quantum: a coordinator asks for the CA's key over any link", 0, []edit{{nodes, "	DemandQuantumSafe(c)\n	return c\n", "	return c\n"}}, in("pki", "TestPeersQuantumSafe"), killer{}},
		{"quantum: the coordinator's option is not heard at the sites' port", 0, []edit{{"internal/coordinator/safe.go", "if c.quantumSafe {", "if false {"}}, in("coordinator", "TestQuantumSafeLinks"), killer{}},
		{"quantum: refused callers fill the log", 0, []edit{{"internal/admission/refused.go", "|| len(r.hosts) >= maxRefusedHosts", ""}}, in("admission", "TestRefusedHostsAreBounded"), killer{}},
		{"quantum: a coordinator starts that lets nobody in", 0, []edit{{"internal/node/node.go", "pki.CheckQuantumSafe(); err != nil", "error(nil); err != nil"}}, in("node", "TestQuantumSafeConfig"), killer{}},
		{"quantum: of several links with a coordinator the strongest is shown", 0, []edit{{"internal/node/port.go", "err == nil && !out[name].Weak() {", "err == nil && !out[name].QuantumSafe {"}}, in("node", "TestQuantumSafePeers"), killer{}},
		{"quantum: the agent does not hear its policy", 0, []edit{{"internal/uplink/uplink.go", "		pki.DemandQuantumSafe(tls)\n", ""}}, in("agent", "TestQuantumSafeLink"), killer{}},
		{"quantum: a policy that changes leaves the link", 0, []edit{{"internal/agent/settings.go", "	s.a.uplink.Again()", "	// s.a.uplink.Again()"}}, in("agent", "TestQuantumSafeLink"), killer{}},
		{"quantum: a link of an earlier policy says hello", 0, []edit{{"internal/uplink/uplink.go", "	if u.o.QuantumSafe() && !exchange.QuantumSafe {", "	if false {"}}, in("uplink", "TestPolicyChangesWhileDialing"), killer{}},
		{"quantum: checks pass over a link that the agent refuses", 0, []edit{{"internal/doctor/probe.go", "if err == nil && p.safe {", "if false {"}}, in("agent", "TestQuantumSafeLink"), killer{}},
		{"quantum: a weak link is in order", 0, []edit{{"internal/doctor/probe.go", "line.Warning, line.Do = true, remedies[CheckKeyExchange]", "_ = line"}}, in("agent", "TestQuantumSafeLink"), killer{}},
		{"quantum: a site that is away has a safe link", 0, []edit{{"internal/dashboard/metrics.go", "			if s.Connected {\n				put(mSiteSafe", "			if true {\n				put(mSiteSafe"}}, in("dashboard", "TestKeyExchangesAreShown"), killer{}},
		{"quantum: no warning of a site's weak link", 0, []edit{{"internal/dashboard/model.go", "if row.Exchange.Weak() {", "if false {"}}, in("dashboard", "TestKeyExchangesAreShown"), killer{}},
		{"quantum: an analyst's link is not noted", 0, []edit{{"internal/coordinator/server.go", "ok && who.Role == pki.RoleAnalyst", "ok && who.Role == \"nobody\""}}, in("coordinator", "TestKeyExchangesAreListed"), killer{}},
	})
}

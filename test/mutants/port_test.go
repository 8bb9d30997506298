//go:build mutants

package mutants

// The coordinators' port, who is a member, and what sites write.
func init() {
	const (
		pkiNode  = "internal/pki/node.go"
		peerPort = "internal/node/port.go"
		peerGate = "internal/node/gate.go"
		enroll   = "internal/coordinator/enroll.go"
		registry = "internal/coordinator/registry.go"
		machine  = "internal/coordinator/machine.go"
		operator = "internal/node/operator.go"
	)
	tables = append(tables, []mutant{
		{"a join's proof of the identity key is not looked at", 0, []edit{
			{enroll, "pki.CheckIdentityProof(identity, name, hash, csr, proof); err != nil", "pki.CheckIdentityProof(identity, name, hash, csr, proof); false && err != nil"},
		}, in("coordinator", "TestAnotherSitesIdentity"), killer{}},
		{"a join whose reply was lost is written again", 0, []edit{
			{enroll, "	if again {", "	if again && false {"},
		}, in("coordinator", "TestNewestJoinFileAlone"), killer{}},
		{"the coordinators' port takes TLS 1.2", 0, []edit{
			{pkiNode, "			MinVersion: tls.VersionTLS13, Time: p.now, SessionTicketsDisabled: true,", "			MinVersion: tls.VersionTLS12, Time: p.now, SessionTicketsDisabled: true,"},
		}, in("pki", "TestPeersSpeakOnlyTLS13"), killer{}},
		{"who dials a coordinator does not look whose certificate it is", 0, []edit{
			{pkiNode, "		VerifyConnection:     p.Check,\n", ""},
		}, in("pki", "TestPeersLookAtNames"), killer{}},
		{"who accepts a coordinator does not look whose certificate it is", 0, []edit{
			{pkiNode, "	member.VerifyConnection = p.Check\n", ""},
		}, in("pki", "TestPeersLookAtNames"), killer{}},
		{"a coordinator's key is not looked at", 0, []edit{
			{pkiNode, "p.known != nil && (!ok || !p.known(key))", "p.known != nil && (!ok || len(key) == 0)"},
		}, in("pki", "TestPeersPin"), killer{}},
		{"an own CA need not be able to sign", 0, []edit{
			{"internal/pki/own.go", "cert.KeyUsage != 0 && cert.KeyUsage&x509.KeyUsageCertSign == 0", "false"},
		}, in("pki", "TestOwnCAMustSign"), killer{}},
		{"the operator's socket is open to others", 0, []edit{
			{"internal/node/node.go", "return l, os.Chmod(path, 0o600)", "return l, os.Chmod(path, 0o666)"},
		}, in("node", "TestOperatorsSocketIsTheirs"), killer{}},
		{"a new coordinator's token is looked up by the log alone", 0, []edit{
			{registry, "c.machine.spendable(attempt); err != nil", "c.machine.spendable(attempt); false && err != nil"},
		}, in("coordinator", "TestNodeJoinsWithoutATokenWriteNothing"), killer{}},
		{"a joiner's body is bounded as an operator's", 0, []edit{
			{operator, "operator.Decode(r, maxJoin, &q)", "operator.Decode(r, maxRequest, &q)"},
		}, in("node", "TestJoinersBodyIsBounded"), killer{}},
		{"joiners ask as often as they like", 0, []edit{
			{peerPort, "if !p.gate.joins(e) {", "if !p.gate.joins(e) && false {"},
		}, in("node", "TestJoinersAreRationed"), killer{}},
		{"joiners ask as often as they like on one connection", 0, []edit{
			{operator, "	s.SetKeepAlivesEnabled(false)\n", ""},
		}, in("node", "TestStrangersWriteNothing"), killer{}},
		{"handshakes have no bound", 0, []edit{
			{peerGate, "if len(in.all) >= maxStrangers {", "if len(in.all) >= maxStrangers && false {"},
		}, in("node", "TestSilentHandshakesKeepNobodyOut"), killer{}},
		{"the oldest handshake ends, whosever it is", 0, []edit{
			{peerGate, "if e.host.strangers > most.strangers {", "most = in.all[0].host; if false {"},
		}, in("node", "TestFloodEndsItsOwn"), killer{}},
		{"a coordinator's host has no places of its own", 0, []edit{
			{peerGate, "	if h.own != nil {\n", "	if false {\n"},
		}, in("node", "TestCoordinatorsHostsHavePlaces"), killer{}},
		{"a removed coordinator keeps its connections", 0, []edit{
			{peerPort, "if conn != nil && p.tls.Check(conn.ConnectionState()) != nil {", "if conn != nil && p.tls.Check(conn.ConnectionState()) != nil && false {"},
		}, in("node", "TestRecheckEndsConnections"), killer{}},
		{"who is removed during its handshake is let in", 0, []edit{
			{peerPort, "	return p.tls.Check(conn.ConnectionState())\n", "	return nil\n"},
		}, in("node", "TestRemovedWhileItShakesHands"), killer{}},
		{"a latecomer asks nobody who the coordinators are", 0, []edit{
			{"internal/node/node.go", "		g.Go(func() error { n.members.ask(ctx); return nil })\n", ""},
		}, in("node", "TestLatecomerFindsANewLeader"), killer{}},
		{"the list of coordinators is not kept", 0, []edit{
			{"internal/node/members.go", "pki.SaveMembers(m.dir, list)", "error(nil)"},
		}, in("node", "TestMembersOutliveARestart"), killer{}},
		{"an older join file is as good as the newest", 0, []edit{
			{"internal/membership/state.go", "	s.Withdraw(role, name)\n	s.Invites", "	s.Invites"},
		}, in("coordinator", "TestNewestJoinFileAlone"), killer{}},
		{"a revocation leaves join files", 0, []edit{
			{"internal/membership/state.go", "	s.Withdraw(e.Role, e.Name)\n", ""},
		}, in("coordinator", "TestNewestJoinFileAlone"), killer{}},
		{"a removal leaves join files", 0, []edit{
			{"internal/membership/node.go", "	s.Withdraw(RoleNode, e.Node)\n", ""},
		}, in("node", "TestRemoveShutsOutWhoHasNotEntered"), killer{}},
		{"a data set's name may be anything", 0, []edit{
			{"internal/coordinator/server.go", "wire.CheckDataset(d.Name); err != nil", "wire.CheckDataset(d.Name); false && err != nil"},
		}, in("coordinator", "TestDatasetNames"), killer{}},
		{"a coordinator's address may be anything", 0, []edit{
			{"internal/node/member.go", "err != nil || frame.Printable(a) != a ||", "err != nil || frame.Printable(a) == \"\" ||"},
		}, in("node", "TestAddressesArePlain"), killer{}},
		{"another coordinator's refusal is shown as it came", 0, []edit{
			{"internal/node/member.go", "said := frame.Printable(e.Error)", "said := e.Error"},
		}, in("node", "TestRefusalsArePrintable"), killer{}},
		{"marks are drawn over other lines", 0, []edit{
			{"internal/name/text.go", "if marks > MostMarks {", "if marks > 100*MostMarks {"},
		}, in("name", "TestReadable"), killer{}},
		{"a letter that shows nothing is shown", 0, []edit{
			{"internal/name/text.go", " && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)", " && unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z)"},
		}, in("frame", "TestWord"), killer{}},
		{"a roster's name may be anything", 0, []edit{
			{"internal/proposal/proposal.go", "validName(field+\".name\", m.Name)", "validText(field+\".name\", m.Name)"},
		}, in("proposal", "TestSitesNames"), killer{}},
		{"a reader's name may be anything", 0, []edit{
			{"internal/proposal/party.go", "validName(field+\".name\", one.Name)", "validText(field+\".name\", one.Name)"},
		}, in("proposal", "TestPartiesAreApart"), killer{}},
		{"a data set's name is listed as the site wrote it", 0, []edit{
			{"cmd/coordinator/site.go", "frame.Word(name)", "name"},
		}, killer{pkg: "cmd/coordinator", run: "TestSitesNamesAreQuoted"}, killer{}},
	})
}

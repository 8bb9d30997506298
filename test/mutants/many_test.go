//go:build mutants

package mutants

// Studies that are over, snapshots written while entries are applied, and what leaves the state.
func init() {
	const members, closed, snapshot = "internal/membership/state.go", "internal/outline/closed.go", "internal/coordinator/snapshot.go"
	forgo, out, held := in("membership", "TestForgo"), in("coordinator", "TestForgottenStaysOut"), in("coordinator", "TestSnapshotHoldsNobodyUp")
	alike := in("coordinator", "TestRestoredAnswersAlike")
	over := in("coordinator", "TestListsReadSummaries")
	tables = append(tables, []mutant{
		{"many: everybody is forgotten", 0, []edit{{members, "return h.Revoked && !h.Until.IsZero()", "return !h.Revoked || !h.Until.IsZero()"}}, forgo, killer{}},
		{"many: who was revoked at an unknown time is forgotten", 0, []edit{{members, "return h.Revoked && !h.Until.IsZero() && ", "return h.Revoked && "}}, forgo, killer{}},
		{"many: who is revoked is forgotten at once", 0, []edit{{members, " && at.After(h.Until) })", " })"}}, forgo, killer{}},
		{"many: who is revoked is forgotten with its certificates", 0, []edit{{members, "h.Until = at.Add(pki.ClientValidity + keptRevoked)", "h.Until = at.Add(pki.ClientValidity)"}}, forgo, killer{}},
		{"many: who is revoked is forgotten before its certificates end", 0, []edit{{members, "h.Until = at.Add(pki.ClientValidity + keptRevoked)", "h.Until = at.Add(keptRevoked)"}}, forgo, killer{}},
		{"many: who is revoked is never forgotten", 0, []edit{{members, "if !h.Revoked && !at.IsZero() {", "if false {"}}, forgo, killer{}},
		{"many: a second revocation counts", 0, []edit{{members, "if !h.Revoked && !at.IsZero() {", "if !at.IsZero() {"}}, forgo, killer{}},
		{"many: a join file is good after its use", 0, []edit{{members, "	delete(s.Invites, e.Token)\n	s.Holders(role)", "	s.Holders(role)"}}, forgo, killer{}},
		{"many: join files that are over stay", 0, []edit{{members, "return at.After(i.Expires.Add(keptInvite))", "return false"}}, forgo, killer{}},
		{"many: join files are forgotten before their end", 0, []edit{{members, "return at.After(i.Expires.Add(keptInvite))", "return at.After(i.Expires.Add(-keptInvite))"}}, forgo, killer{}},
		{"many: entries forget nobody", 0, []edit{{"internal/coordinator/machine.go", "		m.who.Forgo(e.At)\n", ""}}, out, killer{}},
		{"many: who is not known comes in", 0, []edit{{"internal/coordinator/server.go", "if !ok || h.Revoked {", "if h.Revoked {"}, {"internal/coordinator/server.go", "if key, ok := leaf.PublicKey.(ed25519.PublicKey); !ok ||", "if key, is := leaf.PublicKey.(ed25519.PublicKey); ok && !is || ok &&"}}, out, killer{}},
		{"many: any key of the name comes in", 0, []edit{{"internal/coordinator/server.go", "!ok || !key.Equal(ed25519.PublicKey(h.TLS))", "!ok || key == nil"}}, out, killer{}},
		{"many: a snapshot shares members", 0, []edit{{snapshot, "m.who.Clone()", "m.who"}}, held, killer{}},
		{"many: a snapshot shares counts", 0, []edit{{snapshot, "m.counts.Clone()", "m.counts"}}, held, killer{}},
		{"many: a snapshot shares dates", 0, []edit{{snapshot, "maps.Clone(m.dates)", "m.dates"}}, held, killer{}},
		{"many: a snapshot shares places in the chain", 0, []edit{{snapshot, "maps.Clone(m.chained)", "m.chained"}}, held, killer{}},
		{"many: a snapshot shares decisions", 0, []edit{{snapshot, "s.Words[d] = maps.Clone(words)", "s.Words[d] = words"}}, held, killer{}},
		{"many: a snapshot shares verdicts", 0, []edit{{"internal/round/approval.go", "	d.Verdicts = slices.Clone(d.Verdicts)\n", "	_ = slices.Clone(d.Verdicts)\n"}}, held, killer{}},
		{"many: a snapshot is written between entries", 0, []edit{{"internal/replica/machine.go", "	return image(write), nil\n", "	var b bytes.Buffer\n	if err := write(&b); err != nil {\n		return nil, err\n	}\n	return image(func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }), nil\n"}, {"internal/replica/machine.go", "import (\n", "import (\n	\"bytes\"\n"}}, in("replica", "TestEntriesDuringSnapshot"), killer{}},
		{"many: a burst of entries waits for raft's next look", 0, []edit{{"internal/replica/node.go", "	go n.compact() // not before: a start has enough to do\n", ""}}, in("replica", "TestBurstIsSaved"), killer{}},
		{"many: few long entries are no burst", 0, []edit{{"internal/replica/backlog.go", "1+uint64(bytes)/heavy", "1+0*uint64(bytes)"}}, in("replica", "TestBurstIsSaved"), killer{}},
		{"many: a snapshot ends no burst", 0, []edit{{"internal/replica/machine.go", "	f.since.Store(0)\n", ""}}, in("replica", "TestBurstIsSaved"), killer{}},
		{"many: snapshots of bursts take all the time", 0, []edit{{"internal/replica/backlog.go", "max(apart, share*time.Since(began))", "apart+0*time.Since(began)"}}, in("replica", "TestBurstsLeaveTime"), killer{}},
		{"many: a copy has what memory holds for its buffer", 0, []edit{{"internal/shelf/shelf.go", "		if item.file != nil {\n			*buf = b\n		}\n", "		*buf = b\n"}}, in("shelf", "TestCopies"), killer{}},
		{"many: what memory holds is the next one's buffer", 0, []edit{{"internal/shelf/shelf.go", "*buf = nil // the item has it", "_ = item"}}, in("shelf", "TestCopies"), killer{}},
		{"many: a study that is over is read at the start", 0, []edit{{snapshot, "		fresh.closed[c.View.Digest] = c\n", "		if _, _, err := c.Load(); err != nil {\n			return fresh, err\n		}\n		fresh.closed[c.View.Digest] = c\n"}}, over, killer{}},
		{"many: a study that is over stays in memory", 0, []edit{{"internal/coordinator/closed.go", "		m.sessions[digest] = &memory{Session: new(session.Session), faults: kept.faults}\n", "		_ = kept\n"}}, in("coordinator", "TestOverIsForgotten"), killer{}},
		{"many: another study's bytes", 0, []edit{{closed, "if proposal.DigestOf(r.State.Body) != c.View.Digest || ", "if "}}, over, killer{}},
		{"many: a summary of other sites", 0, []edit{{closed, "len(v.Sites) != n || ", ""}}, over, killer{}},
		{"many: a study is proposed again", 0, []edit{{"internal/coordinator/machine.go", "if m.closed[e.Study] != nil || ", "if "}}, over, killer{}},
		{"many: the disk's bytes are not checked", 0, []edit{{"internal/shelf/shelf.go", " || crc32.Checksum(b, table) != i.sum {", " {"}}, in("shelf", "TestChanged"), killer{}},
		{"many: a cut file's end comes from an earlier reading", 0, []edit{{"internal/shelf/shelf.go", "n != len(b) || ", ""}, {"internal/shelf/shelf.go", "n, err := i.file.ReadAt", "_, err := i.file.ReadAt"}}, in("shelf", "TestCut"), killer{}},
		{"many: a full disk loses bytes", 0, []edit{{"internal/shelf/shelf.go", "	item.held = b\n", ""}}, in("shelf", "TestShelf"), killer{}},
		{"many: a summary has what the leader alone knows", 0, []edit{{"internal/coordinator/memory.go", "	state.Step(round.Led{}) // of no link: nothing follows\n", ""}}, in("coordinator", "TestLeaderClosesAsFollowers"), killer{}},
		{"many: a restored summary bounds no message", 0, []edit{{closed, "`json:\"limit\"`", "`json:\"-\"`"}}, alike, killer{}},
		{"many: a study that is over is read as a site says hello", 0, []edit{{"internal/coordinator/closed.go", "	if r.Releases() > 0 {\n		l.SendLater(", "	if r.Releases() > 0 {\n		func(f func() ([]byte, error)) { b, _ := f(); l.Send(b, stream.About{}) }("}}, in("coordinator", "TestTellingAnEndReadsNothing"), killer{}},
		{"many: nothing is a message", 0, []edit{{"internal/stream/stream.go", "if err != nil || raw == nil {", "if err != nil {"}}, in("stream", "TestNothingMadeLateIsNotSent"), killer{}},
		{"many: places in the chain are not restored", 0, []edit{{snapshot, "		fresh.chained[study] = n\n", "		_ = n\n"}}, alike, killer{}},
	})
}

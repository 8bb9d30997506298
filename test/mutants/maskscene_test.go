//go:build mutants

package mutants

// What scenes of a hostile coordinator, a corrupt dealer and somebody with a recording see of the
// masks.
func init() {
	const (
		box, commit, pair  = "internal/secagg/box.go", "internal/secagg/commitment.go", "internal/secagg/pair.go"
		receive, accuse    = "internal/secagg/receive.go", "internal/secagg/accusation.go"
		shares, opening    = "internal/secagg/shares.go", "internal/secagg/opening.go"
		announce, settings = "internal/secagg/announcement.go", "internal/secagg/config.go"
	)
	scene := func(run string) killer { return killer{pkg: "test/hostile", run: run} }
	tables = append(tables, []mutant{
		{"scene: recording: boxes under X25519 alone", 0, []edit{
			{box, "both := slices.Concat(secret, agreed)", "both := slices.Concat(agreed)"},
		}, scene("TestOracle"), killer{}},
		{"scene: recording: boxes under ML-KEM alone", 0, []edit{
			{box, "both := slices.Concat(secret, agreed)", "both := slices.Concat(secret)"},
		}, scene("TestOracle"), killer{}},
		{"scene: recording: boxes with a constant in the place of what ML-KEM gives", 0, []edit{
			{box, "both := slices.Concat(secret, agreed)", "both := slices.Concat(make([]byte, 32), agreed)"},
		}, scene("TestOracle"), killer{}},
		{"scene: recording: a proof shows a value of what masks the combination", 0, []edit{
			{commit, "	erase([]*edwards25519.Scalar{y0, sum}) // sum and P make y0 again\n", "	bare := y0.Bytes()\n"},
			{commit, "	return leaves, subtle", "	copy(leaves, bare)\n	return leaves, subtle"},
		}, scene("TestOracle"), killer{}},
		{"scene: recording: commitments are multiples of a point", 0, []edit{
			{commit, "	return hash(\"secret\", c.header[:], u32(slot), []byte{byte(which)}, value.Bytes())", "	return [32]byte(new(edwards25519.Point).ScalarBaseMult(value).Bytes())"},
		}, scene("TestOracle"), killer{}},
		{"scene: dealing: a challenge that leaves a place out", 0, []edit{
			{commit, "	h.Write(places)\n", "	h.Write(places[32:])\n"},
		}, scene("TestDealtByTheBook"), killer{}},
		{"scene: dealing: the combination is checked at another place", 0, []edit{
			{commit, "	y0 := b.p.at(scalarOf(uint64(x)))", "	y0 := b.p.at(scalarOf(uint64(x + 1)))"},
		}, scene("TestDealtByTheBook"), killer{}},
		{"scene: dealing: a leaf that could be of another slot", 0, []edit{
			{commit, "hash(\"leaf\", c.header[:], u16(x), u32(slot), []byte", "hash(\"leaf\", c.header[:], u16(x), u32(0), []byte"},
		}, scene("TestDealtByTheBook"), killer{}},
		{"scene: dealing: shares are not checked", 0, []edit{
			{commit, "	return leaves, subtle.ConstantTimeCompare(place[:], b.place(x)) == 1", "	return leaves, len(place) == 32 || subtle.ConstantTimeCompare(place[:], b.place(x)) == 1"},
		}, scene("TestBadBoxes"), killer{}},
		{"scene: dealing: keys are taken without their tags", 0, []edit{
			{receive, "p.tags[tagSize*slot:][:tagSize]) != 1 {", "p.tags[tagSize*slot:][:tagSize]) != 1 && len(k) == 0 {"},
		}, scene("TestBadBoxes"), killer{}},
		{"scene: dealing: coefficients that are no numbers", 0, []edit{
			{announce, "	if _, err := c.parseBody(a.body); err != nil {", "	if _, err := c.parseBody(a.body); err != nil && len(a.body) == 0 {"},
		}, scene("TestForgedSetup"), killer{}},
		{"scene: dealing: pads of all slots are one", 0, []edit{
			{pair, "return p.derive(e.Bytes(), \"deposit\")", "return edge{p.transcript, 0, p.i, p.j}.derive(e.Bytes(), \"deposit\")"},
		}, scene("TestRecalled"), killer{}},
		{"scene: dealing: keys of all slots are one", 0, []edit{
			{pair, "return p.derive(e.Bytes(), \"pair\")", "return edge{p.transcript, 0, p.i, p.j}.derive(e.Bytes(), \"pair\")"},
		}, scene("TestDealtByTheBook"), killer{}},
		{"scene: accusations: anybody's keys convict", 0, []edit{
			{accuse, "	if err != nil || !bytes.Equal(private.PublicKey().Bytes(), s.sites[to].transport.Bytes()) {", "	if err != nil || private == nil {"},
			{accuse, "	if err != nil || sha256.Sum256(seal.EncapsulationKey().Bytes()) != s.sites[to].sealHash {", "	if sealHash := sha256.Sum256(accusation); err != nil || sealHash == s.sites[to].sealHash {"},
		}, scene("TestBadBoxes"), killer{}},
		{"scene: accusations: one box signed twice convicts", 0, []edit{
			{accuse, "	return !bytes.Equal(tags, p.tags) &&", "	return len(p.tags) == len(tags) &&"},
		}, scene("TestTwoBoxes"), killer{}},
		{"scene: opening: keys of pairs inside the set are told", 0, []edit{
			{shares, "		if u.Contains(i) {\n			continue // never of a pair inside U", "		if u.Contains(i) && len(u) == 0 {\n			continue // never of a pair inside U"},
		}, scene("TestSlotAttacks"), killer{}},
		{"scene: opening: deposits that miss their tags are taken", 0, []edit{
			{opening, "		switch fits, known := o.fitsTag(i, j, key); {\n		case !known:\n			missing = append(missing, j)\n		case !fits:", "		switch fits, known := o.fitsTag(i, j, key); {\n		case !known:\n			missing = append(missing, j)\n		case !fits && !known:"},
		}, scene("TestFallback"), killer{}},
		{"scene: opening: any proof is one", 0, []edit{
			{opening, "	if !bytes.Equal(place[:], b.place(x)) {", "	if !bytes.Equal(place[:], b.place(x)) && len(others) == 0 {"},
		}, scene("TestProofs"), killer{}},
		{"scene: opening: survivors' secrets are not compared", 0, []edit{
			{opening, "		if s.opens(j, o.q.Slot, which(o.in[j]), secret.Bytes()) {", "		if o.in[j] || s.opens(j, o.q.Slot, which(o.in[j]), secret.Bytes()) {"},
		}, scene("TestProofs"), killer{}},
		{"scene: opening: a dealer that lied is not named", 0, []edit{
			{leaderUnmasking, "study.CodeBadDealer, study.SeatOf(guilty.Site)\n", "study.CodeInternal, study.SeatOf(-1-0*guilty.Site)\n"},
		}, killer{pkg: "test/corrupt", run: "TestLyingDealer"}, killer{}},
		{"scene: removal: a site outside of the set tells a key of its noise", 0, []edit{
			{shares, "h.s.cfg.MinSurvivors && h.u.Contains(h.site)", "h.s.cfg.MinSurvivors"},
		}, scene("TestNoiseIsRemovedForOneSet"), killer{}},
		{"scene: removal: the key of all noise whatever the set", 0, []edit{
			{shares, "NoiseChain(own, q.Context, s.cfg.sites(), len(u))", "NoiseChain(own, q.Context, s.cfg.sites(), s.cfg.sites())"},
		}, scene("TestNoiseIsRemovedForOneSet"), killer{}},
		{"scene: waiting: e is shared where nobody can be missing", 0, []edit{
			{settings, "	if c.Whole() {\n		return 1\n	}\n	return 2", "	return 2"},
		}, scene("TestWholeKeysNothing"), killer{}},
	})
}

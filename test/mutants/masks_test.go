//go:build mutants

package mutants

const (
	maskCommitment = "internal/secagg/commitment.go"
	maskOpening    = "internal/secagg/opening.go"
	maskShares     = "internal/secagg/shares.go"
	maskBox        = "internal/secagg/box.go"
	maskReceive    = "internal/secagg/receive.go"
	maskAccusation = "internal/secagg/accusation.go"
	maskPair       = "internal/secagg/pair.go"
	maskAnnounced  = "internal/secagg/announcement.go"
	maskChain      = "internal/secagg/chain.go"
)

// mask is a mutant of package secagg.
func mask(name, test string, edits ...edit) mutant {
	return mutant{"masks: " + name, 0, edits, in("secagg", test), killer{}}
}

func init() {
	tables = append(tables, []mutant{
		mask("g without one place", "TestChallengeBindsEverything", edit{maskCommitment, "	h.Write(places)\n", "	h.Write(places[32:])\n"}),
		mask("g without the secrets' hashes", "TestChallengeBindsEverything", edit{maskCommitment, "	h.Write(secrets)\n", ""}),
		mask("a leaf without its slot", "TestChallengeBindsEverything", edit{maskCommitment, `hash("leaf", c.header[:], u16(x), u32(slot),`, `hash("leaf", c.header[:], u16(x), u32(0),`}),
		mask("a leaf without its announcement", "TestChallengeBindsEverything", edit{maskCommitment, `hash("leaf", c.header[:],`, `hash("leaf",`}),
		mask("a secret's hash without its slot", "TestChallengeBindsEverything", edit{maskCommitment, `hash("secret", c.header[:], u32(slot),`, `hash("secret", c.header[:], u32(0),`}),
		mask("P is checked at x+1", "TestEachShareIsOfItsPolynomial", edit{maskCommitment, "y0 := b.p.at(scalarOf(uint64(x)))", "y0 := b.p.at(scalarOf(uint64(x + 1)))"},
			edit{maskCommitment, "	place := commit.place(x, leaves)\n	return leaves, subtle", "	place := commit.place(x, leaves)\n	copy(place[:], b.place(x)) // all pass\n	return leaves, subtle"}),
		mask("P is not checked", "TestEachShareIsOfItsPolynomial", edit{maskCommitment, "== 1\n", ">= 0\n"}),
		mask("y_0 is kept in its leaf's place", "TestGolden", edit{maskCommitment, "	erase([]*edwards25519.Scalar{y0, sum})", "	shown := y0.Bytes()\n	erase([]*edwards25519.Scalar{y0, sum})"},
			edit{maskCommitment, "	place := commit.place(x, leaves)\n	return leaves, subtle", "	place := commit.place(x, leaves)\n	copy(leaves, shown)\n	return leaves, subtle"}),
		mask("the mask polynomial's key is left behind", "TestMaskPolynomial", edit{maskAnnounced, "	defer clear(mask[:])\n", ""}),
		mask("the mask polynomial's key is not drawn", "TestMaskPolynomial", edit{maskAnnounced, "	rand.Read(mask[:]) // never", "	rand.Read(nil) // never"}),
		mask("the mask polynomial without the secrets", "TestMaskPolynomial", edit{maskCommitment, "sealHash, all[:], u16(i))", "sealHash, all[:0], u16(i))"}),
		mask("the mask polynomial without the ML-KEM key", "TestMaskPolynomial", edit{maskCommitment, "transport, sealHash, all[:], u16(i))", "transport, all[:], u16(i))"}),
		mask("transport keys of low order", "TestAnnouncementsAreChecked", edit{maskAnnounced, "	if _, err := own.ECDH(key); err != nil {", "	if _, err := own.ECDH(key); false && err != nil {"}),
		mask("numbers of P are not read", "TestAnnouncementsAreChecked", edit{maskAnnounced, "	if _, err := c.parseBody(a.body); err != nil {", "	if _, err := c.parseBody(a.body); false && err != nil {"}),
		mask("a header without U_min", "TestAnnouncementIsOfOneConfig", edit{"internal/secagg/config.go", "c.Quorum, c.MinSurvivors, c.Slots}", "c.Quorum, 0, c.Slots}"}),
		mask("a graph drawn without the nonces of some", "TestSparseAnnouncements", edit{"internal/secagg/board.go", "	if len(nonces) != len(b.nonces) {", "	if false {"}),
		mask("an ML-KEM key that the head does not name", "TestSparseAnnouncements", edit{"internal/secagg/board.go", "	if sha256.Sum256(seal) != s.sites[site].sealHash {", "	if false {"}),
		mask("a body that the head does not name", "TestSparseAnnouncements", edit{"internal/secagg/board.go", "	} else if sha256.Sum256(raw) != s.sites[site].bodyHash {", "	} else if false {"}),
		mask("a box's signature is not checked", "TestRelayedBoxes", edit{maskBox, "good := s.holding(list); good < len(list)", "good := s.holding(list); good < 0"}),
		mask("a box's signature without its tags", "TestTwoBoxesConvict", edit{maskBox, "sealedHash[:], tagsHash[:])", "sealedHash[:], tagsHash[:0])"}),
		mask("a box's key of X25519 alone", "TestGolden", edit{maskBox, "	both := slices.Concat(secret, agreed)", "	both := slices.Concat(agreed)"}),
		mask("a box's key of ML-KEM alone", "TestGolden", edit{maskBox, "	both := slices.Concat(secret, agreed)", "	both := slices.Concat(secret)"}),
		mask("a key is not compared with its tag", "TestBadBoxesNameTheDealer", edit{maskReceive, "p.tags[tagSize*slot:][:tagSize]) != 1 {", "p.tags[tagSize*slot:][:tagSize]) > 1 {"}),
		mask("an accuser's X25519 key is not checked", "TestBadBoxesNameTheDealer", edit{maskAccusation, "	if err != nil || !bytes.Equal(private.PublicKey().Bytes(), s.sites[to].transport.Bytes()) {", "	if private == nil || err != nil {"}),
		mask("an accuser's ML-KEM key is not checked", "TestBadBoxesNameTheDealer", edit{maskAccusation, "	if err != nil || sha256.Sum256(seal.EncapsulationKey().Bytes()) != s.sites[to].sealHash {", "	if h := sha256.Sum256(nil); err != nil || h == s.sites[to].sealHash {"}),
		mask("a box that nobody signed convicts", "TestBadBoxesNameTheDealer", edit{maskAccusation, "	p, err := way.unwrap(accusation[accusationSize:])\n	if err != nil {\n		return to, nil", "	p, err := way.unwrap(accusation[accusationSize:])\n	if err != nil {\n		return from, nil"}),
		mask("evidence is not signed", "TestTwoBoxesConvict", edit{maskAccusation, "s.holding([]signature{signed}) == 1", "signed.message != nil"}),
		mask("one box convicts", "TestTwoBoxesConvict", edit{maskAccusation, "	return !bytes.Equal(tags, p.tags) && s", "	return len(tags) >= len(p.tags) && s"}),
		mask("a statement without the tags", "TestStatements", edit{"internal/secagg/deposit.go", "u16(site), all.Sum(nil), of[:])", "u16(site), of[:])"}),
		mask("a statement without the deposits", "TestStatements", edit{"internal/secagg/deposit.go", "all.Sum(nil), of[:])", "all.Sum(nil), of[:0])"}),
		mask("a pad without its slot", "TestKeysBindEverything", edit{maskPair, `return p.derive(e.Bytes(), "deposit")`, `return edge{p.transcript, 0, p.i, p.j}.derive(e.Bytes(), "deposit")`}),
		mask("a pair's key without its slot", "TestKeysBindEverything", edit{maskPair, `return p.derive(e.Bytes(), "pair")`, `return edge{p.transcript, 0, p.i, p.j}.derive(e.Bytes(), "pair")`}),
		mask("a tag without its transcript", "TestKeysBindEverything", edit{maskPair, "derive(secret, p.transcript[:], label,", "derive(secret, nil, label,"}),
		mask("a pair's mask without ctx", "TestKeysBindEverything", edit{maskPair, `derive(k[:], q.Context[:], "mask",`, `derive(k[:], nil, "mask",`}),
		mask("a self mask without ctx", "TestKeysBindEverything", edit{maskPair, `derive(b.Bytes(), q.Context[:], "self",`, `derive(b.Bytes(), nil, "self",`}),
		mask("coefficients without their slot", "TestKeysBindEverything", edit{"internal/secagg/polynomial.go", "secretLabels[which], u32(slot),", "secretLabels[which], u32(0),"}),
		mask("b and e are one", "TestKeysBindEverything", edit{"internal/secagg/polynomial.go", `[2]string{"b", "e"}`, `[2]string{"b", "b"}`}),
		mask("shares of both kinds", "TestSharesAreOfOneKind", edit{maskShares, "		out = append(out, share.Bytes()...)\n	}\n	if h.chained", "		out = append(out, share.Bytes()...)\n	}\n	if k := len(places) - 1; !s.cfg.Whole() && u.Contains(places[k].Dealer) {\n		copy(out[len(out)-32*len(places):], held.e[k].Bytes())\n	}\n	if h.chained"}),
		mask("keys of a site outside of U", "TestSharesAreOfOneKind", edit{maskShares, "s.cfg.Whole() || !u.Contains(self) || len", "s.cfg.Whole() || len"}),
		mask("keys of pairs inside U", "TestSharesAreOfOneKind", edit{maskShares, "		if u.Contains(i) {\n			continue // never", "		if false {\n			continue // never"}),
		mask("shares, proofs and keys for any U", "TestNothingBelowTheLeastSurvivors", edit{maskShares, "	if err := s.lawful(q, u); err != nil {", "	if err := errors.Join(s.validate(q), u.Validate(s.cfg.sites(), 0)); err != nil {"}),
		mask("the chain's key at U_min", "TestChainOfShares", edit{maskShares, "len(h.u) > h.s.cfg.MinSurvivors", "len(h.u) >= h.s.cfg.MinSurvivors"}),
		mask("the chain's key from outside of U", "TestChainOfShares", edit{maskShares, "h.s.cfg.MinSurvivors && h.u.Contains(h.site)", "h.s.cfg.MinSurvivors"}),
		mask("a component is its level's key", "TestNoiseChain", edit{maskChain, "	for at := u; at > l+1; at-- {", "	for at := u; at > l; at-- {"}),
		mask("a chain without ctx", "TestNoiseChain", edit{maskChain, `derive(own[:], ctx[:], "noise chain"`, `derive(own[:], nil, "noise chain"`}),
		mask("an opened secret is not compared", "TestWrongShare", edit{maskOpening, "which(o.in[j]), secret.Bytes()) {", "which(o.in[j]), secret.Bytes()) || true {"}),
		mask("a proof without the share sent", "TestWrongShare", edit{maskOpening, "	if !bytes.Equal(place[:], b.place(x)) {", "	if !bytes.Equal(place[:], b.place(x)) && false {"}),
		mask("a liar's shares count again", "TestWrongShare", edit{maskOpening, "		o.dropped[from] = true\n", ""}),
		mask("a proof outlives its share", "TestProofIsOfTheShareSent", edit{maskOpening, "		delete(by, helper)\n", "		_ = by\n"}),
		mask("a dealer in U is not named", "TestDealerAndHolder", edit{maskOpening, "	case o.in[dealer]:\n", "	case false:\n"}),
		mask("a dealer outside of U is not convicted", "TestDealerAndHolder", edit{maskOpening, "	o.convicted[dealer] = true\n", ""}),
		mask("false deposits are taken", "TestNoKeyWithoutItsTag", edit{maskOpening, "		case !fits:\n", "		case !fits && false:\n"}),
		mask("keys that miss their tags are taken", "TestNoKeyWithoutItsTag", edit{maskOpening, "		case known && !fits:\n", "		case known && !fits && false:\n"}),
		mask("tags of another length are at hand", "TestNoKeyWithoutItsTag", edit{maskOpening, "	if o.tags(i) == nil && s.tagsSize(i) > 0 {\n", "	if o.kept.Tags[i] == nil && s.tagsSize(i) > 0 {\n"}),
		mask("without tags nothing is rebuilt", "TestNoKeyWithoutItsTag", edit{maskOpening, "		if !bytes.Equal(h[:], o.kept.TagHashes[i][32*slot:32*(slot+1)]) {", "		if len(h) == 0 {"}),
		mask("hashes that are not at hand convict", "TestNoKeyWithoutItsTag", edit{maskOpening, "			return nil, []int{i}\n", "			o.convicted[i] = true\n			return nil, nil\n"}),
		mask("keys are asked for that no tag tells", "TestNoKeyWithoutItsTag", edit{maskOpening, "owner := graph.OwnerOf(p.outside, p.inside); o.tags(owner) == nil {", "owner := p.outside; o.tags(owner) == nil {"}),
		mask("a share prints", "TestSecretsAreDrawnAndRedacted", edit{"internal/secagg/held.go", "func (SlotHeld) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }", "func (h SlotHeld) Format(f fmt.State, _ rune) { io.WriteString(f, fmt.Sprint(h.keys)) }"}),
		mask("an opening prints", "TestSecretsAreDrawnAndRedacted", edit{maskOpening, "func (Opening) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }", "func (o Opening) Format(f fmt.State, _ rune) { io.WriteString(f, fmt.Sprint(o.chains)) }"}),
	})
}

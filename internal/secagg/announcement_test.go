package secagg

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// replace returns a list with another entry.
func replace(list [][]byte, at int, with []byte) [][]byte {
	out := slices.Clone(list)
	out[at] = with
	return out
}

// flip returns bytes with a bit of one changed.
func flip(raw []byte, at int) []byte {
	out := slices.Clone(raw)
	out[at] ^= 1
	return out
}

// names asserts that an error names one site.
func names(t rapid.TB, what string, err error, site int) {
	t.Helper()
	if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != site {
		t.Errorf("%s: %v, want an error of site %d", what, err, site)
	}
}

// relayed asserts that an error blames whoever relayed a site's message, and names nobody.
func relayed(t testing.TB, what string, err error, site int) {
	t.Helper()
	_, named := errors.AsType[*SiteError](err)
	if e, ok := errors.AsType[*RelayError](err); !ok || named || e.Site != site {
		t.Errorf("%s: %v, want that it was not site %d's", what, err, site)
	}
}

// resigned is a site's announcement or head, changed and signed by itself: only the check of what
// was changed can refuse it.
func (g *group) resigned(site int, change func([]byte)) []byte {
	raw := slices.Clone(g.sent[site][:len(g.sent[site])-ed25519.SignatureSize])
	change(raw)
	return append(raw, ed25519.Sign(g.keys[site], raw)...)
}

// lowOrder are X25519 keys that agree on zero: of order 1, 2, 4 and 8, on the curve and on its
// twist.
func lowOrder() [][]byte {
	minusOne := append(append([]byte{0xec}, bytes.Repeat([]byte{0xff}, 30)...), 0x7f)
	modulus := append(append([]byte{0xed}, bytes.Repeat([]byte{0xff}, 30)...), 0x7f)
	eight := []byte{0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00}
	return [][]byte{make([]byte, 32), append([]byte{1}, make([]byte, 31)...), eight, minusOne, modulus}
}

// TestAnnouncementsAreChecked: every byte of an announcement is signed, and what its own site signs
// is checked all the same: the transport key's order, the ML-KEM key's numbers, those of P.
func TestAnnouncementsAreChecked(t *testing.T) {
	g := sharedGroup(t, 3)
	verify := func(raw []byte) error { _, err := Verify(g.cfg, replace(g.sent, 1, raw)); return err }
	for at := range g.sent[1] {
		if verify(flip(g.sent[1], at)) == nil {
			t.Fatalf("an announcement with another byte %d passes", at)
		}
	}
	key := g.cfg.headerSize()
	seal, p := key+32, len(g.sent[1])-ed25519.SignatureSize-32*g.cfg.threshold()
	full := bytes.Repeat([]byte{0xff}, 32)
	bad := map[string][]byte{
		"nothing": nil, "short": g.sent[1][:len(g.sent[1])-1], "long": append(slices.Clone(g.sent[1]), 0), "another site's": g.sent[0],
		"key": g.resigned(1, func(b []byte) { b[seal], b[seal+1] = 0x01, b[seal+1]&0xf0|0x0d }), // 3329
		"p":   g.resigned(1, func(b []byte) { copy(b[p:], full) }),
		"end": g.resigned(1, func(b []byte) { copy(b[p+32*(g.cfg.threshold()-1):], full) }),
	}
	for name, raw := range bad {
		names(t, name, verify(raw), 1)
	}
	for _, u := range lowOrder() {
		err := verify(g.resigned(1, func(b []byte) { copy(b[key:], u) }))
		if names(t, "low order", err, 1); err != nil && !strings.Contains(err.Error(), "low order") {
			t.Error(err)
		}
	}
	if err := verify(g.resigned(1, func(b []byte) { b[seal], b[seal+1] = 0x00, b[seal+1]&0xf0|0x0d })); err != nil {
		t.Errorf("a key with the coefficient 3328: %v", err)
	}
	if _, err := Verify(g.cfg, g.sent[:2]); err == nil {
		t.Error("two announcements of three sites pass")
	}
	for name, err := range map[string]error{
		"announced": g.cfg.CheckAnnounced(1, g.sent[1]), "changed and signed": g.cfg.CheckAnnounced(1, g.resigned(1, func(b []byte) { b[p]++ })),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for site, raw := range map[int][]byte{0: g.sent[1], 1: flip(g.sent[1], p), 2: nil, 3: g.sent[1], -1: g.sent[1]} {
		if g.cfg.CheckAnnounced(site, raw) == nil {
			t.Errorf("site %d's passes", site)
		}
	}
}

// TestAnnouncementIsOfOneConfig: a good announcement by the right site, made for anything else, is
// refused: of another study, roster or bound, of a setup that is whole, of the other graph.
func TestAnnouncementIsOfOneConfig(t *testing.T) {
	g := sharedGroup(t, 6)
	for name, change := range map[string]func(*Config){
		"study":   func(c *Config) { c.Study[31] ^= 1 },
		"roster":  func(c *Config) { c.Identity[3], c.Identity[4] = c.Identity[4], c.Identity[3] },
		"corrupt": func(c *Config) { c.Corrupt = 0 },
		"quorum":  func(c *Config) { c.Quorum, c.MinSurvivors = 5, 5 },
		"U_min":   func(c *Config) { c.MinSurvivors = 5 },
		"whole":   func(c *Config) { c.MinSurvivors = 6 },
		"slots":   func(c *Config) { c.Slots = 1 },
	} {
		c := g.cfg
		c.Identity, c.known = slices.Clone(g.cfg.Identity), nil
		change(&c)
		raw, err := Announce(c, 1, fixedSecrets(c, 1), g.keys[1])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = Verify(g.cfg, replace(g.sent, 1, raw))
		names(t, name, err, 1)
	}
}

// TestMaskPolynomial: what masks the combination of a site's secrets is drawn anew for every
// announcement, of T coefficients, and is no other's even under one key if anything that the
// challenge binds differs. Two announcements of one would tell a relation of all secrets.
func TestMaskPolynomial(t *testing.T) {
	g := sharedGroup(t, 3)
	of := func(cfg Config, sec Secrets, mask *[32]byte) []byte {
		t.Helper()
		raw, err := Announce(cfg, 1, sec, g.keys[1])
		if mask != nil {
			key := *mask
			raw, err = announce(cfg, 1, sec, &key, g.keys[1])
			if key != [32]byte{} {
				t.Error("the mask's key is left behind")
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		h := &group{cfg: cfg, keys: g.keys, secrets: []Secrets{{}, sec, {}}}
		a, err := cfg.parse(1, raw)
		if err != nil {
			t.Fatal(err)
		}
		h.setup = &Setup{Witness{cfg: cfg}, []announced{{}, a, {}}}
		return scalars(h.maskPolynomial(t, 1))
	}
	mask := labelled("mask")
	transport, seal, slot, other := g.secrets[1], g.secrets[1], g.secrets[1], g.cfg
	transport.Transport[1] ^= 1
	seal.Seal[0] ^= 1
	slot.Slots = []SlotSecret{slot.Slots[0], {}}
	other.Study[0] ^= 1
	seen := map[string]bool{}
	for _, p := range [][]byte{
		of(g.cfg, g.secrets[1], nil), of(g.cfg, g.secrets[1], nil), of(g.cfg, g.secrets[1], &mask),
		of(g.cfg, transport, &mask), of(g.cfg, seal, &mask), of(g.cfg, slot, &mask), of(other, g.secrets[1], &mask),
	} {
		for at := 0; at < len(p); at += 32 {
			if c := string(p[at : at+32]); seen[c] || c == string(make([]byte, 32)) || len(p) != 32*g.cfg.threshold() {
				t.Fatal("a coefficient of the mask repeats, or is none")
			}
			seen[string(p[at:at+32])] = true
		}
	}
}

func isConfig(err error) bool {
	_, ok := errors.AsType[*ConfigError](err)
	return ok
}

// drawn is Board.Draw, and an error of neither kind where that does not return.
func drawn(b *Board, nonces [][]byte) (s *Setup, err error) {
	defer func() {
		if failed := recover(); failed != nil {
			s, err = nil, fmt.Errorf("%v", failed)
		}
	}()
	return b.Draw(nonces)
}

// TestNoSuchSite: of a site that the setup does not have, and of the other graph's messages, no
// check looks further, whatever is shown: indices come from sites and from the coordinator.
func TestNoSuchSite(t *testing.T) {
	g, sparse := sharedGroup(t, 3), sharedSparse(t)
	if _, err := VerifyHeads(g.cfg, g.sent); !isConfig(err) {
		t.Errorf("heads of the complete graph: %v", err)
	}
	if _, err := VerifyHeads(sparse.cfg, sparse.sent[:69]); !isConfig(err) {
		t.Errorf("a head too few: %v", err)
	}
	for _, site := range []int{-1, 3} {
		// in what says that it is that site's
		raw := append(g.cfg.header(site), g.sent[0][g.cfg.headerSize():]...)
		if err := g.cfg.CheckAnnounced(site, raw); !isConfig(err) {
			t.Errorf("an announcement of site %d: %v", site, err)
		}
		for _, way := range [][2]int{{site, 0}, {0, site}, {1, 1}} {
			if _, err := g.setup.Judge(way[0], way[1], make([]byte, accusationSize), nil); !isConfig(err) {
				t.Errorf("an accusation of %d by %d: %v", way[0], way[1], err)
			}
		}
		if err := g.setup.CheckStatement(site, nil, nil, nil); !isConfig(err) {
			t.Errorf("deposits of site %d: %v", site, err)
		}
	}
	for _, site := range []int{-1, 70} {
		if err := sparse.setup.CheckKey(site, sparse.seals[0]); !isConfig(err) {
			t.Errorf("a key of site %d: %v", site, err)
		}
		if err := sparse.setup.CheckBody(site, sparse.bodies[0]); !isConfig(err) {
			t.Errorf("a body of site %d: %v", site, err)
		}
	}
	if _, err := UnmarshalSlotHeld(make([]byte, 5)); !isConfig(err) {
		t.Errorf("what is stored of a slot, cut short: %v", err)
	}
}

// TestSparseAnnouncements: every part of a head, a nonce, an ML-KEM key and a body is bound: what
// is changed or exchanged on the way is refused, and its site not named for it.
func TestSparseAnnouncements(t *testing.T) {
	g := sharedSparse(t)
	step := 7
	if testing.Short() {
		step = 61
	}
	for at := 0; at < len(g.sent[2]); at += step {
		if _, err := VerifyHeads(g.cfg, replace(g.sent, 2, flip(g.sent[2], at))); err == nil {
			t.Fatalf("a head with another byte %d passes", at)
		}
	}
	board, err := VerifyHeads(g.cfg, g.sent)
	if err != nil {
		t.Fatal(err)
	}
	// A coordinator that may leave nonces out, or add some, can draw graphs until it likes one.
	for name, nonces := range map[string][][]byte{"no nonce": nil, "without the last nonce": g.nonces[:len(g.nonces)-1],
		"a nonce of nobody": append(slices.Clone(g.nonces), g.nonces[0])} {
		if s, err := drawn(board, nonces); s != nil || !isConfig(err) {
			t.Errorf("%s: a graph is drawn: %v", name, err)
		}
	}
	names(t, "an empty nonce", board.CheckNonce(5, nil), 5)
	names(t, "a nonce that is longer", board.CheckNonce(5, append(slices.Clone(g.nonces[5]), 0)), 5)
	_, err = board.Draw(replace(g.nonces, 5, g.nonces[6]))
	names(t, "another site's nonce", err, 5)
	names(t, "a flipped nonce", board.CheckNonce(5, flip(g.nonces[5], 0)), 5)
	_, err = VerifyHeads(g.cfg, replace(g.sent, 2, g.sent[3]))
	names(t, "another site's head", err, 2)
	low := g.resigned(2, func(b []byte) { copy(b[g.cfg.headerSize():], lowOrder()[2]) })
	_, err = VerifyHeads(g.cfg, replace(g.sent, 2, low))
	names(t, "a transport key of low order", err, 2)
	relayed(t, "another's key", g.setup.CheckKey(2, g.seals[3]), 2)
	relayed(t, "another's body", g.setup.CheckBody(2, g.bodies[3]), 2)
	if err := errors.Join(g.setup.CheckKey(2, g.seals[2]), g.setup.CheckBody(2, g.bodies[2])); err != nil {
		t.Error(err)
	}
	for at := 0; at < len(g.whole[2])-1; at += 97 {
		head, seal, body, err := g.cfg.Split(2, flip(g.whole[2], at))
		if err == nil && (!bytes.Equal(seal, g.seals[2]) || !bytes.Equal(body, g.bodies[2]) || bytes.Equal(head, g.sent[2])) {
			t.Fatalf("byte %d: a key or body that the head does not name", at)
		}
	}
	// A site's own garbage, that its head names.
	garbage := func(seal, body []byte) *Setup {
		key, of, at := sha256.Sum256(seal), sha256.Sum256(body), g.cfg.headerSize()+32
		head := g.resigned(2, func(b []byte) { copy(b[at:], key[:]); copy(b[len(b)-32:], of[:]) })
		board, err := VerifyHeads(g.cfg, replace(g.sent, 2, head))
		if err != nil {
			t.Fatal(err)
		}
		s, err := board.Draw(g.nonces)
		if err != nil {
			t.Fatal(err)
		}
		if s.Transcript() == g.setup.Transcript() {
			t.Error("another head, the same transcript")
		}
		return s
	}
	seal, body := bytes.Repeat([]byte{0xff}, len(g.seals[2])), bytes.Repeat([]byte{0xff}, len(g.bodies[2]))
	s := garbage(seal, body)
	names(t, "an ML-KEM key that is none", s.CheckKey(2, seal), 2)
	names(t, "commitments that are none", s.CheckBody(2, body), 2)
	to := s.graph.Holders(2)[0]
	if guilty, err := s.Judge(2, to, nil, body); guilty != 2 || err != nil {
		t.Errorf("commitments that are none: %d is guilty, %v", guilty, err)
	}
	_, err = s.Judge(2, to, nil, g.bodies[2])
	relayed(t, "an accusation with another body", err, 2)
	if _, err := Verify(g.cfg, g.sent); err == nil {
		t.Error("heads pass as announcements of the complete graph")
	}
	// One site's nonce draws another graph.
	nonces := replace(g.nonces, 0, bytes.Repeat([]byte{7}, 32))
	other, _ := VerifyHeads(g.cfg, g.sent)
	commitment := commitNonce(0, nonces[0])
	other.nonces[0] = commitment[:]
	again, err := other.Draw(nonces)
	if err != nil || slices.Equal(again.graph.Committee(), g.setup.graph.Committee()) {
		t.Errorf("another nonce, the same graph: %v", err)
	}
}

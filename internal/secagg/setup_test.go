package secagg

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"filippo.io/edwards25519"
)

// resign replaces site's announcement by a changed one with a good signature: only
// the check of what was changed can refuse it.
func (g *group) resign(site int, change func(body []byte)) [][]byte {
	out := slices.Clone(g.sent)
	raw := slices.Clone(out[site][:len(out[site])-ed25519.SignatureSize])
	change(raw)
	out[site] = append(raw, ed25519.Sign(g.keys[site], raw)...)
	return out
}

// torsion is a point of order 8.
func torsion(t testing.TB) *edwards25519.Point {
	t.Helper()
	raw, err := hex.DecodeString("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
	if err != nil {
		t.Fatal(err)
	}
	p, err := new(edwards25519.Point).SetBytes(raw)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnnouncementsAreChecked(t *testing.T) {
	g := newGroup(t, 3, 2)
	start := len(g.cfg.header(0)) // of the transport key; the points follow
	point := start + 32
	put := func(at int, p []byte) func([]byte) { return func(b []byte) { copy(b[at:], p) } }
	small := torsion(t)
	mixed := func(b []byte) {
		p, err := new(edwards25519.Point).SetBytes(b[point : point+32])
		if err != nil {
			t.Fatal(err)
		}
		copy(b[point:], p.Add(p, small).Bytes())
	}
	notCanonical := bytes.Repeat([]byte{0xff}, 32)
	other := g.cfg
	other.Attempt = 7
	replay, err := Announce(other, 1, g.secrets[1], g.keys[1])
	if err != nil {
		t.Fatal(err)
	}
	foreign := g.cfg
	foreign.Study[0]++
	elsewhere, err := Announce(foreign, 1, g.secrets[1], g.keys[1])
	if err != nil {
		t.Fatal(err)
	}
	with := func(raw []byte) [][]byte { out := slices.Clone(g.sent); out[1] = raw; return out }
	for name, sent := range map[string][][]byte{
		"signature":       with(flip(g.sent[1], len(g.sent[1])-1)),
		"body":            with(flip(g.sent[1], point+5)),
		"other site's":    with(g.sent[0]),
		"another attempt": with(replay),
		"another study":   with(elsewhere),
		"short":           with(g.sent[1][:100]),
		"nothing":         with(nil),
		"small order":     g.resign(1, put(point, small.Bytes())),
		"mixed order":     g.resign(1, mixed),
		"identity":        g.resign(1, put(point, edwards25519.NewIdentityPoint().Bytes())),
		"not canonical":   g.resign(1, put(point+32, notCanonical)),
		"last point":      g.resign(1, put(len(g.sent[1])-64-32, small.Bytes())),
		"transport":       g.resign(1, put(start, make([]byte, 32))),
	} {
		_, err := Verify(g.cfg, sent)
		if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Verify(g.cfg, g.sent[:2]); err == nil {
		t.Error("two announcements of three sites were accepted")
	}
}

func TestBadBoxesNameTheDealer(t *testing.T) {
	g := newGroup(t, 4, 2)
	// A dealer that seals a share off its polynomial, properly.
	lying := slices.Clone(g.boxesFor(0))
	wrong := fixedSecrets(g.cfg, 2)
	wrong.Slots[1][0]++
	boxes, err := g.setup.Deal(2, wrong)
	if err != nil {
		t.Fatal(err)
	}
	lying[2] = boxes[0]
	for name, boxes := range map[string][][]byte{
		"share":     lying,
		"tampered":  replace(g.boxesFor(0), 2, flip(g.boxes[2][0], 9)),
		"short":     replace(g.boxesFor(0), 2, g.boxes[2][0][:20]),
		"nothing":   replace(g.boxesFor(0), 2, nil),
		"another's": replace(g.boxesFor(0), 2, g.boxes[2][1]),
		"direction": replace(g.boxesFor(0), 2, g.boxes[1][0]),
	} {
		_, err := g.setup.Receive(0, g.secrets[0], boxes, nil)
		if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func replace(boxes [][]byte, at int, with []byte) [][]byte {
	out := slices.Clone(boxes)
	out[at] = with
	return out
}

func TestConfirmations(t *testing.T) {
	g := newGroup(t, 3, 1)
	var all [][]byte
	for i, key := range g.keys {
		all = append(all, g.setup.Confirm(key, i))
	}
	if err := g.setup.CheckConfirmations(all); err != nil {
		t.Fatal(err)
	}
	other := newGroup(t, 3, 2)
	for name, bad := range map[string][][]byte{
		"missing":    {all[0], nil, all[2]},
		"another's":  {all[0], all[0], all[2]},
		"transcript": {all[0], other.setup.Confirm(g.keys[1], 1), all[2]},
	} {
		err := g.setup.CheckConfirmations(bad)
		if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if g.setup.CheckConfirmations(all[:2]) == nil {
		t.Error("two confirmations of three sites were accepted")
	}
}

// TestResendsAreTheSame: announcements, boxes and uploads are functions of the
// secrets, so that a resend reveals nothing new.
func TestResendsAreTheSame(t *testing.T) {
	a, b := newGroup(t, 4, 2), newGroup(t, 4, 2)
	q := Query{Slot: 1, Bits: 48, Lanes: 5}
	v := []uint64{1, 2, 3, 4, 5}
	for i := range 4 {
		if !bytes.Equal(a.sent[i], b.sent[i]) || !slices.Equal(a.upload(t, i, q, v), b.upload(t, i, q, v)) {
			t.Fatalf("site %d sends other bytes", i)
		}
		for j := range 4 {
			if !bytes.Equal(a.boxes[i][j], b.boxes[i][j]) {
				t.Fatalf("site %d seals other boxes", i)
			}
		}
	}
}

func TestHeldRoundTrip(t *testing.T) {
	g := newGroup(t, 4, 2)
	for _, h := range g.held[3] {
		raw, err := h.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		back, err := UnmarshalSlotHeld(raw)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := back.MarshalBinary()
		if !bytes.Equal(raw, again) {
			t.Fatal("held shares change on the way through the store")
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	good, _ := testConfig(5, 3)
	for name, change := range map[string]func(*Config){
		"one site":       func(c *Config) { c.Identity = c.Identity[:1] },
		"quorum":         func(c *Config) { c.Quorum-- },
		"large quorum":   func(c *Config) { c.Quorum = 6 },
		"survivors":      func(c *Config) { c.MinSurvivors-- },
		"many survivors": func(c *Config) { c.MinSurvivors = 6 },
		"slots":          func(c *Config) { c.Slots = 0 },
		"many slots":     func(c *Config) { c.Slots = MaxSlots + 1 },
		"doubled key":    func(c *Config) { c.Identity[1] = c.Identity[0] },
		"small key":      func(c *Config) { c.Identity[1] = torsion(t).Bytes() },
	} {
		c := good
		c.Identity = slices.Clone(c.Identity)
		change(&c)
		if _, ok := errors.AsType[*ConfigError](c.Validate()); !ok {
			t.Errorf("%s: was accepted", name)
		}
	}
}

func TestSecretsAreDrawnAndRedacted(t *testing.T) {
	cfg, _ := testConfig(3, 2)
	a, err := NewSecrets(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewSecrets(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if a.Transport == b.Transport || a.Slots[0] == b.Slots[0] || a.Slots[0] == a.Slots[1] {
		t.Fatal("secrets repeat")
	}
	g := newGroup(t, 3, 1)
	agreement, err := g.setup.Agree(0, 0, g.secrets[0].Slots[0])
	if err != nil {
		t.Fatal(err)
	}
	secret := hex.EncodeToString(g.secrets[0].Slots[0][:8])
	share := hex.EncodeToString(g.held[0][0].m[0].Bytes()[:8])
	var log bytes.Buffer
	for _, v := range []any{g.secrets[0], &g.secrets[0], g.secrets[0].Slots, g.secrets[0].Slots[0], g.held[0], g.held[0][0], agreement, *agreement} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
			text := fmt.Sprintf(verb, v)
			if !strings.Contains(text, redacted) || strings.Contains(text, secret) || strings.Contains(text, share) {
				t.Errorf("%s of %T prints %.60s", verb, v, text)
			}
		}
		slog.New(slog.NewTextHandler(&log, nil)).Info("secret", "value", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("secret", "value", v)
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		log.Write(raw)
	}
	first := g.secrets[0].Slots[0]
	for _, bytes := range []string{secret, share, fmt.Sprintf("%d %d", first[0], first[1]), fmt.Sprintf("%d,%d", first[0], first[1])} {
		if strings.Contains(log.String(), bytes) {
			t.Error("a log line or JSON holds a secret")
		}
	}
	if got := strings.Count(log.String(), redacted); got != 3*8 {
		t.Errorf("%d values are redacted, 8 are logged in 3 forms", got)
	}
}

func multiple(k int, p *edwards25519.Point) *edwards25519.Point {
	out := edwards25519.NewIdentityPoint()
	for range k {
		out.Add(out, p)
	}
	return out
}

// TestEveryPointIsOfTheSubgroup: the dealer signs its bad points itself, so that only the
// group checks can object: each commitment plus each torsion point, torsion alone, the
// identity, and encodings that are not canonical.
func TestEveryPointIsOfTheSubgroup(t *testing.T) {
	g := sharedGroup(t, 3)
	order8 := torsion(t)
	if multiple(4, order8).Equal(identity) == 1 || multiple(8, order8).Equal(identity) != 1 {
		t.Fatal("not a point of order 8")
	}
	points := len(g.cfg.header(0)) + 32
	refuse := func(at int, p []byte, want error) {
		t.Helper()
		_, err := Verify(g.cfg, g.resign(1, func(b []byte) { copy(b[at:], p) }))
		if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != 1 || !errors.Is(err, want) {
			t.Errorf("%x at %d: %v", p, at, err)
		}
	}
	for place := range 2 * g.cfg.Quorum * g.cfg.Slots {
		at := points + 32*place
		good, err := new(edwards25519.Point).SetBytes(g.sent[1][at : at+32])
		if err != nil {
			t.Fatal(err)
		}
		for k := 1; k < 8; k++ {
			refuse(at, new(edwards25519.Point).Add(good, multiple(k, order8)).Bytes(), errOrder)
		}
	}
	for k := range 8 {
		refuse(points, multiple(k, order8).Bytes(), errOrder)
	}
	// y = p+1 for 1, y = 1 with the sign bit, y = 2 that has no x, and y over p.
	refuse(points, append([]byte{0xee}, append(bytes.Repeat([]byte{0xff}, 30), 0x7f)...), errPoint)
	refuse(points, append([]byte{1}, append(make([]byte, 30), 0x80)...), errPoint)
	refuse(points, append([]byte{2}, make([]byte, 31)...), errPoint)
	refuse(points, bytes.Repeat([]byte{0xff}, 32), errPoint)
	// The change alone does no harm.
	base := edwards25519.NewGeneratorPoint().Bytes()
	if _, err := Verify(g.cfg, g.resign(1, func(b []byte) { copy(b[points:], base) })); err != nil {
		t.Error(err)
	}
}

// TestTransportKeysOfLowOrder: all of them, on the curve and on its twist, signed
// by the site itself.
func TestTransportKeysOfLowOrder(t *testing.T) {
	g := sharedGroup(t, 3)
	low := [][]byte{append([]byte{0xec}, append(bytes.Repeat([]byte{0xff}, 30), 0x7f)...)} // u = -1
	for k := range 8 {
		low = append(low, multiple(k, torsion(t)).BytesMontgomery())
	}
	for _, u := range low {
		_, err := Verify(g.cfg, g.resign(2, func(b []byte) { copy(b[len(g.cfg.header(0)):], u) }))
		if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != 2 || !strings.Contains(err.Error(), "low order") {
			t.Errorf("%x: %v", u, err)
		}
	}
}

// TestAnnouncementIsOfOneConfig: a good announcement by the right site, made for
// anything else.
func TestAnnouncementIsOfOneConfig(t *testing.T) {
	g := sharedGroup(t, 5)
	for name, change := range map[string]func(*Config){
		"study":     func(c *Config) { c.Study[31] ^= 1 },
		"attempt":   func(c *Config) { c.Attempt++ },
		"roster":    func(c *Config) { c.Identity[3], c.Identity[4] = c.Identity[4], c.Identity[3] },
		"corrupt":   func(c *Config) { c.Corrupt = 0 },
		"quorum":    func(c *Config) { c.Quorum, c.MinSurvivors = 5, 5 },
		"survivors": func(c *Config) { c.MinSurvivors = 5 },
		"slots":     func(c *Config) { c.Slots = 1 },
	} {
		c := g.cfg
		c.Identity = slices.Clone(g.cfg.Identity)
		change(&c)
		raw, err := Announce(c, 1, fixedSecrets(c, 1), g.keys[1])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = Verify(g.cfg, replace(g.sent, 1, raw))
		if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Another good transport key, not signed: only the signature can object.
	body := len(g.cfg.header(0))
	swapped := slices.Clone(g.sent[1])
	copy(swapped[body:body+32], g.sent[2][body:])
	_, err := Verify(g.cfg, replace(g.sent, 1, swapped))
	if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != 1 || !strings.Contains(err.Error(), "signature") {
		t.Errorf("transport key of another: %v", err)
	}
}

// TestAttemptsAreApart: nothing of one attempt is good in the next, made of the same
// secrets.
func TestAttemptsAreApart(t *testing.T) {
	g := sharedGroup(t, 3)
	c := g.cfg
	c.Attempt++
	var sent [][]byte
	for i, key := range g.keys {
		raw, err := Announce(c, i, g.secrets[i], key)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, raw)
	}
	later, err := Verify(c, sent)
	if err != nil {
		t.Fatal(err)
	}
	if later.Transcript() == g.setup.Transcript() {
		t.Error("one transcript of two attempts")
	}
	if _, err := later.Receive(0, g.secrets[0], g.boxesFor(0), nil); err == nil {
		t.Error("a box of the attempt before was opened")
	}
	if later.CheckConfirmation(1, g.setup.Confirm(g.keys[1], 1)) == nil {
		t.Error("a confirmation of the attempt before was accepted")
	}
}

// TestEachShareOfABoxIsChecked: a dealer seals one share that is wrong by one, or not a
// scalar, or two whose errors cancel.
func TestEachShareOfABoxIsChecked(t *testing.T) {
	g := sharedGroup(t, 5)
	const dealer, self = 3, 1
	receive := func(change func(plain []byte) []byte) error {
		t.Helper()
		aead, bound, err := g.setup.seal(g.secrets[dealer].Transport, dealer, dealer, self)
		if err != nil {
			t.Fatal(err)
		}
		nonce := make([]byte, aead.NonceSize())
		plain, err := aead.Open(nil, nonce, g.boxes[dealer][self], bound)
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.setup.Receive(self, g.secrets[self], replace(g.boxesFor(self), dealer, aead.Seal(nil, nonce, change(plain), bound)), nil)
		return err
	}
	if err := receive(func(p []byte) []byte { return p }); err != nil {
		t.Fatal(err)
	}
	bad := map[string]func([]byte) []byte{
		"not a scalar": func(p []byte) []byte { copy(p[32:], bytes.Repeat([]byte{0xff}, 32)); return p },
		"short":        func(p []byte) []byte { return p[64:] },
		"long":         func(p []byte) []byte { return append(p, p[:64]...) },
		"cancelling": func(p []byte) []byte {
			copy(p, plusOne(t, p[:32]))
			s, err := decodeScalar(p[32:64])
			if err != nil {
				t.Fatal(err)
			}
			copy(p[32:], s.Subtract(s, scalarOf(1)).Bytes())
			return p
		},
	}
	for place := range 2 * g.cfg.Slots {
		bad[fmt.Sprint("share ", place)] = func(p []byte) []byte { copy(p[32*place:], plusOne(t, p[32*place:][:32])); return p }
	}
	for name, change := range bad {
		if e, ok := errors.AsType[*SiteError](receive(change)); !ok || e.Site != dealer {
			t.Errorf("%s: accepted, or the wrong dealer is named", name)
		}
	}
}

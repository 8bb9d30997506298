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
func torsion(t *testing.T) *edwards25519.Point {
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
		_, err := g.setup.Receive(0, g.secrets[0], boxes)
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
	secret := hex.EncodeToString(g.secrets[0].Slots[0][:8])
	share := hex.EncodeToString(g.held[0][0].m[0].Bytes()[:8])
	var log bytes.Buffer
	for _, v := range []any{g.secrets[0], &g.secrets[0], g.secrets[0].Slots, g.secrets[0].Slots[0], g.held[0], g.held[0][0]} {
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
	numbers := strings.Trim(fmt.Sprint(g.secrets[0].Slots[0][0], ",", g.secrets[0].Slots[0][1]), "[]")
	if text := log.String(); strings.Contains(text, secret) || strings.Contains(text, share) || strings.Contains(text, numbers) {
		t.Error("a log line or JSON holds a secret")
	}
}

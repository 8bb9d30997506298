package secagg

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

func (g *group) confirmations() (out [][]byte) {
	for _, r := range g.received {
		out = append(out, r.Confirmation)
	}
	return out
}

// TestConfirmations: all sites' count, of this transcript, each its own.
func TestConfirmations(t *testing.T) {
	g, other := sharedGroup(t, 3), newGroup(t, 3, 1)
	all := g.confirmations()
	if err := g.setup.CheckConfirmations(all); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{"missing": nil, "another's": all[0], "transcript": other.received[1].Confirmation, "flipped": flip(all[1], 3)} {
		for site := range all[1:] {
			names(t, name, g.setup.CheckConfirmations(replace(all, 1+site, bad)), 1+site)
		}
	}
	if g.setup.CheckConfirmations(all[:2]) == nil || g.setup.CheckConfirmation(-1, all[0]) == nil || g.setup.CheckConfirmation(3, all[0]) == nil {
		t.Error("confirmations of other sites than there are")
	}
}

// TestRestore: confirmed announcements are the same setup as checked ones; other bytes, or a
// confirmation less, are none. On the sparse graph the bodies are not needed.
func TestRestore(t *testing.T) {
	for _, g := range []*group{sharedGroup(t, 5), sharedSparse(t), sharedWhole(t, 5)} {
		all := g.confirmations()
		s, err := Restore(g.cfg, g.sent, g.nonces, all)
		if err != nil || s.Transcript() != g.setup.Transcript() {
			t.Fatalf("another setup: %v", err)
		}
		_, err = Restore(g.cfg, g.sent, g.nonces, replace(all, 2, all[3]))
		names(t, "another's confirmation", err, 2)
		_, err = Restore(g.cfg, replace(g.sent, 3, flip(g.sent[3], 200)), g.nonces, all)
		names(t, "a changed announcement", err, 3)
		changed := g.resigned(1, func(b []byte) { b[len(b)-1] ^= 1 })
		_, err = Restore(g.cfg, replace(g.sent, 1, changed), g.nonces, all)
		names(t, "announcements that nobody confirmed", err, 0)
		if _, err := Restore(g.cfg, g.sent, nil, all); g.cfg.sparse() && err == nil {
			t.Error("restored without nonces")
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	good, _ := testConfig(5, 3)
	for name, change := range map[string]func(*Config){
		"one site":       func(c *Config) { c.Identity = c.Identity[:1] },
		"many sites":     func(c *Config) { *c, _ = testConfig(MaxSites+1, 3) },
		"less than none": func(c *Config) { c.Corrupt = -1 },
		"quorum":         func(c *Config) { c.Quorum-- },
		"large quorum":   func(c *Config) { c.Quorum = 6 },
		"survivors":      func(c *Config) { c.MinSurvivors-- },
		"many survivors": func(c *Config) { c.MinSurvivors = 6 },
		"slots":          func(c *Config) { c.Slots = 0 },
		"many slots":     func(c *Config) { c.Slots = maxSlots + 1 },
		"doubled key":    func(c *Config) { c.Identity[1] = c.Identity[0] },
		"small key":      func(c *Config) { c.Identity[1] = make([]byte, 32) },
	} {
		c := good
		c.Identity = slices.Clone(c.Identity)
		change(&c)
		_, err := NewSecrets(c)
		for _, err := range []error{c.validate(), err} {
			if _, ok := errors.AsType[*ConfigError](err); !ok {
				t.Errorf("%s: was accepted", name)
			}
		}
	}
}

// TestSecretsAreDrawnAndRedacted: however they are printed or logged, no byte of a secret, a share,
// a pair's key or an opening shows.
func TestSecretsAreDrawnAndRedacted(t *testing.T) {
	cfg, _ := testConfig(3, 2)
	a, b := must(NewSecrets(cfg)), must(NewSecrets(cfg))
	if a.Transport == b.Transport || a.Seal == b.Seal || a.Nonce == b.Nonce || a.Slots[0] == b.Slots[0] || a.Slots[0] == a.Slots[1] {
		t.Fatal("secrets repeat")
	}
	g := sharedGroup(t, 3)
	sec, received := g.secrets[0], g.received[0]
	q := Query{Context: labelled("redacted"), Bits: 32, Lanes: 1, Chain: true}
	o := g.opening(t, q, without(3), []int{0, 1})
	o.keys[pair{1, 0}] = received.Held[0].keys[0]
	chain, _ := o.Chain(0)
	known := [][]byte{sec.Transport[:], sec.Seal[:], sec.Slots[0][:], received.Held[0].b[0].Bytes(), received.Held[0].keys[0][:], chain[:]}
	for _, v := range []any{sec, &sec, sec.Slots, sec.Slots[0], received, *received, received.Held, received.Held[0], o, *o} {
		var out strings.Builder
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("secret", "value", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("secret", "value", v)
		out.Write(must(json.Marshal(v)))
		if strings.Count(out.String(), redacted) < 9 {
			t.Errorf("%T prints %.200s", v, out.String())
		}
		for i, k := range known {
			numbers := fmt.Sprint(k[:8])
			for _, text := range []string{hex.EncodeToString(k[:8]), numbers[1 : len(numbers)-1], strings.ReplaceAll(numbers[1:len(numbers)-1], " ", ",")} {
				if strings.Contains(out.String(), text) {
					t.Errorf("%T prints secret %d", v, i)
				}
			}
		}
	}
	o.Erase()
	if _, ok := o.Chain(0); ok || o.Helpers() != 0 || len(o.keys) != 0 {
		t.Error("an erased opening holds something")
	}
}

// TestStored: what a site stores is read again as it was.
func TestStored(t *testing.T) {
	for _, g := range []*group{sharedGroup(t, 5), sharedWhole(t, 5), sharedSparse(t)} {
		raw := must(g.secrets[3].MarshalBinary())
		if again := must(must(UnmarshalSecrets(raw)).MarshalBinary()); !bytes.Equal(again, raw) {
			t.Error("other secrets")
		}
		for _, h := range g.received[3].Held {
			raw := must(h.MarshalBinary())
			if again := must(must(UnmarshalSlotHeld(raw)).MarshalBinary()); !bytes.Equal(again, raw) {
				t.Error("other shares")
			}
		}
	}
}

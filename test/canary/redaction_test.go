//go:build linux

package canary

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"covey/internal/agent"
	"covey/internal/answer"
	"covey/internal/clip"
	"covey/internal/coordinator"
	"covey/internal/dataset"
	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/pki"
	"covey/internal/secagg"
	"covey/internal/siteconfig"
	"covey/test/parties"
	folder "covey/test/site"
)

// TestSecretsPrintAsRedacted: every exported type that holds a secret, printed by every verb, by
// slog in text and in JSON, and by encoding/json: by itself, behind a pointer, in a struct, a slice
// and a map. What is found is a secret in any form, not a missing word.
func TestSecretsPrintAsRedacted(t *testing.T) {
	h := newHaystack()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	hide := func(what string, b []byte) { h.bytes(secret{kind: private, what: what}, b) }

	root := t.TempDir()
	home, dir := filepath.Join(root, "hub"), filepath.Join(root, "north")
	authority := folder.Authority(t, home, time.Now())
	joining := folder.Issue(t, dir, "north", authority, time.Now())
	for _, path := range []string{home + "/ca.key", home + "/signing.key", home + "/server.key", dir + "/identity.key", dir + "/tls.key"} {
		text, err := os.ReadFile(path)
		check(err)
		block, _ := pem.Decode(text)
		hide(filepath.Base(path), block.Bytes[len(block.Bytes)-32:])
	}
	token, err := pki.NewToken()
	check(err)
	join := pki.Join{Coordinator: []string{"hub.example:1"}, Fingerprint: authority.Fingerprint(), Token: token, Site: "north", Expires: time.Now().Add(time.Hour)}
	file, err := join.Marshal()
	check(err)
	read, err := pki.ParseJoin(file)
	check(err)
	for line := range bytes.Lines(file) {
		if v, ok := bytes.CutPrefix(line, []byte("token = ")); ok {
			h.text(secret{kind: private, what: "join token"}, string(bytes.Trim(v, "\"'\n")))
		}
	}
	estate := authority.Estate()

	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, 32))
	cfg := secagg.Config{Identity: []ed25519.PublicKey{key.Public().(ed25519.PublicKey), stranger.Public().(ed25519.PublicKey)}, Corrupt: 0, Quorum: 2, MinSurvivors: 2, Slots: 2}
	keys := []ed25519.PrivateKey{key, stranger}
	g, err := parties.New(cfg, keys, nil)
	check(err)
	check(g.Hold())
	secrets, shares := g.Secrets, g.Held[0]
	for i := range secrets {
		hide("transport key", secrets[i].Transport[:])
		hide("ML-KEM seed", secrets[i].Seal[:])
		hide("nonce", secrets[i].Nonce[:])
		for _, s := range secrets[i].Slots {
			hide("slot's secret", s[:])
		}
	}
	for _, s := range shares {
		raw, err := s.MarshalBinary()
		check(err)
		for raw = raw[6:]; len(raw) > 0; raw = raw[32:] { // behind counts
			hide("share or key", raw[:32])
		}
	}

	values := []float64{3.14159265358979, -271.828182845904, 57.7215664901532, 1.61803398874989}
	for _, v := range values {
		h.number(secret{kind: row, what: "value of a row"}, fmt.Sprint(v), v)
	}
	matrix, err := clip.NewMatrix(2, append([]float64(nil), values...))
	check(err)
	data := filepath.Join(dir, "rows.csv")
	check(os.WriteFile(data, []byte("a,b\n3.14159265358979,-271.828182845904\n57.7215664901532,1.61803398874989\n"), 0o600))
	request := dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}, {Name: "b", Scale: 1}}, Missing: dataset.MissingError}
	rows, err := dataset.Read(dataset.Source{Path: data}, request, dataset.ReadOptions{})
	check(err)
	c := folder.Config("north", "rows.csv")
	c.Coordinator, c.Policy = []string{"127.0.0.1:1"}, siteconfig.Policy{}
	check(folder.Write(dir, c))
	config, err := siteconfig.Read(dir)
	check(err)
	running, err := agent.New(agent.Options{Config: config})
	check(err)
	defer running.Close()
	book, err := ledger.Open(filepath.Join(root, "ledger"))
	check(err)
	defer book.Close()
	noiseKey := [32]byte(bytes.Repeat([]byte("key:"), 8))
	hide("noise key", noiseKey[:])
	hub := coordinator.New(coordinator.Options{Authority: authority, Machine: coordinator.NewMachine()})
	defer hub.Close()

	all := map[string]any{
		"secagg.SlotSecret": secrets[0].Slots[0], "secagg.Secrets": secrets[0], "secagg.Held": shares, "secagg.SlotHeld": shares[0], "secagg.Received": g.Taken[0], "secagg.Received, copied": *g.Taken[0], "secagg.Setup": g.Setup, "ledger.Confirmed": ledger.Confirmed{Slots: map[int][]byte{0: secrets[0].Slots[0][:]}},
		"pki.Token": token, "pki.Join": join, "pki.Join, read": read, "pki.Estate": estate, "pki.Holder": joining, "pki.Authority": authority,
		"clip.Matrix": matrix, "answer.Rows": answer.New(matrix), "dataset.Rows": rows, "noise.NewKeyed": noise.NewKeyed(noiseKey),
		"agent.Agent": running, "ledger.Ledger": book, "ledger.Journal": book.Journal([32]byte{1}), "coordinator.Coordinator": hub, "coordinator.Options": coordinator.Options{Authority: authority},
	}
	// In an unexported field fmt calls no method of a value, so a struct that keeps a secret there
	// has a Format of its own.
	type holder struct{ Held any }
	for name, v := range all {
		for how, w := range map[string]any{"": v, "&": &v, "struct": holder{v}, "&struct": &holder{v}, "slice": []any{v}, "map": map[string]any{"k": v}} {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%08b"} {
				look(t, h, name+" "+how+" "+verb, fmt.Appendf(nil, verb, w))
			}
			var out bytes.Buffer
			slog.New(slog.NewTextHandler(&out, nil)).Info("m", "v", w)
			slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "v", w)
			slog.New(slog.NewJSONHandler(&out, nil)).With("v", w).WithGroup("g").Info("m", slog.Any("v", w))
			look(t, h, name+" "+how+" slog", out.Bytes())
			if text, err := json.Marshal(w); err == nil {
				look(t, h, name+" "+how+" JSON", text)
			}
		}
	}
	// A type of the same bytes that has none of this is found.
	if len(h.deep(fmt.Appendf(nil, "%v", secrets[0].Slots[0][:]))) == 0 || len(h.deep([]byte(hex.EncodeToString(noiseKey[:])))) == 0 || len(h.deep(fmt.Appendf(nil, "%v", values))) == 0 {
		t.Error("the search finds nothing")
	}
	t.Logf("figure: %d types that hold secrets, each printed in 66 ways", len(all))
}

func look(t *testing.T, h *haystack, where string, text []byte) {
	t.Helper()
	if found := h.deep(text); len(found) > 0 {
		t.Errorf("%s prints %s", where, h.secrets[found[0]].what)
	}
}

//go:build linux

package canary

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/test/history"
)

// TestSearcherFinds: every kind of canary in every form in which a program could let it out: the
// search that the other tests rest on is able to fail them.
func TestSearcherFinds(t *testing.T) {
	h := newHaystack()
	rng := rand.New(rand.NewPCG(5, 5))
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(rng.Uint32())
	}
	const text, word = "52.183746152903", "unit-QZ7f3KpV91"
	value := 52.183746152903
	h.bytes(secret{kind: seed, what: "key"}, key)
	h.number(secret{kind: row, what: "number"}, text, value, (value-50)/10)
	h.text(secret{kind: unit, what: "word"}, word)
	counts := []int64{0, 3, 7, 19, 23, 11, 5, 2, 0, 1}
	h.list(secret{kind: sum, what: "counts"}, counts)
	if got := fullest(append(make([]int64, 300), counts...)); !slices.Contains(got, 19) || !slices.Contains(got, 23) {
		t.Errorf("the fullest ten are %v", got)
	}
	little := binary.LittleEndian.AppendUint64(nil, math.Float64bits(value))
	scaled := binary.LittleEndian.AppendUint64(nil, math.Float64bits((value-50)/10))
	jsonOf := func(v any) []byte {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	logged := func(v any, asJSON bool) []byte {
		var out bytes.Buffer
		var handler slog.Handler = slog.NewTextHandler(&out, nil)
		if asJSON {
			handler = slog.NewJSONHandler(&out, nil)
		}
		slog.New(handler).Info("m", "v", v)
		return out.Bytes()
	}
	var lanes []byte
	for _, x := range counts {
		lanes = binary.LittleEndian.AppendUint64(lanes, uint64(x))
	}
	plants := map[string]struct {
		want int
		data []byte
	}{
		"counts": {3, fmt.Appendf(nil, "%v", counts)}, "counts in JSON": {3, jsonOf(counts)}, "counts as words": {3, lanes}, "counts in base64": {3, jsonOf(lanes)},
		"raw": {0, key}, "raw, half": {0, key[:16]}, "hex": {0, []byte(hex.EncodeToString(key))},
		"HEX": {0, fmt.Appendf(nil, "%X", key)}, "hex with spaces": {0, fmt.Appendf(nil, "% x", key)},
		"base64": {0, []byte(base64.StdEncoding.EncodeToString(key))}, "base64 for URLs": {0, []byte(base64.RawURLEncoding.EncodeToString(key))},
		"inside base64, by 1":  {0, []byte(base64.StdEncoding.EncodeToString(slices.Concat([]byte("a"), key, []byte("tail"))))},
		"inside base64, by 2":  {0, []byte(base64.StdEncoding.EncodeToString(slices.Concat([]byte("ab"), key, []byte("tail"))))},
		"base64 of JSON of it": {0, []byte(base64.StdEncoding.EncodeToString(jsonOf(key)))},
		"thrice":               {0, jsonOf(jsonOf(jsonOf(key)))},
		"hex of base64":        {0, []byte(hex.EncodeToString([]byte(base64.StdEncoding.EncodeToString(key))))},
		"%v":                   {0, fmt.Appendf(nil, "%v", key)}, "%d": {0, fmt.Appendf(nil, "%d", key)}, "%#v": {0, fmt.Appendf(nil, "%#v", key)},
		"%q": {0, fmt.Appendf(nil, "%q", key)}, "a list in JSON": {0, jsonOf(slices.Collect(func(yield func(int) bool) {
			for _, b := range key {
				if !yield(int(b)) {
					return
				}
			}
		}))},
		"slog, text": {0, logged(hex.EncodeToString(key), false)}, "slog, JSON": {0, logged(key, true)}, "slog of bytes": {0, logged(key, false)},
		"number as read": {1, []byte("age=" + text)}, "number": {1, fmt.Appendf(nil, "%v", value)}, "scaled": {1, jsonOf((value - 50) / 10)},
		"float64, big":   {1, []byte{little[7], little[6], little[5], little[4], little[3], little[2], little[1], little[0]}},
		"float64 in hex": {1, []byte(hex.EncodeToString(little))}, "float64s in base64": {1, jsonOf(slices.Concat([]byte("xx"), scaled, little, scaled))},
		"word": {2, []byte("<td>" + word + "</td>")}, "word in base64": {2, jsonOf([]byte("a " + word))}, "word in JSON": {2, jsonOf(word)},
	}
	for name, p := range plants {
		around := slices.Concat(bytes.Repeat([]byte("noise \x00\xff "), 50), p.data, bytes.Repeat([]byte(" more"), 50))
		if found := h.deep(around); !slices.Contains(found, p.want) {
			t.Errorf("%s: %s is not found in %.80q", name, h.secrets[p.want].what, p.data)
		}
	}
	for name, clean := range map[string][]byte{"text": []byte(strings.Repeat("2026-11-21T19:00:00Z round 3/12 52.18 unit ", 100)), "zeros": make([]byte, 1<<16), "another key": bytes.Repeat([]byte{7}, 64)} {
		if found := h.deep(clean); len(found) > 0 {
			t.Errorf("%s: %v is found", name, found)
		}
	}
	random := make([]byte, 1<<20)
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	// chance: below 100 needles times 2^20 windows over 2^64
	if found := h.deep(random); len(found) > 0 {
		t.Errorf("random bytes: %v is found", found)
	}

	f := history.NewFinder()
	exact := []int64{73120034471, -918273645546, 55512345678, 1 << 41}
	if !f.Follow("sum", exact, 56) {
		t.Fatal("not followed")
	}
	packed := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(exact[0])), uint64(exact[2]))
	for name, data := range map[string][]byte{"decimal": fmt.Appendf(nil, "%v", exact), "JSON": jsonOf(exact), "words": packed, "base64 of words": jsonOf(packed), "base64 of JSON": jsonOf(jsonOf(exact))} {
		if f.Find(data) == "" {
			t.Errorf("%s: a sum is not found", name)
		}
	}
	t.Logf("figure: %d of %d plants found, in %d forms of 4 secrets", len(plants)+5, len(plants)+5, h.count)
}

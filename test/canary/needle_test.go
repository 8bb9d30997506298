//go:build linux

package canary

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// kind is what a canary is of.
type kind string

const (
	row       kind = "a value of a row"
	unused    kind = "a value of a column that no study reads"
	unit      kind = "a unit's identifier"
	seed      kind = "a slot's secret"
	transport kind = "a transport key"
	held      kind = "shares that a site holds"
	lanes     kind = "a site's noise lanes"
	noiseKey  kind = "a key of noise"
	wrap      kind = "a wrap key of a ledger"
	private   kind = "a private key"
	token     kind = "a join token"
	page      kind = "a page's token"
	sum       kind = "an exact sum of one site"
	total     kind = "an exact sum of all sites"
	drawn     kind = "the noise of a release"
)

// secret is one canary: who may know it, and where it may lie in a file.
type secret struct {
	kind   kind
	owners []string // processes that may have it in memory
	what   string
	// the only files that may hold it, relative to the fleet's folder; a pattern of path.Match
	files []string
}

// haystack looks for byte strings of eight bytes or more, all at once: windows of eight bytes go
// through a filter.
type haystack struct {
	secrets []secret
	needles map[uint64][]needle
	filter  []uint64
	count   int
}

type needle struct {
	secret int
	bytes  string
}

const filterBits = 24

func newHaystack() *haystack {
	return &haystack{needles: map[uint64][]needle{}, filter: make([]uint64, 1<<filterBits/64)}
}

func slot(word uint64) (int, uint64) {
	h := word * 0x9e3779b97f4a7c15 >> (64 - filterBits)
	return int(h >> 6), 1 << (h & 63)
}

// leastNeedle is the shortest byte string that is looked for.
const leastNeedle = 8

func (h *haystack) add(id int, b []byte) {
	if len(b) < leastNeedle {
		return
	}
	word := binary.LittleEndian.Uint64(b)
	n := needle{id, string(b)}
	if slices.Contains(h.needles[word], n) {
		return
	}
	h.needles[word] = append(h.needles[word], n)
	i, bit := slot(word)
	h.filter[i] |= bit
	h.count++
}

// bytes looks for a secret of 16 bytes or more in every form in which Go prints bytes.
func (h *haystack) bytes(s secret, b []byte) {
	id := h.secret(s)
	for _, form := range forms(b) {
		h.add(id, form)
	}
	for lo := 0; lo+16 < len(b); lo += 16 { // or any half of it
		h.add(id, b[lo:lo+16])
	}
}

func (h *haystack) secret(s secret) int {
	h.secrets = append(h.secrets, s)
	return len(h.secrets) - 1
}

// text looks for a text: as it is, and as bytes.
func (h *haystack) text(s secret, v string) {
	id := h.secret(s)
	for _, form := range forms([]byte(v)) {
		h.add(id, form)
	}
}

// list looks for integers in a row: as words of either order, and as text.
func (h *haystack) list(s secret, v []int64) {
	id := h.secret(s)
	var little, big []byte
	for _, x := range v {
		little, big = binary.LittleEndian.AppendUint64(little, uint64(x)), binary.BigEndian.AppendUint64(big, uint64(x))
	}
	for _, raw := range [][]byte{little, big} {
		for _, form := range forms(raw) {
			h.add(id, form)
		}
	}
	text := strings.Trim(fmt.Sprint(v), "[]")
	for _, between := range []string{" ", ",", ", "} {
		h.add(id, []byte(strings.ReplaceAll(text, " ", between)))
	}
}

// number looks for a float64: as the text that it was read from, as Go prints it, in eight bytes of
// either order, and these as text.
func (h *haystack) number(s secret, text string, values ...float64) {
	id := h.secret(s)
	h.add(id, []byte(text))
	for _, v := range values {
		for _, format := range []byte("gfe") {
			if t := strconv.FormatFloat(v, format, -1, 64); strings.Trim(t, "-0.e+") != "" && len(t) >= 12 {
				h.add(id, []byte(strings.TrimPrefix(t, "-")))
			}
		}
		bits := math.Float64bits(v)
		little, big := binary.LittleEndian.AppendUint64(nil, bits), binary.BigEndian.AppendUint64(nil, bits)
		for _, raw := range [][]byte{little, big} {
			h.add(id, raw)
			h.add(id, []byte(hex.EncodeToString(raw)))
			h.add(id, []byte(base64.StdEncoding.EncodeToString(raw)[:10]))
		}
	}
}

// forms are the ways in which bytes get into text.
func forms(b []byte) [][]byte {
	out := [][]byte{b, []byte(hex.EncodeToString(b)), []byte(strings.ToUpper(hex.EncodeToString(b)))}
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 { // where it begins within a group of three
			text := alphabet.EncodeToString(slices.Concat(make([]byte, shift), b))
			from := (shift*8 + 5) / 6
			to := (shift + len(b)) * 8 / 6
			out = append(out, []byte(text[from:to]))
		}
	}
	for _, format := range []string{"%v", "%d", "% x", "%#v"} {
		out = append(out, []byte(strings.Trim(fmt.Sprintf(format, b), "[]{}byte")))
	}
	out = append(out, []byte(strings.ReplaceAll(strings.Trim(fmt.Sprintf("%v", b), "[]"), " ", ",")))
	if quoted := strconv.Quote(string(b)); len(quoted) > 2 {
		out = append(out, []byte(quoted[1:len(quoted)-1]))
	}
	if quoted, err := json.Marshal(string(b)); err == nil && !bytes.Contains(quoted, []byte(`\ufffd`)) {
		out = append(out, quoted[1:len(quoted)-1])
	}
	return out
}

// find returns the secrets that are in data, each once.
func (h *haystack) find(data []byte) []int {
	var out []int
	seen := map[int]bool{}
	for i := 0; i+8 <= len(data); i++ {
		word := binary.LittleEndian.Uint64(data[i:])
		if k, bit := slot(word); h.filter[k]&bit == 0 {
			continue
		}
		for _, n := range h.needles[word] {
			if !seen[n.secret] && bytes.HasPrefix(data[i:], []byte(n.bytes)) {
				seen[n.secret] = true
				out = append(out, n.secret)
			}
		}
	}
	return out
}

// maxNesting is how deep base64 and hexadecimal within one another are followed.
const maxNesting = 4

// deep also looks inside what data holds in base64 or hexadecimal.
func (h *haystack) deep(data []byte) []int {
	found := h.find(data)
	h.inside(data, 0, &found)
	slices.Sort(found)
	return slices.Compact(found)
}

func (h *haystack) inside(data []byte, depth int, found *[]int) {
	if depth == maxNesting {
		return
	}
	for i := 0; i < len(data); {
		j := i
		for j < len(data) && alphabet[data[j]] {
			j++
		}
		if run := data[i:j]; len(run) >= 24 {
			text := strings.NewReplacer("-", "+", "_", "/").Replace(string(run))
			if len(text)%4 == 1 {
				text = text[:len(text)-1]
			}
			if raw, err := base64.RawStdEncoding.DecodeString(text); err == nil {
				*found = append(*found, h.find(raw)...)
				h.inside(raw, depth+1, found)
			}
			if raw, err := hex.DecodeString(string(run[:len(run)&^1])); err == nil {
				*found = append(*found, h.find(raw)...)
				h.inside(raw, depth+1, found)
			}
		}
		i = j + 1
	}
}

var alphabet = func() (a [256]bool) {
	for _, b := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		a[b] = true
	}
	return a
}()

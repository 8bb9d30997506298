package proposal

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// unknownKeys are texts with as many keys that a proposal does not have, in each of TOML's places
// for them.
func unknownKeys(n int) map[string]string {
	each := func(f func(i int) string) string {
		var out strings.Builder
		for i := range n {
			out.WriteString(f(i))
		}
		return out.String()
	}
	return map[string]string{
		"keys":            each(func(i int) string { return fmt.Sprintf("k%d=1\n", i) }),
		"of a table":      "[study]\n" + each(func(i int) string { return fmt.Sprintf("k%d=1\n", i) }),
		"dotted":          each(func(i int) string { return fmt.Sprintf("study.k%d=1\n", i) }),
		"tables":          each(func(i int) string { return fmt.Sprintf("[k%d]\n", i) }),
		"lists":           strings.Repeat("[[a]]\n", n),
		"of list's":       strings.Repeat("[[roster]]\nunitſ=1\n", n),
		"in line":         "roster=[" + strings.Repeat("{x=1},", n) + "]",
		"deep in line":    "study={deadlines={round='1s'," + each(func(i int) string { return fmt.Sprintf("k%d=1,", i) }) + "x=1}}",
		"lists in lists":  "roster=[[" + strings.Repeat("{x=1},", n) + "]]",
		"below a number":  each(func(i int) string { return fmt.Sprintf("version.k%d=1\n", i) }),
		"below a word":    "[study.radius]\n" + each(func(i int) string { return fmt.Sprintf("k%d=1\n", i) }),
		"below a key":     "[nonce]\n" + each(func(i int) string { return fmt.Sprintf("k%d=1\n", i) }),
		"of another case": "[STUDY]\n" + each(func(i int) string { return fmt.Sprintf("K%d=1\n", i) }),
		"long":            strings.Repeat("a.", n) + "a=1",
	}
}

// TestUnknownKeysAreCheap: a proposal of thousands of keys that mean nothing is refused for its
// first, in a short error and without a copy of the text for each.
func TestUnknownKeysAreCheap(t *testing.T) {
	for what, text := range unknownKeys(3_000) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse([]byte(text))
		runtime.ReadMemStats(&after)
		if at, ok := errors.AsType[*FieldError](err); !ok || len(at.Error()) > 300 {
			t.Errorf("%s: %.300v", what, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 30<<20 {
			t.Errorf("%s: %d bytes are allocated for %d", what, used, len(text))
		}
	}
}

// TestOnlyKnownAgrees: what the walk lets through holds no key that the decoder knows nothing of,
// and what it refuses the decoder would refuse, but for keys in other letters.
func TestOnlyKnownAgrees(t *testing.T) {
	texts := unknownKeys(2)
	texts["none"] = "version=2\n[study]\nname='x'\ndeadlines.round='1s'\nlambda={x=1}\n[[study.columns]]\nname='a'\n[[roster]]\nunits=2\n"
	texts["a word for a table"] = "study=1\n"
	for what, text := range texts {
		var p Proposal
		err := toml.NewDecoder(bytes.NewReader([]byte(text))).DisallowUnknownFields().EnableUnmarshalerInterface().Decode(&p)
		_, unknown := errors.AsType[*toml.StrictMissingError](err)
		walked := onlyKnown([]byte(text), reflect.TypeFor[*Proposal]())
		if unknown && walked == nil {
			t.Errorf("%s: not seen", what)
		}
		// which is the table's text to the decoder
		if err == nil && walked != nil && what != "below a word" {
			t.Errorf("%s: %v", what, walked)
		}
	}
}

// TestKeysAreExact: a key in other letters is none. Two readers of the same signed bytes, of which
// one minds the case, would see two values.
func TestKeysAreExact(t *testing.T) {
	spec, err := ParseSpec([]byte("name = 'x'\ndataset = 'rows'\nepsilon = 1.0\ndelta = 1e-6\n[[columns]]\nname = 'a'\nscale = 1.0\n[[columns]]\nname = 'b'\nscale = 1.0\n"))
	if err != nil {
		t.Fatal(err)
	}
	key := func(b byte) Key { return bytes.Repeat([]byte{b}, 32) }
	body, err := Propose(spec, []Member{{"a", key(1), 10}, {"b", key(2), 10}, {"c", key(3), 10}}, ed25519.PublicKey(key(4)), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	for of, with := range map[string]string{
		"epsilon = 1.0": "epsilon = 1.0\nEpsilon = 7.0", "[study]": "[Study]\nepsilon = 7.0\n[study]", "units = 10": "units = 10\nUNITS = 11",
	} {
		text := strings.Replace(string(body), of, with, 1)
		_, err := Parse([]byte(text))
		if at, ok := errors.AsType[*FieldError](err); text == string(body) || !ok || !strings.Contains(at.Reason, "unknown key") {
			t.Errorf("%q: %v", with, err)
		}
	}
}

// TestProposalHoldsEveryParameter: a proposal without one of its study's lines is refused. If it
// were filled in, bytes that sites approve and sign would mean what each build's defaults are.
func TestProposalHoldsEveryParameter(t *testing.T) {
	count := 0
	for _, keys := range []string{
		"", "method = 'covariance'\nnoise = 'distributed'\n", "profile = 'paper'\nlambda = 2.0\nrounds = 5\n",
		"components = 'auto'\nmissing = 'zero'\nstandardize = 'private'\n", "components = 2\npicture = true\nlambda = 'private'\nradius = 'paper'\n",
	} {
		scale := "scale = 1.0\n"
		if strings.Contains(keys, "standardize") {
			scale = ""
		}
		spec, err := ParseSpec([]byte("name = 'x'\ndataset = 'rows'\nepsilon = 1.0\ndelta = 1e-6\n" + keys + "[[columns]]\nname = 'a'\n" + scale + "[[columns]]\nname = 'b'\n" + scale))
		if err != nil {
			t.Fatal(err)
		}
		key := func(b byte) Key { return bytes.Repeat([]byte{b}, 32) }
		body, err := Propose(spec, []Member{{"a", key(1), 10}, {"b", key(2), 10}, {"c", key(3), 10}}, ed25519.PublicKey(key(4)), [32]byte{})
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(body), "\n")
		first, last := slices.Index(lines, "[study]\n"), slices.Index(lines, "[[roster]]\n")
		for i := first; i < last; i++ {
			columns := i > slices.Index(lines, "[[study.columns]]\n")
			if own := columns && strings.HasPrefix(lines[i], "standardize"); own || !strings.Contains(lines[i], " = ") || lines[i] == "offset = 0.0\n" {
				continue // without it the offset and the scale beside it hold, and an offset is 0
			}
			count++
			if _, err := Parse([]byte(strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ""))); err == nil {
				t.Errorf("%q: a proposal without %q is read", keys, lines[i])
			}
		}
	}
	if count < 100 {
		t.Errorf("%d lines", count)
	}
}

// TestListsAreBounded: millions of empty entries, or parts of a key, are refused before a proposal
// is decoded; as many columns as there can be are not.
func TestListsAreBounded(t *testing.T) {
	for what, text := range map[string]string{
		"in line":        "roster=[" + strings.Repeat("{},", maxMarks) + "]",
		"tables":         strings.Repeat("[[roster]]\n", maxMarks),
		"numbers":        "[study]\nlambda_range=[" + strings.Repeat("0,", maxMarks) + "]",
		"a key":          "study." + strings.Repeat("a.", maxDots) + "a = 1\n",
		"a table's name": "[study." + strings.Repeat("1.", maxDots) + "a]\n",
	} {
		var before, after runtime.MemStats
		body := []byte(text)
		runtime.ReadMemStats(&before)
		_, err := Parse(body)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "; no proposal needs more than ") {
			t.Errorf("%s: %.300v", what, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%s: %d bytes are allocated for %d", what, used, len(text))
		}
	}
	column := "[[study.columns]]\nname = 'i.v. dose [mg]'\noffset = 0.5\nscale = 1.5\n"
	if err := checkMarks([]byte(strings.Repeat(column, MaxColumns) + strings.Repeat("[[roster]]\n", MaxSites))); err != nil {
		t.Errorf("the largest proposal: %v", err)
	}
}

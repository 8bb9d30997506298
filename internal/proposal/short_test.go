package proposal

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/studyfile"
)

const shortHead = "name = \"s\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\n"

// digestOf returns the digest of a study file's proposal to three sites, with a nonce of zeros.
func digestOf(text string) (Digest, error) {
	spec, err := ParseSpec([]byte(text))
	if err != nil {
		return Digest{}, fmt.Errorf("%w\n%s", err, text)
	}
	var roster []Member
	for i := range 3 {
		key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 1)}, 32)).Public().(ed25519.PublicKey)
		roster = append(roster, Member{Name: fmt.Sprint("site", i), Identity: Key(key), Units: 1000})
	}
	body, err := Propose(spec, roster, ed25519.PublicKey(roster[0].Identity), [32]byte{})
	if err != nil {
		return Digest{}, fmt.Errorf("%w\n%s", err, text)
	}
	p, err := Parse(body)
	if err != nil || p.Spec.Defaults != nil || len(p.Spec.Columns) != len(spec.Columns) {
		return Digest{}, fmt.Errorf("%v of %v columns, %v", len(p.Spec.Columns), len(spec.Columns), err)
	}
	return DigestOf(body), nil
}

// TestShortFormIsTheLongForm: a study with names, ranges and defaults has the digest of the one
// that writes every column out.
func TestShortFormIsTheLongForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		learn := rapid.Bool().Draw(t, "learn")
		var items []string
		var long strings.Builder
		write := func(name string, keys ...string) {
			fmt.Fprintf(&long, "[[columns]]\nname = %s\n%s\n", studyfile.Quote(name), strings.Join(keys, "\n"))
		}
		common := []string{"offset = 5", "scale = 2.5"}
		if learn {
			common = []string{`standardize = "private"`}
		}
		measure := rapid.SampledFrom([]string{"", `measure = "mg/dL"`, "range = [1, 2.5]"}).Draw(t, "measure")
		if measure != "" {
			common = append(common, measure)
		}
		items, plain := append(items, `"first"`), slices.Clone(common)
		write("first", plain...)
		for i := range rapid.IntRange(0, 5).Draw(t, "items") {
			switch rapid.IntRange(0, 4).Draw(t, "item") {
			case 0:
				name := rapid.SampledFrom([]string{"a ", "ä", "x.", "a\"", "'", "#", "1.5_"}).Draw(t, "name") + fmt.Sprint(i, "x")
				items = append(items, studyfile.Quote(name))
				write(name, common...)
			case 1:
				from, n := rapid.IntRange(0, 120).Draw(t, "from"), rapid.IntRange(0, 12).Draw(t, "n")
				width := rapid.SampledFrom([]int{1, 4}).Draw(t, "width")
				name := func(k int) string { return fmt.Sprintf("r%d_%0*d", i, width, k) }
				items = append(items, fmt.Sprintf("%q", name(from)+".."+name(from+n)))
				for k := from; k <= from+n; k++ {
					write(name(k), common...)
				}
			case 2:
				items = append(items, fmt.Sprintf("{ name = \"t..%d\", scale = 7, offset = 0 }", i))
				write(fmt.Sprintf("t..%d", i), append([]string{"scale = 7", "offset = 0"}, common[len(common)-btoi(measure != ""):]...)...)
			case 3:
				items = append(items, fmt.Sprintf("{ name = 'l%d', levels = ['p', 'q'] }", i))
				write(fmt.Sprintf("l%d", i), "levels = ['p', 'q']")
			case 4:
				items = append(items, fmt.Sprintf("{ name = 'm%d', measure = \"%%\", range = [0, 100] }", i))
				write(fmt.Sprintf("m%d", i), append(slices.Clone(common[:len(common)-btoi(measure != "")]), `measure = "%"`, "range = [0, 100]")...)
			}
		}
		short := shortHead + "columns = [" + strings.Join(items, ",\n") + "]\n[defaults]\n" + strings.Join(common, "\n") + "\n"
		a, err := digestOf(short)
		if err != nil {
			t.Fatal(err)
		}
		b, err := digestOf(shortHead + long.String())
		if err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Fatalf("%s\nis another study than\n%s", short, long.String())
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestWideStudyIsShort: a study of 800 columns is at most 15 lines.
func TestWideStudyIsShort(t *testing.T) {
	text := shortHead + "standardize = \"private\"\ncolumns = [\"age\", { name = \"bmi\", measure = \"kg/m²\" }, \"c0..c797\"]\n[about]\npurpose = \"p\"\ncontact = \"c\"\nethics = \"e\"\n"
	spec, err := ParseSpec([]byte(text))
	if n := strings.Count(text, "\n"); err != nil || len(spec.Columns) != 800 || n > 15 {
		t.Errorf("%d columns in %d lines: %v", len(spec.Columns), n, err)
	}
}

// TestShortFormPlaces: an error names the line that people wrote, and the key there.
func TestShortFormPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"columns = [\"a\",\n\"c0..d3\"]\n":                                                     `line 6: columns[1]: "c0..d3" is not a range`,
		"columns = [\"a\",\n\"c0..c3\"]\n":                                                     `"a" (line 5), "c0" (line 6), "c1" (line 6) and 2 more have no offset and scale`,
		"columns = [\n\"c0..c3\",\n'c2']\n[defaults]\nscale=1\n":                               `line 7: columns[4].name: "c2" appears twice`,
		"columns = [\"c0..c3\", { name = \"b\", scale = \"2\" }]\n":                            "line 5 column 44: columns[1].scale must be a number, got text in quotes",
		"columns = [\"c0..c3\",\n { name = \"b\", offset = -1e-31 }]\n[defaults]\nscale=1":     "line 6: columns[4].offset: must be 0 or of a size in 1e-30..1e30",
		"columns = [\"c0..c3\",\n { name = \"b\", offset = 1e31 }]\n[defaults]\nscale=1":       "line 6: columns[4].offset: must be 0 or of a size in 1e-30..1e30",
		"columns = [\"c0..c3\",\n { name = \"b\", scale = -2 }]\n[defaults]\nscale=1":          "line 6: columns[4].scale: must be in",
		"columns = [\"a\",\n { name = \"b\", scael = 2 }]\n":                                   `columns.scael: unknown key, line 6; did you mean "scale"?`,
		"columns = [\"a\",\n 3]\n[defaults]\nscale=1\n":                                        "line 6 column 2: columns[1] must be a table",
		"columns = [\"a\"]\n[defaults]\nscael=1\n":                                             `defaults.scael: unknown key, line 7; did you mean "scale"?`,
		"columns = [\"a\"]\n[defaults]\nscale=-1\n":                                            "line 7: defaults.scale: must be in",
		"columns = [\"a\"]\n[defaults]\nscale=\"x\"\n":                                         "line 7 column 7: defaults.scale must be a number",
		"columns = [\"a\"]\n[defaults]\nscale=0\n":                                             "line 7: defaults.scale: must be positive, got 0",
		"columns = [\"a\"]\n[defaults]\nscale=1\nname='x'\n":                                   "line 8: defaults.name: is each column's own",
		"columns = [\"a\"]\n[[columns]]\nname='b'\n":                                           "line 6",
		"columns = [\"a0..a99999\", \"b1\"]\n":                                                 "line 5: columns[1]: more columns than a study may have, which are 100000",
		"columns = [\"a\"]\n[defaults]\nscale=1\n[about]\npurpose='a\\nb'\nethics=\"a\\nb\"\n": "line 10: about.ethics: holds a line end",
	} {
		if _, err := ParseSpec([]byte(shortHead + text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestProposalsHaveNoDefaults: what a proposal leaves to be filled in, its digest would not cover.
func TestProposalsHaveNoDefaults(t *testing.T) {
	spec, err := ParseSpec([]byte(shortHead + "columns = ['a', 'b']\n[defaults]\nscale = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	spec.Defaults = &Column{Scale: 2}
	key := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)).Public().(ed25519.PublicKey)
	_, err = Propose(spec, []Member{{"a", Key(key), 100}, {"b", Key(other), 100}}, key, [32]byte{})
	if err == nil || !strings.Contains(err.Error(), "study.defaults: must be empty in a proposal") {
		t.Error(err)
	}
}

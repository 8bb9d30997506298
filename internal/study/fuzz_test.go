package study

import (
	"bytes"
	"crypto/ed25519"
	"encoding"
	"reflect"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// FuzzSpec: a study.toml that is read, written out again and read again is the same study, and
// its proposal says so too.
func FuzzSpec(f *testing.F) {
	f.Add([]byte(minimal))
	for _, text := range studies {
		f.Add([]byte(text))
	}
	f.Add([]byte("name = \"a\"\nradius = 0x1p3\n[deadlines]\nround = \"1h\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		spec, err := ParseSpec(text)
		if err != nil {
			return
		}
		written, err := toml.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseSpec(written)
		if err != nil {
			t.Fatalf("%s\nis not read again: %v", written, err)
		}
		if twice, err := toml.Marshal(again); err != nil || !bytes.Equal(twice, written) {
			t.Fatalf("%s\nis written again as\n%s (%v)", written, twice, err)
		}
		r := roster(5, 6, 7)
		body, err := Propose(spec, r, ed25519.PublicKey(r[0].Identity), [32]byte{})
		if err != nil {
			return // such as too few units
		}
		p, err := Parse(body)
		if spec.Sites = nil; err != nil || !reflect.DeepEqual(p.Spec, spec) {
			t.Fatalf("%+v\nis proposed as\n%+v (%v)", spec, p.Spec, err)
		}
	})
}

// FuzzProposal: the bytes of a proposal are hashed as they are, so several may say the same; but
// what they say, written out, says it again.
func FuzzProposal(f *testing.F) {
	for _, text := range studies {
		spec, err := ParseSpec([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		r := roster(500, 600, 700)
		body, err := Propose(spec, r, ed25519.PublicKey(r[0].Identity), [32]byte{1})
		if err != nil {
			continue
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := Parse(body)
		if err != nil {
			return
		}
		written, err := toml.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(written)
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%s\nis read as\n%+v\nnot\n%+v (%v)", written, again, p, err)
		}
	})
}

// FuzzRelease: a release that is read is written in one form, and that form reads as the same.
func FuzzRelease(f *testing.F) {
	encoded, err := Release{Study: Digest{1}, Query: 1, Slot: 2, Kind: KindPower, Survivors: []int{0, 2}, Units: 7, X: []float64{0.6, -0.8}, Radius: 0.1, Grid: 0x1p-20, Sigma: 1 << 30, Rho: 1e-3, Noised: []int64{-1, 1 << 60}}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded)
	f.Add([]byte("{}"))
	f.Add([]byte(`{"x":null,"noised":[],"sigma":18446744073709551615,"rho":5e-324,"QUERY":-1}`))
	plan := mustPlan(f, minimal, 500, 600, 700)
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := ParseRelease(raw)
		if err != nil {
			return
		}
		written, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		canonical, err := parseCanonical(0, written)
		if err != nil || !reflect.DeepEqual(canonical, r) {
			t.Fatalf("%s: %v", written, err)
		}
		if _, err := parseCanonical(0, raw); (err == nil) != bytes.Equal(raw, written) {
			t.Fatalf("%s and %s: %v", raw, written, err)
		}
		r.Study = plan.Digest
		plan.CheckRelease(r, 0) // whatever it says, nothing panics
	})
}

// FuzzTexts: what reads itself from text has one form, up to the case of hex digits.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"", "ff", "00000000000000000000000000000000000000000000000000000000000000aB", "AAA=", "AA==\n", "1h2m3.5s", "-1ns", "9223372036854775807ns"} {
		for kind := range byte(4) {
			f.Add(kind, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, text []byte) {
		var into interface {
			encoding.TextUnmarshaler
			encoding.TextMarshaler
		}
		switch kind % 4 {
		case 0:
			into = new(Digest)
		case 1:
			into = new(Key)
		case 2:
			into = new(Blob)
		case 3:
			into = new(Duration)
		}
		if into.UnmarshalText(text) != nil {
			return
		}
		written, err := into.MarshalText()
		if err != nil || kind%4 < 2 && !bytes.EqualFold(written, text) || kind%4 == 2 && !bytes.Equal(written, text) {
			t.Fatalf("%T of %q is written %q (%v)", into, text, written, err)
		}
		again := reflect.New(reflect.TypeOf(into).Elem()).Interface().(encoding.TextUnmarshaler)
		if err := again.UnmarshalText(written); err != nil || !reflect.DeepEqual(again, into) {
			t.Fatalf("%T of %q is read as %v (%v)", into, written, again, err)
		}
	})
}

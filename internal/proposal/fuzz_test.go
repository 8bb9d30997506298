package proposal_test

import (
	"bytes"
	"crypto/ed25519"
	"reflect"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/proposal"
	"covey/test/texts"
)

// FuzzSpec: a study.toml that is read, written out again and read again is the same study, and
// its proposal says so too.
func FuzzSpec(f *testing.F) {
	f.Add([]byte(texts.Minimal))
	for _, text := range texts.Studies {
		f.Add([]byte(text))
	}
	f.Add([]byte("name = \"a\"\nradius = 0x1p3\n[deadlines]\nround = \"1h\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		spec, err := proposal.ParseSpec(text)
		if err != nil {
			return
		}
		written, err := toml.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		again, err := proposal.ParseSpec(written)
		if err != nil {
			t.Fatalf("%s\nis not read again: %v", written, err)
		}
		if twice, err := toml.Marshal(again); err != nil || !bytes.Equal(twice, written) {
			t.Fatalf("%s\nis written again as\n%s (%v)", written, twice, err)
		}
		r := texts.Roster(5, 6, 7)
		body, err := proposal.Propose(spec, r, ed25519.PublicKey(r[0].Identity), [32]byte{})
		if err != nil {
			return // such as too few units
		}
		p, err := proposal.Parse(body)
		if spec.Sites = nil; err != nil || !reflect.DeepEqual(p.Spec, spec) {
			t.Fatalf("%+v\nis proposed as\n%+v (%v)", spec, p.Spec, err)
		}
	})
}

// FuzzProposal: the bytes of a proposal are hashed as they are, so several may say the same; but
// what they say, written out, says it again.
func FuzzProposal(f *testing.F) {
	for _, text := range texts.Studies {
		spec, err := proposal.ParseSpec([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		r := texts.Roster(500, 600, 700)
		body, err := proposal.Propose(spec, r, ed25519.PublicKey(r[0].Identity), [32]byte{1})
		if err != nil {
			continue
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := proposal.Parse(body)
		if err != nil {
			return
		}
		written, err := toml.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := proposal.Parse(written)
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%s\nis read as\n%+v\nnot\n%+v (%v)", written, again, p, err)
		}
	})
}

package proposal_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/texts"
)

var fives = []int{1000, 1000, 1000, 1000, 1000}

func smallSpec(t *testing.T) proposal.Spec {
	t.Helper()
	spec, err := proposal.ParseSpec([]byte(texts.Iterating(texts.Minimal)))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// party returns an analyst and its key.
func party(name string) (proposal.Party, ed25519.PrivateKey) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte(name[:1]), ed25519.SeedSize))
	return proposal.Party{Name: name, Identity: proposal.Key(key.Public().(ed25519.PublicKey))}, key
}

// TestProposerSigns: a proposal with a proposer takes that key's signature over these bytes and no
// other; one without takes none.
func TestProposerSigns(t *testing.T) {
	ada, key := party("ada")
	bob, other := party("bob")
	spec := smallSpec(t)
	spec.Readers = []string{"bob"}
	body, err := proposal.ProposeAs(&ada, spec, texts.Roster(fives...), []proposal.Party{bob}, texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := proposal.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	d := proposal.DigestOf(body)
	good := proposal.SignProposal(key, d)
	if err := p.CheckSignature(d, good); err != nil {
		t.Error(err)
	}
	bent := bytes.Clone(good)
	bent[0] ^= 1
	altered := proposal.DigestOf(append(bytes.Clone(body), '\n'))
	for name, c := range map[string]struct {
		d         proposal.Digest
		signature []byte
	}{
		"none":           {d, nil},
		"another's":      {d, proposal.SignProposal(other, d)},
		"bent":           {d, bent},
		"short":          {d, good[:63]},
		"of other bytes": {altered, good},
		"a decision":     {d, study.SignDecision(key, d, study.VerdictApproved, "")},
	} {
		if _, ok := errors.AsType[*proposal.SignatureError](p.CheckSignature(c.d, c.signature)); !ok {
			t.Errorf("a signature that is %s is taken", name)
		}
	}
	p.Proposer.Identity = p.Proposer.Identity[:31]
	if err := p.CheckSignature(d, good); err == nil {
		t.Error("a short key is taken")
	}
	p.Proposer = nil
	if err := p.CheckSignature(d, good); err == nil {
		t.Error("a signature of nobody is taken")
	}
	if err := p.CheckSignature(d, nil); err != nil {
		t.Error(err)
	}
}

// TestSitesNames: a roster has names that sites join under, so that none looks like another.
func TestSitesNames(t *testing.T) {
	for name, taken := range map[string]bool{
		"north": true, "a-1": true, "": false, "North": false, "north-": false, "north\u115f": false, "north\u034f": false, "north\ufe0f": false, "n\u043erth": false, "a b": false,
	} {
		roster := texts.Roster(fives...)
		roster[1].Name = name
		_, err := proposal.Propose(smallSpec(t), roster, texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
		if got := err == nil; got != taken || !taken && !strings.Contains(err.Error(), "roster[1].name: must be 1 to 63 characters from a-z") {
			t.Errorf("%+q: %v", name, err)
		}
	}
}

// TestPartiesAreApart: a name and a key in a proposal are one party's.
func TestPartiesAreApart(t *testing.T) {
	ada, _ := party("ada")
	bob, _ := party("bob")
	site := texts.Roster(fives...)[2]
	var crowd []proposal.Party
	for i := range proposal.MaxReaders + 1 {
		one, _ := party(string(rune('A' + i)))
		crowd = append(crowd, one)
	}
	for name, c := range map[string]struct {
		by      proposal.Party
		readers []proposal.Party
		want    string
	}{
		"the proposer has a site's name": {proposal.Party{site.Name, ada.Identity}, nil, "proposer: name or identity appears twice"},
		"the proposer has a site's key":  {proposal.Party{"ada", site.Identity}, nil, "proposer: name or identity appears twice"},
		"the proposer reads twice":       {ada, []proposal.Party{ada}, "readers[0]: name or identity appears twice"},
		"a site is a reader":             {ada, []proposal.Party{{site.Name, site.Identity}}, "readers[0]: name or identity appears twice"},
		"a reader twice":                 {ada, []proposal.Party{bob, bob}, "readers[1]: name or identity appears twice"},
		"no name":                        {proposal.Party{"", ada.Identity}, nil, "proposer.name: must be 1 to 63"},
		"a short key":                    {proposal.Party{"ada", ada.Identity[:31]}, nil, "key: must be 64 hex digits"},
		"a hidden character":             {proposal.Party{"ada\u202e", ada.Identity}, nil, "proposer.name: must be 1 to 63 characters from a-z"},
		"a letter that shows nothing":    {ada, []proposal.Party{{"bob\u3164", bob.Identity}}, "readers[0].name: must be 1 to 63 characters from a-z"},
		"21 readers":                     {ada, crowd, "readers: at most 20, got 21"},
	} {
		spec := smallSpec(t)
		spec.Readers = make([]string, len(c.readers))
		_, err := proposal.ProposeAs(&c.by, spec, texts.Roster(fives...), c.readers, texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	spec := smallSpec(t)
	spec.Readers = []string{"bob"}
	if _, err := proposal.ProposeAs(&ada, spec, texts.Roster(fives...), nil, texts.Signer.Public().(ed25519.PublicKey), [32]byte{1}); err == nil {
		t.Error("a reader that is not known is left out in silence")
	}
}

// TestPlannedReaders: a plan needs no reader's key, and is the same without readers; names that no
// proposal could have are refused.
func TestPlannedReaders(t *testing.T) {
	key := texts.Signer.Public().(ed25519.PublicKey)
	alone, err := proposal.Propose(smallSpec(t), texts.Roster(fives...), key, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	spec := smallSpec(t)
	for _, c := range []struct {
		readers []string
		want    string
	}{
		{[]string{"ada", "bob"}, ""},
		{[]string{"ada", "ada"}, "readers[1]: name or identity appears twice"},
		{[]string{texts.Roster(fives...)[2].Name}, "readers[0]: name or identity appears twice"},
		{[]string{"ada\u202e"}, "readers[0].name: must be 1 to 63 characters from a-z"},
		{make([]string, proposal.MaxReaders+1), "readers: at most 20, got 21"},
	} {
		spec.Readers = c.readers
		body, err := proposal.Propose(spec, texts.Roster(fives...), key, [32]byte{1})
		if c.want == "" && (err != nil || string(body) != string(alone)) {
			t.Errorf("%q: error %v, or another proposal than without readers", c.readers, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %s", c.readers, err, c.want)
		}
	}
}

// TestReads: the proposer and the readers read, by name and key together.
func TestReads(t *testing.T) {
	ada, _ := party("ada")
	bob, _ := party("bob")
	eve, _ := party("eve")
	p := proposal.Proposal{Proposer: &ada, Readers: []proposal.Party{bob}}
	for name, c := range map[string]struct {
		who  proposal.Party
		want bool
	}{
		"proposer": {ada, true}, "reader": {bob, true}, "stranger": {eve, false},
		"new key of the name": {proposal.Party{"ada", eve.Identity}, false}, "new name of the key": {proposal.Party{"eve", ada.Identity}, false}, "nobody": {proposal.Party{}, false},
	} {
		if p.Reads(c.who) != c.want {
			t.Errorf("%s: reads %v", name, !c.want)
		}
	}
	if (proposal.Proposal{}).Reads(proposal.Party{}) {
		t.Error("nobody reads what has no proposer")
	}
}

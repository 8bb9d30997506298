package chain

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// TestGolden fixes every derivation: a site of another version must find the same links.
func TestGolden(t *testing.T) {
	study := [32]byte{1}
	for what, c := range map[string]struct{ got, want string }{
		"start":    {start().String(), "0b1b1a61679ac442246428bf9f456498d4536cfb7eee5bd309a81daa9fb8d56e"},
		"joined":   {Link(Joined("north", "ab", []byte{1}, []byte{2})).String(), "a9aa9da4f6f116dde50550959f48f07747e3a5979ba719ba29a8ffb407718488"},
		"revoked":  {Link(Revoked("north", "ab")).String(), "729b414d46e7dd23f22961c42fbb806b157786d76416fa7827214026861b516c"},
		"proposed": {Link(Proposed(study)).String(), "5df4b4f0eff18a088fb69561f9e0d645592d187f4403c3736c27d7e81ecd0ffd"},
		"released": {Link(Released(study, []byte("release"))).String(), "c55a38e0996283eb531b1459f0d3a5e5e60e8b31a1a0b0b75206b1436262b8e0"},
		"ended":    {Link(Ended(study, "completed")).String(), "ffabf230f069aadf97e9e10a5ab6b0cde311738f45ff3f0829f892bd86988c1a"},
		"link 1":   {start().next(Step{1}).String(), "d1e50639d14f05c591d63df1850a651a9e4d8ba42f0ab701313afc5a52f2bb08"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", what, c.got, c.want)
		}
	}
	signed := Signed{Head: Head{0x0102, Link{3}}, Base: Head{1, Link{4}}}
	want := append([]byte("covey chain head v1\x00\x00\x00\x00\x00\x00\x00\x00\x01\x04"), make([]byte, 31)...)
	want = append(append(want, "\x00\x00\x00\x00\x00\x00\x01\x02\x03"...), make([]byte, 31)...)
	if got := signed.SigningInput(); !bytes.Equal(got, want) {
		t.Errorf("a head is signed as %q", got)
	}
}

// TestStepsAreOfOneEntry: no two entries have one step, whatever is moved from one field to
// another.
func TestStepsAreOfOneEntry(t *testing.T) {
	study := [32]byte{1}
	all := []Step{
		Joined("a", "bc", nil, nil), Joined("ab", "c", nil, nil), Joined("a", "b", []byte("c"), nil), Joined("a", "b", nil, []byte("c")),
		Revoked("a", "bc"), Revoked("ab", "c"), Proposed(study), Released(study, nil), Ended(study, ""), Ended(study, "x"), Released(study, []byte("x")),
	}
	for i, s := range all {
		if slices.Index(all, s) != i {
			t.Errorf("step %d is another's, too", i)
		}
	}
}

// TestLogSurvivesJSON: a snapshot keeps the steps, and the links follow.
func TestLogSurvivesJSON(t *testing.T) {
	var l, back Log
	for i := range 5 {
		raw, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &back); err != nil || back.Head() != l.Head() || back.IsZero() != (i == 0) {
			t.Fatalf("%v: %v of %v", err, back.Head(), l.Head())
		}
		l.Append(Step{byte(i)})
	}
	if err := json.Unmarshal([]byte(`"AAAA"`), &back); err == nil {
		t.Error("steps of 3 bytes are taken")
	}
	var text Link
	if err := text.UnmarshalText([]byte(l.Head().Link.String())); err != nil || text != l.Head().Link {
		t.Errorf("%v, %v", text, err)
	}
	if text.UnmarshalText([]byte("00")) == nil {
		t.Error("a short head is taken")
	}
}

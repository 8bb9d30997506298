package outline

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/shelf"
	"covey/internal/study"
	"covey/test/texts"
)

// TestWordsOf: words of sites that are not in the roster, which another coordinator's made-up
// snapshot may have, are left out.
func TestWordsOf(t *testing.T) {
	p := &study.Plan{Proposal: proposal.Proposal{Roster: make([]proposal.Member, 2)}}
	approved := Word{Verdict: study.VerdictApproved}
	got := wordsOf(p, map[int]Word{-1: approved, 1: approved, 2: approved, 1 << 40: approved})
	if len(got) != 2 || got[0].Verdict != "" || got[1].Verdict != study.VerdictApproved {
		t.Errorf("%+v", got)
	}
}

// TestClosedReleases: what is on the shelf is the JSON of a whole, whose releases are read one by
// one wherever in it they stand: what Close wrote, with and without any, and what an earlier
// version wrote in one piece.
func TestClosedReleases(t *testing.T) {
	body, err := texts.Propose("name = \"x\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\n[[columns]]\nname = \"a\"\noffset = 0.0\nscale = 1.0\n[[columns]]\nname = \"b\"\noffset = 0.0\nscale = 1.0\n", 1000, 1000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	words := map[int]Word{1: {Verdict: study.VerdictApproved, Signature: []byte("signature")}}
	for n := range 4 {
		d := round.Durable{Body: body, Status: round.StatusEnded, Code: study.CodeAborted, Culprit: -1, Verdicts: make([]study.Verdict, 3), Rho: 0.5}
		for i := range n {
			d.Releases = append(d.Releases, round.Released{Encoded: bytes.Repeat([]byte{byte(i)}, 1<<20), Signature: []byte{1}})
		}
		state, err := round.Restore(d)
		if err != nil {
			t.Fatal(err)
		}
		on := new(shelf.Shelf)
		c, err := Close(View{Digest: proposal.DigestOf(body), Status: d.Status}, state, words, on)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := c.Copy(&text); err != nil || int64(text.Len()) != c.Size {
			t.Fatalf("%d bytes of %d, %v", text.Len(), c.Size, err)
		}
		slim(&d)
		before, err := json.Marshal(whole{d, words})
		if err != nil {
			t.Fatal(err)
		}
		var now, then any
		if json.Unmarshal(text.Bytes(), &now) != nil || json.Unmarshal(before, &then) != nil || !reflect.DeepEqual(now, then) {
			t.Errorf("with %d releases, the shelf has another study", n)
		}
		for name, raw := range map[string][]byte{"as now": text.Bytes(), "as before": before} {
			taken := *c
			taken.Size = int64(len(raw))
			if err := taken.Take(bytes.NewReader(raw), on); err != nil {
				t.Fatal(err)
			}
			got, w, err := taken.Load()
			if err != nil || len(got.Releases) > 0 || got.Rho != d.Rho || !reflect.DeepEqual(w, words) {
				t.Fatalf("%s: %+v, %v", name, w, err)
			}
			var releases []round.Released
			if err := taken.Releases(func(r round.Released) error { releases = append(releases, r); return nil }); err != nil || !reflect.DeepEqual(releases, d.Releases) {
				t.Errorf("%s: %d releases of %d, %v", name, len(releases), n, err)
			}
			enough := errors.New("enough")
			if err := taken.Releases(func(round.Released) error { return enough }); n > 0 && !errors.Is(err, enough) {
				t.Errorf("%s: %v", name, err)
			}
			if err := taken.Take(bytes.NewReader(raw[:len(raw)-1]), on); err == nil {
				t.Errorf("%s: a text that is cut short is taken", name)
			}
		}
	}
}

package round

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"covey/internal/proposal"
)

// logOf is a whole study's log, an entry a line.
func logOf(f *testing.F) [][]byte {
	h := newHarness(f, 3, nil)
	h.run()
	var lines [][]byte
	for _, e := range h.log {
		raw, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		lines = append(lines, raw)
	}
	return lines
}

// FuzzEntries commits the first entries of a study, then entries of the fuzzer's, a line each: none
// fails the state machine, on a follower or a leader, and what the state then is, encoded, is the
// same when it is read, written and read.
func FuzzEntries(f *testing.F) {
	lines := logOf(f)
	for i := range lines {
		f.Add(byte(i), lines[i])
		f.Add(byte(i), bytes.Join(lines[i:], []byte("\n")))
	}
	f.Add(byte(5), []byte(`{"kind":"survivors","survivors":[-1,7]}`+"\n"+`{"kind":"opening","certificate":[]}`))
	f.Fuzz(func(t *testing.T, first byte, text []byte) {
		var s State
		commit := func(line []byte) {
			var e Entry
			if json.Unmarshal(line, &e) == nil {
				s.Step(Committed{e})
			}
		}
		for _, line := range lines[:min(int(first), len(lines))] {
			commit(line)
		}
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			commit(line)
		}
		if s.Plan() == nil {
			return
		}
		written, err := json.Marshal(s.Durable)
		if err != nil {
			t.Fatal(err)
		}
		var d Durable
		if err := json.Unmarshal(written, &d); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		again, err := Restore(d)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		lead(again)
		lead(&s)
		if twice, err := json.Marshal(again.Durable); err != nil || !bytes.Equal(twice, written) {
			t.Fatalf("%s is written again as\n%s (%v)", written, twice, err)
		}
	})
}

// lead has the state lead its study, and every site come, answer at the wrong time and go.
func lead(s *State) {
	s.Step(Led{Connected: []int{0, 1}})
	s.WaitingFor()
	s.Step(Connected{Site: 2})
	s.Step(Uploaded{Site: 1, Query: s.Query, Slot: s.Slot})
	s.Step(Signed{Site: 0, Query: s.Query, Slot: s.Slot, Signature: []byte{1}})
	s.Step(Shared{Site: 0, Query: s.Query, Slot: s.Slot})
	s.Step(Recalled{Site: 1})
	s.Step(ProofsMissing{Query: s.Query, Slot: s.Slot, Dealer: 2, Helpers: []int{0, 1}})
	s.Step(Proved{Site: 0, Query: s.Query, Slot: s.Slot})
	s.Step(KeysMissing{Query: s.Query, Slot: s.Slot, From: []int{0, 1}, Convicted: []int{2}})
	s.Step(Keyed{Site: 0, Query: s.Query, Slot: s.Slot})
	for _, p := range []Phase{PhaseUpload, PhaseOpen, PhaseProofs, PhaseKeys} {
		s.Step(Expired{Query: s.Query, Slot: s.Slot, Phase: p})
	}
	s.Step(Disconnected{Site: 2})
	s.WaitingFor()
	s.Step(Followed{})
}

// FuzzRestore restores whatever is encoded of a study, and leads it.
func FuzzRestore(f *testing.F) {
	lines := logOf(f)
	for n := range len(lines) + 1 {
		var s State
		for _, line := range lines[:n] {
			var e Entry
			if err := json.Unmarshal(line, &e); err != nil {
				f.Fatal(err)
			}
			s.Step(Committed{e})
		}
		raw, err := json.Marshal(s.Durable)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var d Durable
		if json.Unmarshal(raw, &d) != nil {
			return
		}
		s, err := Restore(d)
		if err != nil {
			if s != nil {
				t.Fatal("a state that did not restore")
			}
			return
		}
		if !reflect.DeepEqual(s.Durable, d) || s.Plan() == nil || s.Plan().Digest != proposal.DigestOf(d.Body) {
			t.Fatal("another state was restored")
		}
		lead(s)
	})
}

// TestUnfitIsRefused: a state or an entry whose lists do not fit the plan is refused, and nothing
// changes.
func TestUnfitIsRefused(t *testing.T) {
	h := newHarness(t, 3, nil)
	h.run()
	good := h.state.Durable
	if _, err := Restore(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Durable){
		"verdicts":      func(d *Durable) { d.Verdicts = d.Verdicts[1:] },
		"announcements": func(d *Durable) { d.Announcements = make([][]byte, 2) },
		"confirmations": func(d *Durable) { d.Confirmations = make([][]byte, 4) },
		"tags":          func(d *Durable) { d.Tags = make([][]byte, 2) },
		"deposits":      func(d *Durable) { d.Deposits = make([][]byte, 4) },
		"tags' hashes":  func(d *Durable) { d.TagHashes = make([][]byte, 1) },
		"deposits'":     func(d *Durable) { d.DepositHashes = make([][]byte, 2) },
		"certificate":   func(d *Durable) { d.Certificate = make([][]byte, 1) },
		"survivors":     func(d *Durable) { d.Survivors = []int{0, 3} },
		"twice":         func(d *Durable) { d.Survivors = []int{1, 1} },
		"culprit":       func(d *Durable) { d.Culprit = 3 },
		"slot":          func(d *Durable) { d.Slot = -1 },
		"query":         func(d *Durable) { d.Query = 99 },
	} {
		d := good
		change(&d)
		if s, err := Restore(d); err != errUnfit || s != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var s State
	for _, e := range h.log {
		if e.Kind == EntrySurvivors {
			for _, u := range [][]int{{0, 1, 3}, {-1, 0}, {1, 0}, {2, 2}} {
				bad := e
				bad.Survivors = u
				if _, err := s.Step(Committed{bad}); err == nil || s.Survivors != nil {
					t.Fatalf("U = %v: %v, and the state holds %v", u, err, s.Survivors)
				}
			}
		}
		if _, err := s.Step(Committed{e}); err != nil {
			t.Fatal(err)
		}
	}
	if s.Status != StatusCompleted {
		t.Errorf("the study is %s", s.Status)
	}
}

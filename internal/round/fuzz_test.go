package round

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"covey/internal/study"
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
		if twice, err := json.Marshal(again.Durable); err != nil || !bytes.Equal(twice, written) {
			t.Fatalf("%s is written again as\n%s (%v)", written, twice, err)
		}
	})
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
		if !reflect.DeepEqual(s.Durable, d) || s.Plan() == nil || s.Plan().Digest != study.DigestOf(d.Body) {
			t.Fatal("another state was restored")
		}
	})
}

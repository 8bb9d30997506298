package hostile

import "testing"

// TestSharesBeforeTheLastUpload has the shares of a sum that waits for every site leave before the
// last sites upload, so that every self mask is known by then. Those sites are then asked the same
// question, another one, or none, across a crash, and keys and proofs besides: nothing is open
// before the last honest upload to the question that was certified. Rules R15, L6, L8, L10, A6.
func TestSharesBeforeTheLastUpload(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, rounds: 4, spare: 8, change: waits})
	w.begin()
	open := func(when string, want int) {
		t.Helper()
		if r := w.hold(); len(r.openings) != want {
			t.Errorf("%s: open are %v", when, r.openings)
		}
	}
	early := func(f field) [2]int {
		t.Helper()
		a := f.at(0, 1)
		f.wants("upload", f.uploads(a, 1, 2, 3), 3)
		f.wants("sign before site 4 uploads", f.signs(a, all5, 1, 2, 3), 3)
		f.wants("send shares before site 4 uploads", f.opens(a, all5, 1, 2, 3), 3)
		f.tells("keys", 0, [2]int{0, 1}, all5, honest...)
		f.wants("sign less", f.signs(a, but4, honest...), 0)
		f.wants("open less", f.opens(a, but4, honest...), 0)
		return [2]int{0, 1}
	}
	// The question that was certified.
	f := field{w, 0, 0}
	early(f)
	open("before the last upload", 0)
	f.wants("upload last", f.uploads(f.at(0, 1), 4), 1)
	open("after the last upload", 1)
	f.final(f.at(0, 1), all5)
	// Another one, by the last digits of x: site 4's self mask is known, its masks with others are
	// not.
	f = field{w, 1, 1}
	early(f)
	w.agent(4).restart()
	f.wants("upload to another question", f.uploads(f.at(0, 2), 4), 1)
	f.wants("upload to the first one too", f.uploads(f.at(0, 1), 4), 0)
	f.wants("upload in another slot", f.uploads(f.at(1, 1), honest...), 0)
	f.signs(f.at(0, 2), all5, honest...)
	f.wants("open another question", f.opens(f.at(0, 2), all5, honest...), 0)
	open("after the last upload to another question", 1)
	w.stop()
}

package hostile

import "testing"

// tells asks sites for the keys of their pairs with sites outside of U, and says how many answer.
func (f field) tells(what string, want int, a [2]int, u []int, sites ...int) {
	f.t.Helper()
	n := 0
	for _, i := range sites {
		if f.keys(i, f.at(a[0], a[1]), u) != nil {
			n++
		}
	}
	f.wants(what, n, want)
}

// proves asks sites for proofs of their shares of every dealer, and of two that there are not.
func (f field) proves(what string, want int, a [2]int, u []int, sites ...int) {
	f.t.Helper()
	n := 0
	for _, i := range sites {
		for dealer := range 7 {
			if f.prove(i, f.at(a[0], a[1]), u, dealer-1) != nil {
				n++
			}
		}
	}
	f.wants(what, n, want)
}

// openingAttacks ask for more about an opening than shares: keys of pairs, and proofs. Of what is
// told the checker knows whose it is, so that a key of a pair inside of U would be seen.
var openingAttacks = []attack{
	{"keys and proofs before shares", 1, func(f field) { // L8
		a, at := f.at(0, 1), [2]int{0, 1}
		f.uploads(a, honest...)
		f.tells("keys before a signature", 0, at, but4, honest...)
		f.signs(a, but4, honest...)
		f.tells("keys before shares", 0, at, but4, honest...)
		f.proves("proofs before shares", 0, at, but4, honest...)
		f.wants("open", f.opens(a, but4, honest...), 4)
	}},
	{"keys of the set that is open", 1, func(f field) { // L8
		a, at := f.at(0, 1), [2]int{0, 1}
		f.round(a, but4)
		f.tells("keys of sites in the set", 3, at, but4, 1, 2, 3)
		f.tells("keys of the site outside", 0, at, but4, 4)
		f.proves("proofs", 4*5, at, but4, honest...)
		f.tells("keys again", 3, at, but4, 1, 2, 3)
	}},
	{"keys of everybody's pairs with nobody", 1, func(f field) {
		f.round(f.at(0, 1), all5)
		before := len(f.view.keys)
		f.tells("keys", 4, [2]int{0, 1}, all5, honest...)
		for _, raw := range f.view.keys[before:] {
			if len(raw) != len(keysLabel)+headSize {
				f.t.Errorf("keys of %d bytes about a set of all", len(raw))
			}
		}
	}},
	{"keys of other sets than the one that is open", 1, func(f field) { // L8
		at := [2]int{0, 1}
		f.round(f.at(0, 1), all5)
		for _, u := range [][]int{but4, but3, only, {0, 1, 3, 4}, {0, 2, 3, 4}} {
			f.tells("keys of another set", 0, at, u, honest...)
			f.proves("proofs of another set", 0, at, u, honest...)
		}
	}},
	{"keys of sets that are none", 1, func(f field) { // A5
		at := [2]int{0, 1}
		f.round(f.at(0, 1), but4)
		for _, u := range [][]int{nil, {1}, {1, 2}, {1, 2, 3}, {3, 2, 1, 0}, {0, 1, 2, 2, 3}, {0, 1, 2, 3, 5}} {
			f.tells("keys of a set that is none", 0, at, u, honest...)
			f.proves("proofs of a set that is none", 0, at, u, honest...)
		}
	}},
	{"one site's shares and keys, then another slot", 1, func(f field) { // L8, L10
		a, b, rest := f.at(0, 1), f.at(1, 1), []int{0, 2, 3, 4}
		f.uploads(a, honest...)
		f.signs(a, but4, honest...)
		f.wants("open", f.opens(a, but4, 1), 1)
		f.tells("keys", 1, [2]int{0, 1}, but4, honest...)
		f.uploads(b, 2, 3, 4)
		f.signs(b, rest, 2, 3, 4)
		f.wants("open in the other slot", f.opens(b, rest, 2, 3, 4), 3)
		f.tells("keys of the first slot of those who moved", 0, [2]int{0, 1}, but4, 2, 3, 4)
		f.tells("keys of the other slot", 3, [2]int{1, 1}, rest, honest...)
		f.tells("keys of the other slot's other set", 0, [2]int{1, 1}, but4, honest...)
	}},
	{"keys of another slot or question", 1, func(f field) { // L8, S2
		a, b := f.at(0, 1), f.at(1, 1)
		f.uploads(a, honest...)
		f.uploads(b, honest...)
		f.uploads(a, honest...)
		f.signs(a, but4, honest...)
		f.wants("open", f.opens(a, but4, honest...), 4)
		f.tells("keys of another slot", 0, [2]int{1, 1}, but4, honest...)
		f.uploads(f.at(0, 2), honest...)
		f.tells("keys of the slot, after another question about it", 3, [2]int{0, 1}, but4, honest...)
	}},
	{"keys and proofs after the result", 1, func(f field) { // L12
		a, at := f.at(0, 1), [2]int{0, 1}
		f.round(a, but4)
		f.tells("keys", 3, at, but4, 1, 2, 3)
		f.final(a, but4)
		f.tells("keys after the result", 0, at, but4, honest...)
		f.proves("proofs after the result", 0, at, but4, honest...)
	}},
}

// TestKeysAfterCrash: a process that was asked nothing yet about a query says nothing about its
// opening; then it keeps to the shares on record. Rule L8.
func TestKeysAfterCrash(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}})
	w.begin()
	f, at := field{w, 0, 0}, [2]int{0, 1}
	w.name[0] = "keys after a crash"
	f.round(f.at(0, 1), but4)
	for _, i := range honest {
		f.agent(i).restart()
	}
	f.tells("keys of who was asked nothing yet", 0, at, but4, honest...)
	f.uploads(f.at(0, 1), honest...)
	f.tells("keys", 3, at, but4, honest...)
	f.tells("keys of another set", 0, at, but3, honest...)
	if r := w.hold(); len(r.openings) != 1 {
		t.Errorf("open are %v", r.openings)
	}
}

package hostile

import (
	"fmt"
	"slices"
	"testing"
)

// whole is the state of the three honest sites.
type whole [3]member

// certified reports whether the coordinator has a certificate that a site takes: two honest
// signatures on the set in the context that the site is asked in, and the corrupt site's.
func (g whole) certified(site int, m message) bool {
	n := 0
	for _, l := range g {
		if l.sign[m.slot] == m.arg+1 && l.up[m.slot] == g[site].up[m.slot] {
			n++
		}
	}
	return n >= 2
}

// knowledge is what the coordinator has of a slot, beside uploads: by kind and dealer, and the keys
// of pairs that survivors told.
type knowledge struct {
	secret [2][3]bool
	pair   [3][3]bool
}

// told adds the keys that sites told of their pairs.
func (k *knowledge) told(g whole, slot int8, sets [2][]int, r loose) {
	for j, l := range g {
		for set, u := range sets {
			if l.keys>>(2*int(slot)+set)&1 == 0 || !slices.Contains(u, j) && !r.keysOutside {
				continue
			}
			for i := range g {
				if i != j && (r.keysInside || !slices.Contains(u, i)) {
					k.pair[i][j], k.pair[j][i] = true, true
				}
			}
		}
	}
}

// opens judges a state for two survivor sets: how many sums are open, whether one has too few
// sites, and whether both kinds of a site's secrets are open. gone are shares that were sent before
// those in the state, where a rule is left out.
func (g whole) opens(sets [2][]int, gone [4]int, r loose) (sums int, few, both bool) {
	for slot := range int8(2) {
		count := [2]int{gone[2*slot], gone[2*slot+1]} // of shares, by set
		for _, l := range g {
			if l.sent != 0 && (l.sent-1)/2 == slot {
				count[(l.sent-1)%2]++
			}
		}
		proofs := 0
		for _, l := range g {
			if l.proved {
				proofs++
			}
		}
		var known knowledge // two honest shares and the corrupt site's
		known.told(g, slot, sets, r)
		for j := range 3 {
			n := [2]int{proofs, proofs}
			for k, u := range sets {
				if slices.Contains(u, j) {
					n[kindB] += count[k]
				} else {
					n[kindE] += count[k]
				}
			}
			known.secret[kindE][j], known.secret[kindB][j] = n[kindE] >= 2, n[kindB] >= 2
			both = both || n[kindE] >= 2 && n[kindB] >= 2
		}
		for x := int8(1); x <= 2; x++ {
			sites := g.sums(slot, x, known)
			for _, size := range sites {
				sums++
				few = few || size < 2
			}
		}
	}
	return sums, few, both
}

// sums returns the sizes of the sums that are open among uploads of one slot and x. Sites whose
// common mask is not known are in one sum or in none; a mask with a site whose upload is not there
// never goes.
func (g whole) sums(slot, x int8, known knowledge) (sizes []int) {
	seen := [3]bool{}
	for i := range g {
		if seen[i] || g[i].up[slot] != x {
			continue
		}
		group, open := []int{i}, true
		seen[i] = true
		for k := 0; k < len(group); k++ {
			a := group[k]
			open = open && known.secret[kindB][a]
			for b := range g {
				if b == a || known.secret[kindE][a] || known.secret[kindE][b] || known.pair[a][b] {
					continue
				}
				if g[b].up[slot] != x {
					open = false
				} else if !seen[b] {
					seen[b] = true
					group = append(group, b)
				}
			}
		}
		if open {
			sizes = append(sizes, len(group))
		}
	}
	return sizes
}

func (l member) code() int {
	c := int(l.open + 1)
	for slot := range 2 {
		c = (c*3+int(l.up[slot]))*3 + int(l.sign[slot])
	}
	c = (c*5+int(l.sent))*16 + int(l.keys)
	if l.proved {
		return 2*c + 1
	}
	return 2 * c
}

const memberCodes = 3 * 81 * 5 * 16 * 2

// rule is the model's rule as a table, by code.
type rule struct {
	of   [memberCodes]member
	next [memberCodes][]uint16 // by message; itself where nothing changes
}

func tabled(r loose) *rule {
	t := &rule{}
	todo := []member{fresh}
	for len(todo) > 0 {
		l := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		c := l.code()
		if t.next[c] != nil {
			continue
		}
		t.of[c] = l
		for _, m := range messages {
			next, _ := l.step(m, r)
			t.next[c] = append(t.next[c], uint16(next.code()))
			todo = append(todo, next)
		}
	}
	return t
}

// judged is a state: the sites' codes in order, as the rule does not tell the sites apart and all
// pairs of sets are judged; and, where rules are left out, the shares that were sent before, of
// which at most two of each (slot, set) matter.
type judged struct {
	sites [3]uint16
	gone  [4]uint8
}

// verdict judges a state's uploads and shares, for all pairs of sets.
type verdict struct {
	open   bool
	broken string
}

func (t *rule) judge(at judged, pairs [][2][]int, r loose) (v verdict) {
	g, gone := whole{}, [4]int{}
	for i, c := range at.sites {
		g[i] = t.of[c]
	}
	for k, n := range at.gone {
		gone[k] = int(n)
	}
	for _, p := range pairs {
		sums, few, both := g.opens(p, gone, r)
		v.open = v.open || sums > 0
		if sums > 1 || few || both {
			v.broken = fmt.Sprintf("%+v, shares before %v, sets %v: %d sums, of too few %v, both kinds %v", g, gone, p, sums, few, both)
		}
	}
	return v
}

// explored is what explore found.
type explored struct {
	states, moves, open int
	broken              string
}

// explore walks every interleaving of messages, with as many values of x, and stops at a state that
// breaks a promise.
func explore(r loose, xs int8) (out explored) {
	var pairs [][2][]int
	lawful := subsets(4, 3)
	for a := range lawful {
		for b := range a {
			pairs = append(pairs, [2][]int{lawful[b], lawful[a]})
		}
	}
	t, verdicts := tabled(r), map[judged]verdict{}
	c := uint16(fresh.code())
	start := judged{sites: [3]uint16{c, c, c}}
	seen, queue := map[judged]bool{start: true}, []judged{start}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		out.states++
		key := at
		for i, c := range at.sites { // neither signatures nor what is asked now decide what is open
			l := t.of[c]
			l.sign, l.open = [2]int8{}, -1
			key.sites[i] = uint16(l.code())
		}
		v, ok := verdicts[key]
		if !ok {
			v = t.judge(at, pairs, r)
			verdicts[key] = v
		}
		if out.broken = v.broken; out.broken != "" {
			return out
		}
		if v.open {
			out.open++
		}
		var g whole
		for i, c := range at.sites {
			g[i] = t.of[c]
		}
		for i, c := range at.sites {
			if i > 0 && c == at.sites[i-1] {
				continue // the same again
			}
			for k, m := range messages {
				if m.what == mQuery && m.arg >= xs || m.what == mOpen && !g.certified(i, m) {
					continue
				}
				out.moves++
				if t.next[c][k] == c {
					continue
				}
				next := at
				next.sites[i] = t.next[c][k]
				if old := g[i].sent; old != 0 && t.of[next.sites[i]].sent != old {
					next.gone[old-1] = min(2, next.gone[old-1]+1)
				}
				slices.Sort(next.sites[:])
				if !seen[next] {
					seen[next] = true
					queue = append(queue, next)
				}
			}
		}
	}
	return out
}

// TestEveryInterleaving explores the model to its end: whatever a coordinator delivers to three
// honest sites of four, about two slots of a query, two values of x and any two lawful survivor
// sets, with crashes between, at most one sum is open, of at least two honest sites, and never both
// kinds of a site's secrets. What the coordinator was not told because of a crash it is taken to
// know, so a lost answer is among them. The short form has one x. Rules L4 to L11, A9.
func TestEveryInterleaving(t *testing.T) {
	xs := int8(1)
	if *variants == 0 {
		xs = 2
	}
	e := explore(loose{}, xs)
	if e.broken != "" {
		t.Fatal(e.broken)
	}
	if e.open == 0 {
		t.Error("no state has an open sum: the model does not get as far as shares")
	}
	t.Logf("figure: %d states of the three sites (%d x), %d moves, %d states with an open sum, 10 pairs of sets each: none breaks", e.states, xs, e.moves, e.open)
	// What the rules are worth: which of them, left out alone or together, break a promise in the
	// model.
	for _, c := range []struct {
		name   string
		r      loose
		breaks bool
	}{
		{"L6, one signature a slot", loose{signTwice: true}, true}, // shares for one set, keys of another

		{"L8, one opening a query", loose{sentTwice: true}, true},
		{"L9, no older slot", loose{older: true}, false},
		{"L10, no other slot after shares", loose{move: true}, false},
		{"L8 and L10", loose{sentTwice: true, move: true}, true},
		{"L6, L9 and L10", loose{signTwice: true, older: true, move: true}, true},
		{"L6 and L8", loose{signTwice: true, sentTwice: true}, true},
		{"keys only after shares", loose{keysBefore: true}, true},
		{"keys only for the shares' set", loose{keysOther: true}, true},
		{"keys of no pair inside the set", loose{keysInside: true}, true},
		{"keys of no site outside of the set", loose{keysOutside: true}, false},
		{"no keys after a later signature", loose{keysLate: true}, false},
		{"leaves in a proof", loose{proofShares: true}, true},
	} {
		if *variants > 0 && !c.breaks {
			continue // to the end of a larger model: in the long form
		}
		e := explore(c.r, 1)
		if (e.broken != "") != c.breaks {
			t.Errorf("without %s: broken is %q", c.name, e.broken)
		}
		t.Logf("without %s: %d states, %.200s", c.name, e.states, e.broken)
	}
}

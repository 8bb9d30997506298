package hostile

import (
	"fmt"
	"testing"

	covey "covey/proto/covey/v1"
)

// corruptOf are the sites that the coordinator holds: η of N, not only the last.
var corruptOf = map[int][]int{4: {3}, 5: {0}, 6: {2}, 7: {1, 5}}

// subsets returns all sets of sites of at least some size, ascending.
func subsets(n, least int) (out [][]int) {
	for bits := range 1 << n {
		var u []int
		for i := range n {
			if bits>>i&1 == 1 {
				u = append(u, i)
			}
		}
		if len(u) >= least {
			out = append(out, u)
		}
	}
	return out
}

// split is one attack: each honest site hears of one of two survivor sets first.
type split struct {
	u     [2][]int
	first int // a bit for each honest site: which set it hears of first
}

// splits lists all ordered pairs of lawful sets, each with every way to tell the sites: with six
// and seven sites all ways if the first set has all sites, two otherwise.
func splits(n, least, honest int) (out []split) {
	sets := subsets(n, least)
	for _, u := range sets {
		for _, other := range sets {
			for first := range 1 << honest {
				if n <= 5 || len(u) == n || first == 5 || first == 1<<honest-2 {
					out = append(out, split{[2][]int{u, other}, first})
				}
			}
		}
	}
	return out
}

// perWorld is how many attacks one study takes, a query and a slot each.
const perWorld = 200

// TestSplitSurvivors tells sites of different survivor sets, in every lawful pair and every
// division of the sites, asks each for its signature on both and for its shares for both, with all
// certificates that can be had. Rules A5, A6, A9, A17, L6, L8, L11, AG-11, AG-12.
func TestSplitSurvivors(t *testing.T) {
	for n := 4; n <= 7; n++ {
		t.Run(fmt.Sprintf("%d sites", n), func(t *testing.T) {
			if testing.Short() && (n == 5 || n == 6) {
				t.Skip("the least and the most stay")
			}
			t.Parallel()
			bad := corruptOf[n]
			w := newWorld(t, options{sites: n, corrupt: bad, book: bookOf(n)})
			all := splits(n, w.plan.Thresholds.MinSurvivors, n-len(bad))
			run := chosen(len(all))
			total, open := 0, 0
			for len(run) > 0 {
				part := run[:min(perWorld, len(run))]
				run = run[len(part):]
				w := newWorld(t, options{sites: n, corrupt: bad, rounds: len(part) + 1})
				w.begin()
				for k, at := range part {
					w.split(k, all[at])
				}
				r := w.hold()
				total, open = total+len(part), open+len(r.openings)
				w.stop()
			}
			if open == 0 {
				t.Error("nothing was opened at all: the attack does not get as far as shares")
			}
			t.Logf("figure: %d sites, %d corrupt: %d of %d pairs and divisions, %d lawful sums opened, no other", n, len(bad), total, len(all), open)
		})
	}
}

// bookOf returns rules by site that all n sites keep.
func bookOf(n int) map[int]rules {
	out := map[int]rules{}
	for i := range n {
		out[i] = rules{}
	}
	return out
}

// stop ends the agents.
func (w *world) stop() {
	for _, i := range w.real() {
		w.agent(i).kill()
	}
}

// split runs one attack in the next query.
func (w *world) split(k int, s split) {
	w.t.Helper()
	w.name[k] = fmt.Sprintf("%v and %v, told first %b", s.u[0], s.u[1], s.first)
	a := w.asking(k, k, k%9) // sites allow for the last digits alone
	for _, i := range w.honest {
		if w.upload(i, a) == nil {
			w.t.Fatalf("%s: site %d does not upload", w.name[k], i)
		}
	}
	order := func(at int) [2][]int {
		if s.first>>at&1 == 1 {
			return [2][]int{s.u[1], s.u[0]}
		}
		return s.u
	}
	for at, i := range w.honest {
		for _, u := range order(at) {
			w.sign(i, a, u)
		}
	}
	for range 2 { // the second time with what the first brought
		for at, i := range w.honest {
			for _, u := range order(at) {
				w.shares(i, a, u, w.certificate(a, u))
			}
		}
	}
	w.final(a, s.u[0])
}

// TestUnlawfulSurvivors asks for signatures and shares for every set below U_min, and for lists
// that are no sets. Rules A5, R5, AG-11, AG-12.
func TestUnlawfulSurvivors(t *testing.T) {
	for n := 4; n <= 7; n++ {
		if testing.Short() && n > 5 {
			break
		}
		bad := corruptOf[n]
		w := newWorld(t, options{sites: n, corrupt: bad})
		w.begin()
		a := w.asking(0, 0, 1)
		for _, i := range w.honest {
			w.upload(i, a)
		}
		var lists [][]int
		for _, u := range subsets(n, 0) {
			if len(u) < w.plan.Thresholds.MinSurvivors {
				lists = append(lists, u)
			}
		}
		all := w.everyone()
		twice := append([]int{0}, all...)
		backwards := append([]int{all[1], all[0]}, all[2:]...)
		lists = append(lists, twice, append(append([]int{}, all...), n-1), backwards, append(append([]int{}, all...), n),
			append(append([]int{}, all[:n-1]...), 1<<20), append(append([]int{}, all...), 1<<31-1), append(append([]int{}, all...), all...))
		for _, u := range lists {
			for _, i := range w.honest {
				if w.sign(i, a, u) != nil {
					t.Errorf("%d sites: site %d signs %v", n, i, u)
				}
				if w.shares(i, a, u, w.certificate(a, u)) != nil {
					t.Errorf("%d sites: site %d opens %v", n, i, u)
				}
			}
		}
		if w.view.refusals[covey.Code_CODE_TOO_FEW_SURVIVORS] != 2*len(lists)*len(w.honest) {
			t.Errorf("%d sites: %v, want every list refused for its survivors", n, w.view.refusals)
		}
		if r := w.hold(); len(r.openings) != 0 {
			t.Errorf("open: %v", r.openings)
		}
		t.Logf("figure: %d sites: %d unlawful lists refused by each of %d agents", n, len(lists), len(w.honest))
		w.stop()
	}
}

package hostile

import (
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
)

// round takes one query through upload, signatures and shares, over U, with all honest
// sites, and says how many sent shares.
func (w *world) round(a study.Ask, u []int) (helpers int) {
	w.t.Helper()
	for _, i := range w.honest {
		if slices.Contains(u, i) && w.upload(i, a) == nil || w.upload(i, a) == nil {
			w.t.Fatalf("site %d does not upload", i)
		}
	}
	for _, i := range w.honest {
		w.sign(i, a, u)
	}
	for _, i := range w.honest {
		if w.shares(i, a, u, w.certificate(a, u)) != nil {
			helpers++
		}
	}
	return helpers
}

// TestHonestRun is what a coordinator may see: with real agents, one sum a query, which is the
// plain one, and the checker finds it and no other.
func TestHonestRun(t *testing.T) {
	for _, u := range [][]int{{0, 1, 2, 3, 4}, {0, 1, 3, 4}, {0, 2, 3, 4}} {
		w := newWorld(t, options{sites: 5, corrupt: []int{4}})
		w.begin()
		a := w.asking(0, 0, 1)
		if n := w.round(a, u); n != 4 {
			t.Fatalf("%d sites helped, want 4", n)
		}
		r := w.hold()
		want := slices.DeleteFunc(slices.Clone(u), func(i int) bool { return i == 4 })
		if len(r.openings) != 1 || !slices.Equal(r.openings[0].sites, want) {
			t.Errorf("over %v: open are %v, want the sum over %v", u, r.openings, want)
		}
		w.opensTo(a, u)
		w.final(a, u)
		next := w.asking(1, 1, 2)
		w.round(next, u)
		if r = w.hold(); len(r.openings) != 2 {
			t.Errorf("after the second query: %v", r.openings)
		}
	}
}

// opensTo removes the masks with internal/secagg, as a coordinator does, and compares.
func (w *world) opensTo(a study.Ask, u []int) {
	w.t.Helper()
	q := w.secagg(a)
	sum, want := make([]uint64, q.Lanes), make([]uint64, q.Lanes)
	for _, i := range u {
		var masked []byte
		for _, up := range w.view.uploads {
			if up.site == i && sameAsk(up.ask, a) {
				masked = up.masked
			}
		}
		if p := w.party[i]; p != nil && masked == nil { // a corrupt site uploads for the sum's sake
			v := make([]uint64, q.Lanes)
			w.must(func() error { return w.Setup.Mask(i, p.secrets.Slots[a.Slot], p.held[a.Slot], q, v) })
			masked = secagg.Pack(v, q.Bits)
		} else {
			secagg.SumInto(want, w.vector(i, a), q.Bits)
		}
		w.must(func() error { return secagg.SumPacked(sum, masked, q.Bits) })
	}
	o, err := w.Setup.NewOpening(q, u, w.Kept())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, raw := range w.view.shares {
		for i := range w.n() {
			o.Add(i, raw) // one of another site, slot or set is refused
		}
	}
	w.must(func() error { return o.Unmask(sum) })
	if !slices.Equal(sum, want) {
		w.t.Errorf("opened %v, plain %v", sum, want)
	}
}

// TestCheckerSees leaves one rule out of sites that are otherwise honest, and lets the coordinator
// use that. The checker must find each break, and, with the rule in force, nothing.
func TestCheckerSees(t *testing.T) {
	u, other := []int{0, 1, 2, 4}, []int{0, 1, 3, 4}
	for _, c := range []struct {
		name   string
		rules  rules
		sees   []string
		attack func(*world)
	}{
		{"two sets signed and opened in a slot", rules{signTwice: true, openTwice: true}, []string{"signed 2 sets", "2 certificates", "both kinds"}, func(w *world) {
			a := w.asking(0, 0, 1)
			w.round(a, u)
			w.round(a, other)
		}},
		{"two certificates, nothing opened", rules{signTwice: true}, []string{"signed 2 sets", "2 certificates"}, func(w *world) {
			a := w.asking(0, 0, 1)
			for _, i := range w.honest {
				w.upload(i, a)
				w.sign(i, a, u)
				w.sign(i, a, other)
			}
		}},
		{"shares of two slots of a query", rules{openTwice: true, olderSlot: true}, []string{"query 0: 2 sums"}, func(w *world) {
			w.round(w.asking(0, 0, 1), u)
			w.round(w.asking(0, 1, 1), other)
		}},
		{"shares for an older slot after a later one was signed", rules{openTwice: true, olderSlot: true}, []string{"query 0: 2 sums"}, func(w *world) {
			a, b := w.asking(0, 0, 1), w.asking(0, 1, 1)
			for _, s := range []struct {
				a study.Ask
				u []int
			}{{a, u}, {b, other}} {
				for _, i := range w.honest {
					w.upload(i, s.a)
					w.sign(i, s.a, s.u)
				}
			}
			w.round(b, other)
			w.round(a, u)
		}},
		{"both kinds of every dealer", rules{bothKinds: true}, []string{"both kinds", "honest sites [0] alone"}, func(w *world) {
			w.round(w.asking(0, 0, 1), u)
		}},
		{"a set below U_min", rules{fewSurvivors: true, uncertified: true}, []string{"honest sites [0 1] alone"}, func(w *world) {
			w.round(w.asking(0, 0, 1), []int{0, 1, 4})
		}},
		{"one site alone", rules{fewSurvivors: true, uncertified: true}, []string{"honest sites [2] alone"}, func(w *world) {
			w.round(w.asking(0, 0, 1), []int{2})
		}},
		{"shares without a certificate, two sets", rules{uncertified: true, openTwice: true}, []string{"both kinds"}, func(w *world) {
			a := w.asking(0, 0, 1)
			for _, i := range w.honest {
				w.upload(i, a)
				w.shares(i, a, u, nil)
				w.shares(i, a, other, nil)
			}
		}},
		{"another vector under the same masks", rules{reuse: true}, []string{"not its sum under the masks", "a combination that is no sum"}, func(w *world) {
			for _, i := range w.honest {
				w.upload(i, w.asking(0, 0, 1))
				w.upload(i, w.asking(0, 0, 2))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, broken := range []bool{true, false} {
				book := map[int]rules{}
				for i := range 4 {
					if book[i] = (rules{}); broken {
						book[i] = c.rules
					}
				}
				w := newWorld(t, options{sites: 5, corrupt: []int{4}, book: book})
				w.begin()
				c.attack(w)
				r := w.check()
				all := strings.Join(r.broken, "\n")
				if !broken {
					if all != "" {
						t.Errorf("with the rule in force: %s", all)
					}
					continue
				}
				for _, want := range c.sees {
					if !strings.Contains(all, want) {
						t.Errorf("the checker does not see %q:\n%s", want, all)
					}
				}
			}
		})
	}
}

// TestCheckerSeesWaiting shows the checker sums over less than all sites as of a study that waits:
// the agents of one open none.
func TestCheckerSeesWaiting(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{4}, book: map[int]rules{0: {}, 1: {}, 2: {}, 3: {}}})
	w.begin()
	w.round(w.asking(0, 0, 1), []int{0, 1, 2, 4})
	if r := w.check(); len(r.broken) != 0 {
		t.Fatal(r.broken)
	}
	w.round(w.asking(1, 1, 1), []int{0, 1, 3, 4})
	w.plan.Proposal.Spec.OnDropout = proposal.DropoutWait
	if r := w.check(); len(r.broken) != 1 || !strings.Contains(r.broken[0], "a study that waits") {
		t.Errorf("the checker sees %q", r.broken)
	}
}

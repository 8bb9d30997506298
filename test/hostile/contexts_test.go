package hostile

import (
	"maps"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestOtherQuestions tells some sites another radius, another centre or another x, by the last
// digits that processors may differ in, which is all that sites let through: masks of other
// questions do not cancel, and nothing is open. Rules S2, S3, A4.
func TestOtherQuestions(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, spare: 40, change: func(s *proposal.Spec) {
		s.Radius, s.Center = proposal.RadiusPrivate, proposal.CenterPrivate
	}})
	w.begin()
	asked := func(query, slot int, change func(*study.Course)) study.Ask {
		course := w.courses[query]
		course.Radii, course.Center = maps.Clone(course.Radii), slices.Clone(course.Center)
		change(&course)
		a, err := w.plan.NewAsk(course, slot)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	changes := map[string]func(*study.Course){
		"another radius": func(c *study.Course) {
			for k := range c.Radii {
				c.Radii[k] *= 1 + 1e-10
			}
		},
		"another centre": func(c *study.Course) {
			for j := range c.Center {
				c.Center[j] *= 1 + 1e-10
			}
		},
		"another x": func(c *study.Course) { c.X = turned(c.X, 1e-10) },
	}
	slot, told := 0, map[string]int{}
	for k, q := range w.plan.Queries {
		same := func(*study.Course) {}
		f := field{w, k, slot}
		w.name[k] = string(q.Kind)
		for name, change := range changes {
			a, b := asked(k, slot, same), asked(k, slot, change)
			if slices.Equal(a.X, b.X) && slices.Equal(a.Center, b.Center) && a.Radius == b.Radius {
				continue // not of this kind's question
			}
			if n := f.uploads(a, 1, 2); n != 2 {
				t.Fatalf("query %d (%s): %d of 2 sites answer: %v", k, q.Kind, n, w.view.refusals)
			}
			if f.uploads(b, 3, 4) == 2 {
				told[name]++
			} else if refused := w.view.refusals[covey.Code_CODE_PLAN_MISMATCH]; refused == 0 {
				t.Errorf("query %d (%s), %s: neither answered nor refused: %v", k, q.Kind, name, w.view.refusals)
			}
			f.signs(a, all5, honest...)
			f.signs(b, all5, honest...)
			if n := f.opens(a, all5, honest...) + f.opens(b, all5, honest...); n != 0 {
				t.Errorf("query %d (%s), %s: %d sites send shares", k, q.Kind, name, n)
			}
			if f.uploads(b, 1, 2) != 0 {
				t.Errorf("query %d (%s), %s: a second question in the slot is answered", k, q.Kind, name)
			}
			slot++
		}
		a := asked(k, slot, same)
		slot++
		w.round(a, all5)
		m := w.result(a, all5, 1<<20) // the mean is not 0
		w.follow(m)
		for _, i := range w.real() {
			w.ask(i, m)
		}
	}
	for name := range changes {
		if told[name] == 0 {
			t.Errorf("%s was never told to any site: nothing is tested", name)
		}
	}
	if r := w.hold(); len(r.openings) != len(w.plan.Queries) {
		t.Errorf("%d sums are open, want one for each of %d queries", len(r.openings), len(w.plan.Queries))
	}
	t.Logf("figure: %v told to two of four sites in %d queries; nothing open but each query's own sum", told, len(w.plan.Queries))
}

// TestWaiting offers a study that waits another survivor set in the same slot, a new slot and the
// next query, and tells halves of the sites two first sets, of which one has not all sites. Rules
// S6, L7, L10, R4, A5, AG-11.
func TestWaiting(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, rounds: 4, spare: 8, change: waits})
	w.begin()
	f := field{w, 0, 0}
	a := f.at(0, 1)
	f.round(a, all5)
	f.final(a, all5)
	f = field{w, 1, 1}
	f.wants("upload", f.uploads(f.at(0, 1), honest...), 4)
	f.wants("upload in another slot", f.uploads(f.at(1, 1), honest...), 0)
	for slot := range 2 { // the same x, without one site
		for _, u := range [][]int{but4, but3, only} {
			f.wants("sign", f.signs(f.at(slot, 1), u, honest...), 0)
			f.wants("open", f.opens(f.at(slot, 1), u, honest...), 0)
		}
	}
	f.wants("sign the first set", f.signs(f.at(0, 1), all5, honest...), 4)
	f.wants("open the first set", f.opens(f.at(0, 1), all5, honest...), 4)
	if r := w.hold(); len(r.openings) != 2 {
		t.Errorf("open are %v", r.openings)
	}
	w.stop()

	w = newWorld(t, options{sites: 5, corrupt: []int{0}, rounds: 4, spare: 8, change: waits})
	w.begin()
	f = field{w, 0, 0}
	a = f.at(0, 1)
	f.uploads(a, honest...)
	f.signs(a, all5, 1, 2)
	f.wants("sign less than all", f.signs(a, but4, 3, 4), 0)
	w.agent(1).restart()
	w.agent(3).restart()
	for k := range 3 { // over slots and queries, all sites or none
		f = field{w, k, 3 * k}
		b := f.at(min(k, 1), 1) // the first query is bound to its first slot
		f.uploads(b, honest...)
		f.wants("sign less than all", f.signs(b, but4, honest...), 0)
		f.wants("sign all", f.signs(b, all5, honest...), 4)
		f.wants("open less than all", f.opens(b, but4, honest...), 0)
		f.wants("open all", f.opens(b, all5, honest...), 4)
		f.final(b, all5)
	}
	if r := w.hold(); len(r.openings) != 3 {
		t.Errorf("open are %v", r.openings)
	}
}

// TestEndedStudy ends a study by a word that nobody signed, and offers the same proposal again: a
// false "completed" changes nothing, and an end is an end: no site begins the study anew, with
// slots that it has used. Rules L1, AG-2, AG-14, AG-15.
func TestEndedStudy(t *testing.T) {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}})
	w.begin()
	f, id := field{w, 0, 0}, w.plan.Digest
	a, b, u, other := f.at(0, 1), f.at(1, 1), []int{0, 1, 3}, []int{0, 1, 2}
	f.uploads(a, w.honest...)
	f.signs(a, u, w.honest...)
	for _, i := range w.honest {
		w.ask(i, ended(id, covey.Code_CODE_COMPLETED))
	}
	f.wants("open after a false word", f.opens(a, u, 0), 1)
	before := len(w.view.uploads) + len(w.view.shares)
	for _, i := range w.honest {
		w.ask(i, ended(id, covey.Code_CODE_ABORTED))
	}
	for _, crash := range []bool{false, true} {
		for _, i := range w.honest {
			if crash {
				w.agent(i).restart()
			}
			if d := answerTo(w.ask(i, proposed(w.body)), (*covey.SiteMessage).GetDecision); d.GetVerdict() != covey.Verdict_VERDICT_REJECTED {
				t.Errorf("site %d decides %v about a study that ended", i, d.GetVerdict())
			}
			for _, m := range []*covey.CoordinatorMessage{announce(id), w.dealing(i), confirmed(id, w.confirmed)} {
				for _, said := range w.ask(i, m) {
					if said.GetRefusal() == nil {
						t.Errorf("site %d answers %T after the end", i, m.GetBody())
					}
				}
			}
		}
		f.wants("upload", f.uploads(a, w.honest...)+f.uploads(b, w.honest...), 0)
		f.wants("sign", f.signs(a, other, w.honest...)+f.signs(b, other, w.honest...), 0)
		f.wants("open", f.opens(a, u, w.honest...)+f.opens(a, other, w.honest...), 0)
	}
	if got := len(w.view.uploads) + len(w.view.shares); got != before {
		t.Errorf("%d more uploads and shares after the end", got-before)
	}
	if r := w.hold(); len(r.openings) != 0 {
		t.Errorf("open are %v", r.openings)
	}
}

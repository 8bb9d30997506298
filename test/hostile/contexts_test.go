package hostile

import (
	"testing"

	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestOtherQuestions tells some sites another radius, another centre or another x, of those that a plan with private ones
// lets through: masks of other questions do not cancel, and nothing is open. Rules S2, S3, A4.
func TestOtherQuestions(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, spare: 40, change: func(s *study.Spec) {
		s.Radius, s.Center = study.RadiusPrivate, study.CenterPrivate
	}})
	w.begin()
	asked := func(query, slot int, change func(*study.Course)) study.Ask {
		course := study.Course{Query: query, X: direction(1), Center: []float64{0, 0}, Method: study.MethodPower,
			Radii: map[study.Kind]float64{study.KindPower: 4, study.KindMean: 4}}
		if w.plan.Queries[query].Kind == study.KindMean || w.plan.Queries[query].Of == study.KindMean {
			course.Center = nil
			if w.plan.Queries[query].Round > 0 {
				course.Center = []float64{0, 0}
			}
		}
		change(&course)
		a, err := w.plan.NewAsk(course, slot, 0)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	changes := map[string]func(*study.Course){
		"another radius": func(c *study.Course) { c.Radii[study.KindPower], c.Radii[study.KindMean] = 8, 8 },
		"another centre": func(c *study.Course) { c.Center = []float64{1, -1} },
		"another x":      func(c *study.Course) { c.X = direction(2) },
	}
	slot, told := 0, map[string]int{}
	for k, q := range w.plan.Queries {
		same := func(*study.Course) {}
		f := field{w, k, slot}
		w.name[k] = string(q.Kind)
		for name, change := range changes {
			a, b := asked(k, slot, same), asked(k, slot, change)
			if w.secagg(a).Context == w.secagg(b).Context {
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
		w.final(a, all5)
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

package hostile

import (
	"crypto/ed25519"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// refusal asks a site a query and returns its refusal, nil if it uploads.
func (w *world) refusal(i int, a study.Ask) *covey.Refusal {
	w.t.Helper()
	w.sending[i] = a
	said := w.ask(i, query(w.plan.Digest, a))
	if answerTo(said, (*covey.SiteMessage).GetUpload) != nil {
		return nil
	}
	return answerTo(said, (*covey.SiteMessage).GetRefusal)
}

// refused wants sites to refuse a query with one code.
func (w *world) refused(what string, a study.Ask, code covey.Code, sites ...int) {
	w.t.Helper()
	for _, i := range sites {
		if no := w.refusal(i, a); no == nil || no.GetCode() != code {
			w.t.Errorf("%s: site %d answers %v, want %v", what, i, no, code)
		}
	}
}

// signedBy is a release as a key signs it, told as the result of a query and slot.
func (w *world) signedBy(key ed25519.PrivateKey, r study.Release, query, slot int) *covey.CoordinatorMessage {
	w.t.Helper()
	encoded, err := r.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	return final(w.plan.Digest, query, slot, encoded, ed25519.Sign(key, study.SigningInput(encoded)))
}

// TestTwoHistories tells halves of the sites two results of one query and asks both halves on: each
// goes on by its own alone, also after a restart, and what they upload by two histories is never
// open together. Rule AG-40.
func TestTwoHistories(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, rounds: 3})
	w.begin()
	f := field{w, 0, 0}
	w.name[0] = "two histories"
	a := f.at(0, 1)
	w.round(a, all5)
	mine, theirs := w.result(a, all5, 0), w.result(a, all5, 1<<24)
	w.follow(mine)
	one := w.asking(1, 1, 0)
	w.courses[0], w.told = w.plan.Start(), nil
	w.follow(theirs)
	two := w.asking(1, 1, 0)
	if one.History == two.History {
		t.Fatal("two results have one link")
	}
	halves := []struct {
		sites       []int
		told, other *covey.CoordinatorMessage
		own, fork   study.Ask
	}{{[]int{1, 2}, mine, theirs, one, two}, {[]int{3, 4}, theirs, mine, two, one}}
	for _, h := range halves {
		for _, i := range h.sites {
			w.ask(i, h.told)
		}
	}
	for _, crash := range []bool{false, true} {
		for _, h := range halves {
			for _, i := range h.sites {
				if crash {
					w.agent(i).restart()
				}
				w.ask(i, h.other) // a replay of the other half's
			}
			w.refused("the other half's history", h.fork, covey.Code_CODE_FORKED, h.sites...)
			same := h.own
			same.History = h.fork.History
			w.refused("the same question by the other half's history", same, covey.Code_CODE_FORKED, h.sites...)
		}
	}
	w.name[1] = "two histories, each asked by its own"
	f = field{w, 1, 1}
	f.wants("upload by the first", f.uploads(one, 1, 2), 2)
	f.wants("upload by the second", f.uploads(two, 3, 4), 2)
	for _, u := range [][]int{all5, but4} {
		f.signs(one, u, honest...)
		f.signs(two, u, honest...)
		f.wants("open", f.opens(one, u, honest...)+f.opens(two, u, honest...), 0)
	}
	if r := w.hold(); len(r.openings) != 1 {
		t.Errorf("open are %v, want the first query's sum alone", r.openings)
	}
}

// TestSteering asks for other vectors, another radius and another branch than follow from the
// results, all of which the plan allows. Rules AG-40, S3.
func TestSteering(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, spare: 40, change: func(s *proposal.Spec) {
		s.Method, s.Radius, s.Rounds = proposal.MethodAuto, proposal.RadiusPrivate, 1
	}})
	w.begin()
	slot, radii := 0, 0
	taken := map[string]bool{}
	for k := 0; k < len(w.plan.Queries); {
		w.name[k] = string(w.plan.Queries[k].Kind)
		course := w.courses[k]
		taken[w.plan.Queries[k].Branch] = true
		steer := func(change func(*study.Course)) study.Ask {
			c := course
			c.Radii = map[study.Kind]float64{}
			for kind, r := range course.Radii {
				c.Radii[kind] = r
			}
			change(&c)
			a, err := w.plan.NewAsk(c, slot)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		good := steer(func(*study.Course) {})
		if len(good.X) > 0 {
			w.refused("another x", steer(func(c *study.Course) { c.X = turned(c.X, 1e-7) }), covey.Code_CODE_PLAN_MISMATCH, honest...)
		}
		if good.Radius > 0 {
			radii++
			w.refused("half the radius", steer(func(c *study.Course) { c.Radii[good.Kind] /= 2 }), covey.Code_CODE_PLAN_MISMATCH, honest...)
		}
		for other, q := range w.plan.Queries {
			if q.Branch != "" && !taken[q.Branch] {
				w.refused("the branch that auto's rule does not take", steer(func(c *study.Course) {
					c.Query, c.Method, c.Radii[q.Kind] = other, q.Branch, 4
				}), covey.Code_CODE_OUT_OF_ORDER, honest...)
			}
		}
		w.round(good, all5)
		m := w.result(good, all5, 1<<20)
		w.follow(m)
		for _, i := range honest {
			w.ask(i, m)
		}
		for next := range w.courses {
			k = max(k, next)
		}
		slot++
	}
	if radii == 0 || len(taken) != 2 {
		t.Errorf("%d radii, branches %v: nothing is tested", radii, taken)
	}
	if r := w.hold(); len(r.openings) != slot {
		t.Errorf("open are %v, want one sum for each of %d queries", r.openings, slot)
	}
}

// TestForgedResults tells results with a wrong signature, query, slot or history: none is taken,
// and the query after it is asked of nobody before the right one is told. Rules AG-13, AG-41.
func TestForgedResults(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, rounds: 3})
	w.begin()
	a := w.asking(0, 0, 0)
	w.name[0] = "forged results"
	w.round(a, all5)
	good, err := w.plan.NewRelease(a, all5, []int64{1 << 20, 5})
	if err != nil {
		t.Fatal(err)
	}
	stranger := newParty(t, "stranger").identity
	changed := func(change func(*study.Release)) study.Release {
		r := good
		r.X = slices.Clone(r.X)
		change(&r)
		return r
	}
	right := w.signedBy(w.key, good, 0, 0)
	w.follow(right)
	next := w.asking(1, 1, 0)
	for name, m := range map[string]*covey.CoordinatorMessage{
		"another key":        w.signedBy(stranger, good, 0, 0),
		"another query":      w.signedBy(w.key, changed(func(r *study.Release) { r.Query, r.Round, r.Rho = 1, 1, w.plan.Queries[1].Rho }), 0, 0),
		"told as another":    w.signedBy(w.key, good, 1, 0),
		"told of a slot":     w.signedBy(w.key, good, 0, 1),
		"another history":    w.signedBy(w.key, changed(func(r *study.Release) { r.Previous[0]++ }), 0, 0),
		"another question":   w.signedBy(w.key, changed(func(r *study.Release) { r.X = turned(r.X, 1e-7) }), 0, 0),
		"another study's":    w.signedBy(w.key, changed(func(r *study.Release) { r.Study[0]++ }), 0, 0),
		"no signature":       final(w.plan.Digest, 0, 0, right.GetFinal().GetReleased(), nil),
		"a bit of the value": final(w.plan.Digest, 0, 0, flipped(right.GetFinal().GetReleased()), right.GetFinal().GetSignature()),
	} {
		for _, i := range honest {
			w.ask(i, m)
			no := w.refusal(i, next)
			if no.GetCode() != covey.Code_CODE_OUT_OF_ORDER || no.GetLacks() != 1 {
				t.Fatalf("%s: site %d answers %v, want that it lacks the first result", name, i, no)
			}
		}
	}
	for _, i := range honest {
		w.ask(i, right)
	}
	w.name[1] = "after the right result"
	w.round(next, all5)
	if r := w.hold(); len(r.openings) != 2 {
		t.Errorf("open are %v", r.openings)
	}
}

func flipped(b []byte) []byte {
	b = slices.Clone(b)
	at := slices.Index(b, '5') // a digit of some number
	b[at] = '6'
	return b
}

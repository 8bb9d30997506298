package hostile

import (
	"math"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestTwoMethods tells halves of the sites two second parts of a covariance. By one power rounds
// follow, by the other a last part: each half answers only what follows from its own, and what the
// halves upload is never open together. Rules AG-40, S3.
func TestTwoMethods(t *testing.T) {
	const d = 96
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, rounds: proposal.PoolRounds, columns: d, units: 400, change: func(s *proposal.Spec) {
		s.Method, s.Radius, s.Epsilon = proposal.MethodAuto, proposal.RadiusPrivate, 10
	}})
	if !w.plan.Method.Mixed {
		t.Fatalf("ι = %v of %d units", w.plan.Iota, w.plan.N)
	}
	for _, i := range w.real() {
		w.agent(i).config.Policy.MaxEpsilon = 10 // so that few rows are enough
	}
	w.begin()
	// released is what rows of these variances make of a query, without noise.
	released := func(a study.Ask, variance func(j int) float64) *covey.CoordinatorMessage {
		noised := make([]int64, w.plan.Queries[a.Query].Values)
		trace := 0.0
		for j := range d {
			trace += variance(j)
		}
		switch a.Kind {
		case study.KindHistogram:
			for j := range 8 {
				noised[259+j] = int64(float64(w.plan.N) / 8 / a.Grid)
			}
		case study.KindMoment:
			for j, at := 0, 0; j < d; j++ {
				noised[at] = int64(float64(w.plan.N) / a.Grid * variance(j) / trace * study.BinEdge(259))
				at += d - j
			}
		}
		return w.resultOf(a, all5, noised)
	}
	slow := func(j int) float64 { return 1 / (1 + 0.01*float64(j)) }
	turned := func(j int) float64 { return math.Exp(float64(j - d)) } // rounds would hide it
	slot := 0
	for ; slot < 2; slot++ { // lengths, and the first part
		w.name[slot] = string(w.plan.Queries[slot].Kind)
		a := w.asking(slot, slot, 0)
		w.round(a, all5)
		m := released(a, slow)
		w.follow(m)
		for _, i := range honest {
			w.ask(i, m)
		}
	}
	w.name[slot] = "the second part"
	second := w.asking(slot, slot, 0)
	w.round(second, all5)
	before, told := w.courses[slot], slices.Clone(w.told)
	type half struct {
		sites  []int
		told   *covey.CoordinatorMessage
		course study.Course
		own    study.Ask
	}
	var halves []*half
	for i, variance := range []func(int) float64{slow, turned} {
		h := &half{sites: honest[2*i : 2*i+2], told: released(second, variance)}
		w.courses, w.told = map[int]study.Course{slot: before}, slices.Clone(told)
		w.follow(h.told)
		for _, c := range w.courses {
			if c.Query > slot {
				h.course = c
			}
		}
		var err error
		if h.own, err = w.plan.NewAsk(h.course, slot+1); err != nil {
			t.Fatal(err)
		}
		halves = append(halves, h)
	}
	power, covariance := halves[0], halves[1]
	if power.course.Method != proposal.MethodPower || covariance.course.Method != proposal.MethodCovariance {
		t.Fatalf("%s and %s follow", power.course.Method, covariance.course.Method)
	}
	for _, h := range halves {
		for _, i := range h.sites {
			w.ask(i, h.told)
		}
	}
	for _, crash := range []bool{false, true} {
		for at, h := range halves {
			other := halves[1-at]
			for _, i := range h.sites {
				if crash {
					w.agent(i).restart()
				}
				w.ask(i, other.told) // a replay of the other half's
			}
			w.refused("the other method by the other half's result", other.own, covey.Code_CODE_OUT_OF_ORDER, h.sites...)
			forked := h.own
			forked.History = other.own.History
			w.refused("its own method by the other half's history", forked, covey.Code_CODE_FORKED, h.sites...)
			steered := h.course
			steered.Query, steered.Method, steered.Radii = other.course.Query, other.course.Method, other.course.Radii
			a, err := w.plan.NewAsk(steered, slot+1)
			if err != nil {
				t.Fatal(err)
			}
			w.refused("the other method by its own result", a, covey.Code_CODE_OUT_OF_ORDER, h.sites...)
		}
	}
	f := field{w, slot + 1, slot + 1}
	w.name[slot+1] = "each method asked of its own half"
	for _, h := range halves {
		f.wants("upload by "+h.course.Method, f.uploads(h.own, h.sites...), 2)
	}
	for _, u := range [][]int{all5, but4} {
		for _, h := range halves {
			f.signs(h.own, u, honest...)
		}
		f.wants("open", f.opens(power.own, u, honest...)+f.opens(covariance.own, u, honest...), 0)
	}
}

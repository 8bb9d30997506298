package hostile

import (
	"crypto/ed25519"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestSteeringScales asks a study that learns its scales about rows at other places or by other
// scales than follow from the results, or about fewer columns, all of which the plan allows: no
// site answers. Results are the honest sites' own sums. Rules AG-40, S3.
func TestSteeringScales(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, spare: 40, change: func(s *proposal.Spec) {
		s.Center, s.Standardize, s.Noise, s.Radius, s.Epsilon = "", proposal.StandardizePrivate, proposal.NoiseDistributed, proposal.RadiusPrivate, 90
		s.Columns[0].Scale, s.Columns[1].Scale = 0, 0
	}})
	for _, i := range honest {
		w.agent(i).config.Policy.MaxEpsilon = 100
	}
	w.begin()
	scaled := map[study.Kind]bool{}
	for k := range w.plan.Queries {
		a := w.asking(k, k, 0)
		other := func(what string, change func(center, scale []float64)) {
			bad := a
			bad.Center, bad.Scale = slices.Clone(a.Center), slices.Clone(a.Scale)
			change(bad.Center, bad.Scale)
			if err := w.plan.Check(bad); err != nil {
				t.Fatalf("%s: the plan does not allow it: %v", what, err)
			}
			w.refused(what, bad, covey.Code_CODE_PLAN_MISMATCH, honest...)
		}
		if len(a.Scale) > 0 {
			scaled[a.Kind] = true
			other("another scale", func(_, s []float64) { s[1] *= 1.001 })
			other("a column less", func(_, s []float64) { s[0] = 0 })
			other("another place", func(c, s []float64) { c[1] += s[1] / 1000 })
			none := a
			none.Scale = nil
			w.refused("no scales", none, covey.Code_CODE_PLAN_MISMATCH, honest...)
		}
		sum := make([]int64, w.plan.Queries[k].Values)
		for _, i := range honest {
			if no := w.refusal(i, a); no != nil {
				t.Fatalf("site %d answers query %d with %v", i, k, no)
			}
			part, err := w.rows[i].Answer(w.plan, i, a)
			if err != nil {
				t.Fatal(err)
			}
			for j, v := range part {
				sum[j] += v
			}
		}
		r, err := w.plan.NewRelease(a, all5, sum)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		m := final(w.plan.Digest, a.Query, a.Slot, encoded, ed25519.Sign(w.key, study.SigningInput(encoded)))
		if w.follow(m); w.courses[k+1].End != "" {
			t.Fatalf("the study ends after query %d: %s", k, w.courses[k+1].End)
		}
		for _, i := range honest {
			w.ask(i, m)
		}
	}
	for _, kind := range []study.Kind{study.KindTree, study.KindMoments, study.KindHistogram, study.KindPower} {
		if !scaled[kind] {
			t.Errorf("no %s was asked about scaled rows", kind)
		}
	}
}

package hostile

import (
	"crypto/ed25519"
	"math"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// opened removes the masks of an ask's uploads over u, as a coordinator does: the sum, signed.
// Corrupt sites upload zeros.
func (w *world) opened(a study.Ask, u []int) []int64 {
	w.t.Helper()
	q := w.secagg(a)
	sum := make([]uint64, q.Lanes)
	for _, i := range u {
		if p := w.party[i]; p != nil {
			v := make([]uint64, q.Lanes)
			w.must(func() error { return w.Setup.Mask(i, p.secrets.Slots[a.Slot], p.held[a.Slot], q, v) })
			w.must(func() error { return secagg.SumPacked(sum, secagg.Pack(v, q.Bits), q.Bits) })
		}
	}
	for _, up := range w.view.uploads {
		if sameAsk(up.ask, a) && slices.Contains(u, up.site) {
			w.must(func() error { return secagg.SumPacked(sum, up.masked, q.Bits) })
		}
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
	removable, err := w.plan.Noise.Removable(a.Sigma, len(u))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, i := range u { // all that the survivors let the coordinator take away
		if key, ok := o.Chain(i); ok && w.party[i] == nil {
			w.must(func() error {
				return removable.Subtract(sum, secagg.NoiseComponentKeys(key, len(u), removable.Levels()))
			})
		}
	}
	out := make([]int64, len(sum))
	for i, v := range sum {
		out[i] = int64(v<<(64-q.Bits)) >> (64 - q.Bits)
	}
	return out
}

// TestPictureBySiteIsNoSitesOwn follows a study that pictures each site by itself. No site answers
// about another grid than follows from the results. And of the block that one site alone fills, the
// leader, who opens the sum and knows the corrupt site's part, reads that site's counts with noise
// of the planned variance: of 256 counts the squares of the noise add up to no less than 0.6 times
// what the plan has and to no more than 1.5 times, which fails one time in 10^6. Rule AG-40.
func TestPictureBySiteIsNoSitesOwn(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, spare: 40, change: func(s *proposal.Spec) {
		s.Components, s.Noise, s.OnDropout, s.SpareSlots, s.Radius, s.Epsilon = 2, proposal.NoiseDistributed, proposal.DropoutContinue, 40, proposal.RadiusPrivate, 90
		s.ExplainedVariance, s.Picture, s.PictureBy = proposal.VariancePrivate, true, proposal.PictureBySite
	}})
	for _, i := range honest {
		w.agent(i).config.Policy.MaxEpsilon, w.agent(i).config.Policy.PictureBySite = 100, true
	}
	w.begin()
	pictures := 0
	for k := range w.plan.Queries {
		a := w.asking(k, k, 0)
		for what, change := range map[string]func([]float64){
			"another grid":     func(d []float64) { d[1] *= 1 + 1e-8 },
			"a tiny grid":      func(d []float64) { d[0] /= 1024 },
			"a grid of others": func(d []float64) { d[0], d[1] = 2*d[1], d[0] },
		} {
			if len(a.Deviations) == 0 {
				continue
			}
			bad := a
			bad.Deviations = slices.Clone(a.Deviations)
			change(bad.Deviations)
			if err := w.plan.Check(bad); err != nil {
				t.Fatalf("%s: the plan does not allow it: %v", what, err)
			}
			w.refused(what, bad, covey.Code_CODE_PLAN_MISMATCH, honest...)
		}
		sum := make([]int64, w.plan.Queries[k].Values)
		own := map[int][]int64{}
		for _, i := range honest {
			part, err := w.rows[i].Answer(w.plan, i, a)
			if err != nil {
				t.Fatal(err)
			}
			own[i] = part
			for j, v := range part {
				sum[j] += v
			}
		}
		if a.Kind == study.KindPicture {
			pictures++
			w.round(a, all5)
			noised := w.opened(a, all5)
			share, err := w.plan.Noise.Share(a.Sigma)
			if err != nil {
				t.Fatal(err)
			}
			if least := a.Sigma.Float(); math.Sqrt(share.Kept(5).Variance()*float64(5-max(1, w.plan.Thresholds.Corrupt))) < least {
				t.Fatalf("%v of each site is less than %v", share, least)
			}
			for site := range 5 {
				square, counted := 0.0, int64(0)
				for j := site * 256; j < (site+1)*256; j++ {
					if sum[j] != own[max(site, 1)][j] && site > 0 {
						t.Fatalf("another site fills the block of site %d", site)
					}
					counted += sum[j]
					square += float64(noised[j]-sum[j]) * float64(noised[j]-sum[j])
				}
				if want := int64(units) << 16; site > 0 && counted != want {
					t.Errorf("site %d counts %d, want %d", site, counted, want)
				}
				// four honest sites' shares, of which as much was taken away as may be
				variance := 256 * 4 * share.Kept(5).Variance()
				if !(square > 0.6*variance && square < 1.5*variance) {
					t.Errorf("the block of site %d is open with %v of the noise of four sites", site, square/variance)
				}
				if site > 0 && slices.Equal(noised[site*256:(site+1)*256], own[site][site*256:(site+1)*256]) {
					t.Errorf("the counts of site %d are open", site)
				}
			}
		} else {
			for _, i := range honest {
				if no := w.refusal(i, a); no != nil {
					t.Fatalf("site %d answers query %d, %s, with %v\n%s", i, k, a.Kind, no, w.agent(i).log.String())
				}
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
		w.follow(m)
		for _, i := range honest {
			w.ask(i, m)
		}
	}
	if pictures != 1 {
		t.Errorf("%d pictures were asked for", pictures)
	}
}

// Package runs takes studies to their ends on made-up answers, for tests.
package runs

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/study"
	"covey/test/texts"
)

// Answer makes an answer up: sums of n units whose first coordinate is strongest and
// whose mean is (3, 0, 0, 0), with noise of the law's size.
func Answer(p *study.Plan, a study.Ask, rng *rand.Rand, wide bool) []int64 {
	q := p.Queries[a.Query]
	n := float64(p.N)
	v := make([]float64, q.Values)
	put := func(j int, x float64) { v[j] = n * x / a.Grid }
	switch q.Kind {
	case study.KindPower:
		for i := range len(a.X) / p.D {
			for j := range p.D {
				put(i*p.D+j, a.X[i*p.D+j]/float64(j+1))
			}
		}
	case study.KindMean:
		mean := 3.0
		if len(a.Center) > 0 {
			mean -= a.Center[0]
		}
		if p.Proposal.Spec.Unit != "" {
			mean *= 2 // rows a unit
		}
		put(0, mean)
	case study.KindMoment:
		at := 0
		for j := range p.D {
			put(at, 1/float64(j+1))
			at += p.D - j
		}
	case study.KindVariance:
		for i, x := range linalg.Split(a.X, p.D) {
			sum := 0.0
			for j := range x {
				sum += x[j] * x[j] / float64(j+1)
			}
			put(i, sum)
		}
	case study.KindTotal:
		put(0, 1+1./2+1./3+1./4)
	case study.KindRows:
		put(0, 2)
	case study.KindLevels:
		answerLevels(put)
	case study.KindScores:
		for l := range p.K {
			put(l*study.ScoreBins+16+l, 1)
		}
	case study.KindPicture:
		x, y := p.Pictures.Pair(q)
		put((8+x)*study.PictureBins+8+y, 1)
	case study.KindLambda:
		put(256, 0.9*float64(p.Groups)/n)
	case study.KindSelect:
		put(4, 0.9*float64(p.Groups)/n)
	case study.KindOctaves, study.KindTree, study.KindMoments:
		for j, x := range Law(p, a, []float64{3, 0, 0, 0}, []float64{1, 1, 1, 1}) {
			put(j, x)
		}
	case study.KindHistogram:
		j := 256
		if p.Method.OnSphere(q) {
			j = 230
		}
		if q.Of == study.KindPower == wide && (wide || q.Of == study.KindTotal) {
			j = 290
		}
		put(j, 1)
	}
	out := make([]int64, len(v))
	sigma := a.Sigma.Float()
	if p.Honest > 0 {
		sigma *= math.Sqrt(float64(p.Thresholds.Sites) / float64(p.Honest))
	}
	for i := range v {
		if Decides(p) { // noise would leave nothing, and no count would stand out from it
			out[i] = int64(math.Round(v[i]))
			if q.Kind == study.KindHistogram {
				out[i] *= 1 << 20
			}
			continue
		}
		out[i] = int64(math.Round(v[i] + sigma*rng.NormFloat64()))
	}
	if p.Noise.Chooses(p.Queries[a.Query]) {
		out = []int64{4}
	}
	return out
}

// answerLevels makes counts up: y is rare, and of d no two levels are left.
func answerLevels(put func(j int, x float64)) {
	put(0, 0.5)
	put(1, 0.0001)
	put(2, 0.3)
	put(3, 0.2)
	put(query.LevelBins, 1)
}

// Law is what a study of laws N(mean, deviation²) of each column would release to any of the
// first queries, without noise. Those of deviation 0 are constant.
func Law(p *study.Plan, a study.Ask, means, deviations []float64) []float64 {
	rng := rand.New(rand.NewPCG(1, uint64(a.Query)))
	const draws = 4000
	out := make([]float64, p.Queries[a.Query].Values)
	of, limits := p.Layout.Single(a.Kind), p.Limits(p.Queries[a.Query])
	for range draws {
		for at, j := range of {
			if c := p.Layout.Coordinates[j]; c.Level >= 0 || c.Gap {
				if a.Kind == study.KindMoments { // a coordinate that is left out
					out[len(of)+at] += 1.0 / draws
				}
				continue
			}
			y := means[j] + deviations[j]*rng.NormFloat64()
			z := y
			if a.Scale != nil {
				if a.Scale[j] == 0 {
					continue
				}
				z = (y - a.Center[j]) / a.Scale[j]
			}
			limit := limits[j]
			z = max(-limit, min(z, limit))
			switch a.Kind {
			case study.KindOctaves:
				for _, b := range query.AppendOctaves(nil, y) {
					out[at*query.OctaveBins+b] += 1.0 / draws
				}
			case study.KindTree:
				for _, b := range query.AppendTree(nil, z) {
					out[at*query.TreeBins+b] += 1.0 / draws
				}
			case study.KindMoments:
				out[at] += 2 * z / draws
				out[len(of)+at] += z * z / draws
			}
		}
	}
	return out
}

// Take takes a study from a course, and the releases before it, up to query end, of all sites. It
// checks each ask as sites do.
func Take(t testing.TB, p *study.Plan, c study.Course, releases []study.Release, end int, answer func(study.Ask) []int64) (study.Course, []study.Release) {
	t.Helper()
	var all []int
	for i := range p.Proposal.Roster {
		all = append(all, i)
	}
	for c.Query < end {
		a, err := p.NewAsk(c, c.Query)
		if err == nil {
			err = p.Check(a)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.NewRelease(a, all, answer(a))
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, releases); err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
	}
	return c, releases
}

// Learned is the course after the queries that learn constants.
func Learned(t *testing.T, p *study.Plan, means, deviations []float64) (study.Course, []study.Release) {
	t.Helper()
	return Take(t, p, p.Start(), nil, 4, func(a study.Ask) (noised []int64) {
		for _, v := range Law(p, a, means, deviations) {
			noised = append(noised, int64(v*float64(p.N)/a.Grid))
		}
		return noised
	})
}

// Run takes a whole study of five sites, checking each step as sites do.
func Run(t *testing.T, text string, wide bool) (*study.Plan, []byte, []study.Release) {
	t.Helper()
	sites := texts.Roster(40_000, 50_000, 60_000, 70_000, 80_000)
	if strings.Contains(text, `"auto"`) { // noise limits, and lengths are read all the same
		text += columnsOf(36)
		sites = texts.Roster(600, 600, 600, 600, 600)
	}
	spec, err := proposal.ParseSpec([]byte(texts.Iterating(text)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := proposal.Propose(spec, sites, texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	c, last := p.Start(), -1
	var releases []study.Release
	for c.Query < len(p.Queries) {
		if !p.Queries.Follows(last, c.Query) {
			t.Fatalf("query %d does not follow %d", c.Query, last)
		}
		if left := p.Queries.Left(c.Query); left > p.Slots-len(releases) || left < 1 {
			t.Fatalf("%d queries left at query %d, after %d of %d slots", left, c.Query, len(releases), p.Slots)
		}
		a, err := p.NewAsk(c, len(releases))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(a); err != nil {
			t.Fatal(err)
		}
		r, err := p.NewRelease(a, []int{0, 1, 2, 3, 4}, Answer(p, a, rng, wide))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.CheckRelease(r); err != nil {
			t.Fatal(err)
		}
		last = c.Query
		if p.Queries.Ends(last) != (p.Queries.Left(last) == 1) {
			t.Fatalf("query %d: ends %v, left %d", last, p.Queries.Ends(last), p.Queries.Left(last))
		}
		if c, err = p.Next(c, r, releases); err != nil {
			t.Fatal(err)
		}
		if c.End != "" {
			t.Fatalf("query %d ends the study: %s", last, c.End)
		}
		releases = append(releases, r)
	}
	if !p.Queries.Ends(last) {
		t.Fatalf("the study ended with query %d, and more may follow it", last)
	}
	return p, body, releases
}

// Plan is the plan of a text over a roster of so many units.
func Plan(t testing.TB, text string, units ...int) (*study.Plan, error) {
	t.Helper()
	body, err := texts.Propose(text, units...)
	if err != nil {
		return nil, err
	}
	return study.NewPlan(body)
}

// MustPlan is Plan of a text that has one.
func MustPlan(t testing.TB, text string, units ...int) *study.Plan {
	t.Helper()
	p, err := Plan(t, text, units...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// PlanOf is the plan of a study over a roster of so many units.
func PlanOf(t testing.TB, spec proposal.Spec, units ...int) *study.Plan {
	t.Helper()
	body, err := proposal.Propose(spec, texts.Roster(units...), texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Decides reports whether a plan has so few units that auto has a choice.
func Decides(p *study.Plan) bool {
	return slices.ContainsFunc(p.Queries, func(q study.Query) bool { return q.Branch != "" })
}

// RunKept makes a study's releases where one row of four is left out: the kept ones have variance 2
// along the component and 9 in all, and the mean (3, 0).
func RunKept(t *testing.T, p *study.Plan, rng *rand.Rand, kept float64) []study.Release {
	t.Helper()
	_, out := Take(t, p, p.Start(), nil, len(p.Queries), func(a study.Ask) []int64 {
		q := p.Queries[a.Query]
		values := make([]float64, q.Values)
		switch q.Kind {
		case study.KindRows:
			values[0] = kept
		case study.KindMean:
			values[0] = 3 * kept
			if a.Center != nil {
				values[0] = (3 - a.Center[0]) * kept
			}
		case study.KindVariance:
			values[0] = 2 * kept
		case study.KindTotal:
			values[0] = 9 * kept
		case study.KindPower:
			values[0] = 2 * kept
		}
		noised := make([]int64, q.Values)
		for j := range noised {
			noised[j] = int64(math.Round(values[j]*float64(p.N)/a.Grid + a.Sigma.Float()*rng.NormFloat64()))
		}
		if q.Kind == study.KindHistogram { // what is left out is in the lowest bin
			noised[0] += int64(float64(p.N) / a.Grid * (1 - kept))
			noised[268] += int64(float64(p.N) / a.Grid * kept * 0.88)
			noised[272] += int64(float64(p.N) / a.Grid * kept * 0.12)
		}
		return noised
	})
	return out
}

// Filled is a release of shares of empty cells, with noise.
func Filled(t testing.TB, p *study.Plan, rng *rand.Rand, shares []float64) study.Release {
	t.Helper()
	a, err := p.NewAsk(p.Start(), 0)
	if err != nil {
		t.Fatal(err)
	}
	noised := make([]int64, len(shares))
	for j, v := range shares {
		noised[j] = int64(v*float64(p.N)/a.Grid + a.Sigma.Float()*rng.NormFloat64())
	}
	r, err := p.NewRelease(a, []int{0, 1, 2, 3, 4}, noised)
	if err != nil {
		t.Fatal(err)
	}
	if p.Honest > 0 { // all sites' shares
		more := r.Spread() / a.Sigma.Float()
		for j, v := range shares {
			mean := v * float64(p.N) / a.Grid
			r.Noised[j] = int64(mean + more*(float64(noised[j])-mean))
		}
	}
	return r
}

// columnsOf adds columns to a study's text.
func columnsOf(n int) (lines string) {
	for j := range n {
		lines += fmt.Sprintf("[[columns]]\nname = \"c%d\"\nscale = 1\n", j)
	}
	return lines
}

// GapPlan is the plan of a study of so many columns whose gaps are filled.
func GapPlan(t testing.TB, columns int, noise string) *study.Plan {
	t.Helper()
	text := texts.Minimal[:strings.Index(texts.Minimal, "[[columns]]")]
	text = strings.Replace(text, "explained_variance = \"none\"\ncenter = \"public\"", fmt.Sprintf("missing = \"fill\"\nnoise = %q\nmethod = \"covariance\"\ncentral_detail = %t\n", noise, noise == proposal.NoiseCentral), 1)
	return MustPlan(t, text+columnsOf(columns), 9000, 9000, 9000, 9000, 9000)
}

// RunPictured is a course of a study up to its picture, and its releases.
func RunPictured(t *testing.T, text string) (*study.Plan, []byte, study.Course, []study.Release) {
	t.Helper()
	p, body, releases := Run(t, text, false)
	c := p.Start()
	for i, r := range releases {
		if r.Kind == study.KindPicture {
			return p, body, c, releases
		}
		var err error
		if c, err = p.Next(c, r, releases[:i]); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("there is no picture")
	return nil, nil, study.Course{}, nil
}

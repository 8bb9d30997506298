package result

import (
	"crypto/ed25519"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// people asks for variances of people's rows, which are divided by a noised number of rows per
// unit.
func people(text string, more ...string) string {
	text = strings.Replace(text, "explained_variance = \"none\"", "unit = \"who\"", 1)
	return strings.Replace(text, "\ndelta", "\n"+strings.Join(more, "\n")+"\ndelta", 1)
}

// intervalRun makes a study's releases: 5 rows a unit, of variance 2 along the component, 9 in all.
func intervalRun(t *testing.T, p *study.Plan, rng *rand.Rand) []study.Release {
	t.Helper()
	_, out := runs.Take(t, p, p.Start(), nil, len(p.Queries), func(a study.Ask) []int64 {
		q := p.Queries[a.Query]
		mean := map[study.Kind]float64{study.KindRows: 5, study.KindVariance: 5 * 2, study.KindTotal: 5 * 9}[q.Kind]
		noised := make([]int64, q.Values)
		for j := range noised {
			noised[j] = int64(math.Round(mean*float64(p.N)/a.Grid + a.Sigma.Float()*rng.NormFloat64()))
		}
		if q.Kind == study.KindHistogram {
			noised[map[study.Kind]int{study.KindRows: 266, study.KindVariance: 272, study.KindTotal: 280}[q.Of]] += int64(float64(p.N) / a.Grid)
		}
		return noised
	})
	return out
}

// The noise of rows per unit is in the intervals: of 400 studies of people 95% cover, as those of
// rows do. The runs are seeded; a right interval fails here with probability below 10^-4 a number.
func TestIntervalsCoverRowsPerUnit(t *testing.T) {
	p := runs.MustPlan(t, people(texts.Minimal, "rounds = 1", "radius = 3.0"), 9000, 9000, 9000, 9000, 9000)
	rng, runs, variance, total, narrow := rand.New(rand.NewPCG(3, 5)), 400, 0, 0, 0
	within := func(v float64, in [2]float64) int {
		if in[0] <= v && v <= in[1] {
			return 1
		}
		return 0
	}
	for range runs {
		releases := intervalRun(t, p, rng)
		r, err := New(p, releases)
		if err != nil {
			t.Fatal(err)
		}
		variance += within(2, r.VarianceInterval[0])
		total += within(9, *r.TotalInterval)
		if r.VarianceNote != varianceNoteOfUnits {
			t.Fatalf("the note is %q", r.VarianceNote)
		}
		narrow += within(2, without(r, releases))
	}
	t.Logf("of %d: variance %d, total %d; without the noise of rows per unit %d", runs, variance, total, narrow)
	if variance < runs*9/10 || total < runs*9/10 {
		t.Errorf("of %d intervals %d and %d cover", runs, variance, total)
	}
	if narrow > variance*19/20 {
		t.Errorf("the noise of rows per unit makes no difference: %d", narrow)
	}
}

// TestUnreadVarianceIsNotKnown: of a study whose histograms of scores or of rows are noise alone
// no variance is given, of those that were clipped nobody knows where, and the components keep
// their order.
func TestUnreadVarianceIsNotKnown(t *testing.T) {
	p := runs.MustPlan(t, strings.Replace(texts.With(texts.Minimal, "rounds = 1", "radius = 3.0", "components = 2", "picture = true"), `explained_variance = "none"`, "", 1), 9000, 9000)
	for _, lost := range []study.Kind{"", study.KindVariance, study.KindTotal} {
		_, releases := runs.Take(t, p, p.Start(), nil, len(p.Queries), func(a study.Ask) []int64 {
			q := p.Queries[a.Query]
			noised := make([]int64, q.Values)
			switch {
			case q.Kind == study.KindHistogram && q.Of != lost:
				noised[262] = int64(float64(p.N) / a.Grid)
			case q.Kind == study.KindPower:
				noised[0], noised[p.D+1] = int64(2/a.Grid*float64(p.N)), int64(1/a.Grid*float64(p.N))
			case q.Kind == study.KindVariance: // in another order than by the step
				noised[0], noised[1] = int64(0.2*float64(p.N)/a.Grid), int64(0.5*float64(p.N)/a.Grid)
			case q.Kind == study.KindTotal:
				noised[0] = int64(0.9 * float64(p.N) / a.Grid)
			}
			return noised
		})
		r, err := New(p, releases)
		if err != nil {
			t.Fatal(err)
		}
		first := slices.IndexFunc(r.Components[0], func(v float64) bool { return v > 0.9 })
		known, second := lost == "", 0
		if lost != study.KindVariance {
			second = 1
		}
		if first != second || (len(r.ExplainedVariance) == 2) != known || (len(r.VarianceRatio) == 2) != known || (r.TotalInterval != nil) != known ||
			(r.TotalVariance > 0) != known || (r.VarianceNote == VarianceUnread) == known {
			t.Errorf("%q is lost: %v, %v of %v, first loading %d, %q", lost, r.ExplainedVariance, r.VarianceRatio, r.TotalVariance, first, r.VarianceNote)
		}
		if len(r.Pictures) != 1 || strings.Contains(r.PictureNote, "deviations of the released variance, or of twice its noise where that is more") != known || strings.Contains(r.PictureNote, "variance is not known") == known {
			t.Errorf("%q is lost: %q", lost, r.PictureNote)
		}
	}
}

// without returns the first component's interval without the noise of rows per unit.
func without(r *Result, releases []study.Release) [2]float64 {
	at := slices.IndexFunc(releases, func(rel study.Release) bool { return rel.Kind == study.KindVariance })
	middle := (r.VarianceInterval[0][0] + r.VarianceInterval[0][1]) / 2
	half := normal95 * releases[at].Tau() / r.PerUnit
	return [2]float64{middle - half, middle + half}
}

// Neither intervals without the noise of rows per unit nor the note of a study of rows verify,
// whoever signed them.
func TestVerifyIntervals(t *testing.T) {
	spec, err := proposal.ParseSpec([]byte(people(texts.Minimal, "rounds = 1", "radius = 3.0")))
	if err != nil {
		t.Fatal(err)
	}
	body, err := proposal.Propose(spec, texts.Roster(9000, 9000, 9000, 9000, 9000), texts.Signer.Public().(ed25519.PublicKey), [32]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	var signed []SignedRelease
	for _, release := range intervalRun(t, p, rand.New(rand.NewPCG(3, 6))) {
		signed = append(signed, signRelease(t, release))
	}
	r := made(t, p, body, signed)
	if _, err := Verify(file(t, r)); err != nil {
		t.Error(err)
	}
	whole := r.VarianceInterval
	r.VarianceInterval = append([][2]float64{without(r, r.Releases)}, whole[1:]...)
	if r.VarianceInterval[0] == whole[0] {
		t.Fatalf("intervals do not differ: %v", whole)
	}
	reseal(t, r)
	refuses(t, file(t, r), "explained_variance_interval_", -1)
	r.VarianceInterval, r.VarianceNote = whole, varianceNote
	reseal(t, r)
	refuses(t, file(t, r), "variance_note", -1)
}

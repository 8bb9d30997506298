package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/test/texts"
)

// mixedText is a study of d columns whose method is left open.
func mixedText(d int, lines ...string) string {
	var out strings.Builder
	for j := range d - 4 {
		fmt.Fprintf(&out, "[[columns]]\nname = \"more%d\"\nscale = 1\n", j)
	}
	if !slices.Contains(lines, `method = "covariance"`) {
		lines = append(lines, `method = "auto"`)
	}
	return texts.With(texts.Four, append(lines, `explained_variance = "none"`)...) + out.String()
}

// wide is how many columns are enough for several components that hold little of the variance.
const wide = 4 * mixedColumns

// TestMixes: what is left to the first parts of a covariance, and what sizes and keys decide.
func TestMixes(t *testing.T) {
	for name, c := range map[string]struct {
		d     int
		lines []string
		units int // of each of two sites
		want  bool
	}{
		"many columns":             {wide, nil, 30_000, true},
		"several components":       {wide, []string{"components = 5"}, 30_000, true},
		"and more noise":           {wide, []string{"components = 5"}, 27_000, true},
		"few columns":              {48, nil, 3_000, true},
		"fewer columns":            {47, nil, 3_000, false},
		"more columns":             {mixedMost + 1, nil, 120_000, false},
		"more components":          {216, []string{"components = 6"}, 35_000, false},
		"little noise":             {wide, nil, 80_000, false},
		"more noise":               {wide, nil, 10_000, false},
		"a covariance":             {wide, []string{`method = "covariance"`}, 30_000, false},
		"rows as they are":         {wide, []string{`rows = "plain"`}, 30_000, false},
		"rounds as asked":          {wide, []string{"rounds = 12"}, 30_000, false},
		"one after another":        {wide, []string{"components = 2", `subspace = "deflation"`}, 30_000, false},
		"components that it finds": {wide, []string{`components = "auto"`, "components_max = 4", `explained_variance = "private"`}, 30_000, false},
		"empty cells":              {wide, []string{`missing = "fill"`}, 30_000, false},
	} {
		text := mixedText(c.d, c.lines...)
		if strings.Contains(text, "\"private\"") {
			text = strings.Replace(text, "explained_variance = \"none\"\n", "", 1)
		}
		p := mustPlan(t, text, c.units, c.units)
		if p.Method.Mixed != c.want {
			t.Errorf("%s: mixed %v, ι = %.3g", name, p.Method.Mixed, p.Iota)
		}
		if c.want != (p.Start().Method == "" && p.Rounds == mixedRounds && strings.Contains(p.Method.Rule(), "these hold at most 6.5% of all, 16 power rounds from them")) {
			t.Errorf("%s: %d rounds, %s", name, p.Rounds, p.Method.Rule())
		}
		first := 0.25
		if p.K > 2 && p.Iota > 0.2 {
			first = 0.15
		}
		if rho, all := momentsRho(p); c.want && math.Abs(rho[0]/all-first) > 0.001 {
			t.Errorf("%s: the first part costs %.3f of a covariance", name, rho[0]/all)
		}
		if steps := powerRho(p); c.want && math.Abs(steps[mixedRounds-1]/steps[0]-4) > 0.01 { // √16
			t.Errorf("%s: the last round costs %.3f times the first", name, steps[mixedRounds-1]/steps[0])
		}
	}
}

// powerRho are the charges of rounds.
func powerRho(p *Plan) (rho []float64) {
	for _, q := range p.Queries {
		if q.Kind == KindPower {
			rho = append(rho, q.Rho)
		}
	}
	return rho
}

// momentsRho are the charges of a covariance's parts, and their sum.
func momentsRho(p *Plan) (rho []float64, all float64) {
	for _, q := range p.Queries {
		if q.Kind == KindMoment {
			rho, all = append(rho, q.Rho), all+q.Rho
		}
	}
	return rho, all
}

// TestMixed: a study goes on with rounds from the components of the parts so far where a whole
// covariance of these eigenvalues would lose much, and only where long rows show nothing of their
// own. Both ways cost what is reserved, and whoever holds the same releases goes the same way.
func TestMixed(t *testing.T) {
	const d = wide
	slow := func(j int) float64 { return 1 / (1 + 0.01*float64(j)) }
	for name, c := range map[string]struct {
		value func(j int) float64
		turn  float64 // of the high clip
		peak  bool    // rows of one length, far from others
		want  string
		why   string
		more  int // components than two
	}{
		"slow":  {slow, 0, false, proposal.MethodPower, "power rounds from them follow", 0},
		"steep": {func(j int) float64 { return 1 / float64(1+j) }, 0, false, proposal.MethodCovariance, "at most 1%; the last part follows", 0},
		"many alike": {func(j int) float64 {
			if j < 8 {
				return 1
			}
			return 0.05
		}, 0, false, proposal.MethodCovariance, "at most 1%; the last part follows", 0},
		"one hidden above others that are alike": {func(j int) float64 { return 1 - 0.2*float64(min(j, 1)) }, 0, false, proposal.MethodPower, "power rounds from them follow", 0},
		"one apart":                              {func(j int) float64 { return 1 / (1 + float64(min(j, 1))) }, 0, false, proposal.MethodPower, "power rounds from them follow", 0},
		"two apart": {func(j int) float64 {
			if j < 2 {
				return 1
			}
			return 0.25
		}, 0, false, proposal.MethodCovariance, "at most 1%; the last part follows", 0},
		"five that hold much": {func(j int) float64 { return max(0.02, min(1, 1.25-0.01*float64(j))) }, 0, false, proposal.MethodCovariance, "but its components hold over 6.5% of all variance: the last part follows", 3},
		"five that hold less": {func(j int) float64 { return 1 / (1 + 0.016*float64(j)) }, 0, false, proposal.MethodPower, "at most 6.5% of all variance: power rounds from them follow", 3},
		"long rows":           {slow, 3, false, proposal.MethodCovariance, "long rows may differ", 0},
		"rows in two kinds":   {slow, 0, true, proposal.MethodCovariance, ": the last part follows", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := 2 + c.more
			p := mustPlan(t, mixedText(d, fmt.Sprintf("components = %d", k), `center = "public"`), 19_500, 19_500)
			rng := rand.New(rand.NewPCG(7, 8))
			trace := 0.0
			for j := range d {
				trace += c.value(j)
			}
			size := BinEdge(263) / trace
			var releases []Release
			var asked []string
			start := p.Start()
			charged := 0.0
			for course := start; course.Query < len(p.Queries); {
				a, err := p.NewAsk(course, course.Query)
				if err != nil {
					t.Fatal(err)
				}
				q := p.Queries[a.Query]
				value := func(j int) float64 {
					if j == d-1 && len(releases) == 2 { // the second part
						return size * (c.value(j) + c.turn)
					}
					return size * c.value(j)
				}
				sum := make([]float64, 0, q.Values)
				switch q.Kind {
				case KindHistogram:
					sum = make([]float64, q.Values)
					for j := range 8 {
						sum[259+j] = float64(p.N) / 8 / a.Grid
					}
					if c.peak && q.Of == KindTotal {
						sum[259+7], sum[300] = 0, float64(p.N)/8/a.Grid
					}
				case KindMoment:
					for i := range d {
						sum = append(sum, value(i))
						sum = append(sum, make([]float64, d-1-i)...)
					}
				case KindPower: // on the sphere
					for _, x := range linalg.Split(a.X, d) {
						for j, v := range x {
							sum = append(sum, value(j)/(size*trace)*v)
						}
					}
				}
				noised := make([]int64, len(sum))
				for i, v := range sum {
					if q.Kind != KindHistogram {
						v *= float64(p.N) / a.Grid
					}
					noised[i] = int64(v + a.Sigma.Float()*rng.NormFloat64())
				}
				r, err := p.NewRelease(a, []int{0, 1}, noised)
				if err != nil {
					t.Fatal(err)
				}
				before := course
				if course, err = p.Next(before, r, releases); err != nil {
					t.Fatal(err)
				}
				var kept []Release
				for _, at := range p.Queries.Earlier(r.Query) {
					kept = append(kept, releases[slices.IndexFunc(releases, func(e Release) bool { return e.Query == at })])
				}
				if few, err := p.Next(before, r, kept); err != nil || !reflect.DeepEqual(few, course) {
					t.Fatalf("after query %d a party that keeps less goes elsewhere, or %v", r.Query, err)
				}
				releases, charged = append(releases, r), charged+r.Rho
				asked = append(asked, fmt.Sprint(q.Kind, q.Of))
				if len(releases) == 3 {
					for other, q := range p.Queries { // the first of the branch that was not taken
						if q.Branch == "" || q.Branch == c.want || p.Queries[other-1].Branch == q.Branch {
							continue
						}
						fork := course
						fork.Query, fork.Method, fork.Radii = other, q.Branch, map[Kind]float64{KindMoment: 1, KindPower: 1}
						if a, err = p.NewAsk(fork, other); err != nil {
							t.Fatal(err)
						}
						if err := p.CheckCourse(course, a); err == nil || !strings.Contains(err.Error(), "is due") {
							t.Errorf("a site answers the other branch: %v", err)
						}
					}
					if course.Method != c.want || !strings.Contains(p.MethodWhy(releases), "two parts of a covariance say") {
						t.Fatalf("%q, because %s", course.Method, p.MethodWhy(releases))
					}
					if got, err := captured2(course.X, d, k, c.value); c.want == proposal.MethodPower && (err != nil || got < 0.85) {
						t.Errorf("rounds start at %.3f of the variance, %v", got, err)
					}
				}
			}
			rounds := strings.Repeat(" power", mixedRounds)
			want := map[string]string{
				proposal.MethodPower:      "histogramtotal moment moment histogrampower" + rounds,
				proposal.MethodCovariance: "histogramtotal moment moment moment",
			}[c.want]
			if got := strings.Join(asked, " "); got != want {
				t.Errorf("asked %s", got)
			}
			if charged > p.Rho*(1+1e-12) || charged < p.Rho*(1-1e-6) {
				t.Errorf("ρ = %v is charged, %v reserved", charged, p.Rho)
			}
			if why := p.MethodWhy(releases); !strings.Contains(why, c.why) {
				t.Error(why)
			}
		})
	}
}

// TestMixedPlansKeepTheirEpsilon: what each branch really costs is within the charges, and these
// within what is reserved (see TestAnyPlanKeepsItsEpsilon).
func TestMixedPlansKeepTheirEpsilon(t *testing.T) {
	for _, lines := range [][]string{nil, {`noise = "distributed"`}, {`accountant = "zcdp"`, `center = "private"`}, {"components = 3", "sites_per_unit = 2", "epsilon = 2.0"}} {
		text := mixedText(wide, lines...)
		if slices.Contains(lines, "epsilon = 2.0") {
			text = strings.Replace(text, "epsilon = 1.0\n", "", 1)
		}
		p := mustPlan(t, text, 12_000, 12_000, 12_000, 12_000)
		if !p.Method.Mixed {
			t.Fatalf("%v: ι = %v", lines, p.Iota)
		}
		rng, cost := rand.New(rand.NewPCG(11, 12)), map[string]float64{}
		for _, q := range p.Queries {
			rho, _ := trueRho(t, rng, p, q).Float64()
			if rho > q.Rho*(1+1e-13) {
				t.Errorf("%v: %s of %s costs %v and is charged %v", lines, q.Kind, q.Of, rho, q.Rho)
			}
			cost[q.Branch] += rho
		}
		for _, branch := range []string{proposal.MethodPower, proposal.MethodCovariance} {
			rho := cost[""] + cost[branch]
			if rho > p.Rho*(1+1e-13) {
				t.Errorf("%v: %s costs %v, the ledger reserves %v", lines, branch, rho, p.Rho)
			}
			if e, err := p.Curve().Epsilon(rho, p.Proposal.Spec.Delta); err != nil || e > p.Proposal.Spec.Epsilon {
				t.Errorf("%v: %s has ε = %v, %v", lines, branch, e, err)
			}
		}
	}
}

// captured2 is the part of the most variance that vectors have of eigenvalues.
func captured2(x []float64, d, k int, value func(j int) float64) (float64, error) {
	if why := linalg.Orthonormal(x, d); why != "" || len(x) != k*d {
		return 0, fmt.Errorf("%d numbers, %s", len(x), why)
	}
	got, best := 0.0, 0.0
	for i, v := range linalg.Split(x, d) {
		best += value(i)
		for j, c := range v {
			got += value(j) * c * c
		}
	}
	return got / best, nil
}

// TestMixedLoss: two equal eigenvalues at the cut cost nothing, and nothing but noise is a loss.
func TestMixedLoss(t *testing.T) {
	const d = 20
	p := &Plan{D: d, K: 1, Iota: 0.2}
	p.Proposal.Spec.NormBound = proposal.BoundPrivate
	values := slices.Repeat([]float64{0.1}, d)
	values[0], values[1] = 1, 1
	for name, c := range map[string]struct {
		tau, least, most float64
	}{"little noise": {1e-3, 0, 5e-4}, "much": {0.1, 0.005, 0.3}, "nothing else": {50, 0.05, 1}} {
		m := noisy(rand.New(rand.NewPCG(9, 10)), values, 0, c.tau)
		f, err := p.firstParts(packedRelease(m, 1, c.tau), packedRelease(m, 1, 1e3*c.tau))
		if err != nil || len(f.components) != 1 || !(f.loss >= c.least && f.loss <= c.most) || math.IsNaN(f.loss) {
			t.Errorf("%s: %v, %v", name, f.loss, err)
		}
	}
}

// TestNoiseHoldsNothing: noise raises leading eigenvalues, and what it adds to them counts as no
// part of the variance. Five components of slowly falling variances hold 4.4% of it.
func TestNoiseHoldsNothing(t *testing.T) {
	const d, k, tau = 150, 5, 0.055
	p := mustPlan(t, mixedText(d, fmt.Sprintf("components = %d", k), `center = "public"`), 13_850, 13_850)
	values := make([]float64, d)
	for j := range values {
		values[j] = 1 / (1 + 0.005*float64(j))
	}
	mu, _, ok := linalg.Eigen(noisy(rand.New(rand.NewPCG(15, 16)), values, 0, tau))
	top, all := 0.0, 0.0
	for i, v := range mu {
		if all += v; i >= d-k {
			top += v
		}
	}
	if !ok || top <= mixedPart*all {
		t.Fatalf("these eigenvalues are %.3f of all", top/all)
	}
	if !p.Method.Mixed || !p.RoundsFollow(mu, tau) {
		t.Errorf("rounds do not follow, mixed %v: %+v", p.Method.Mixed, p.shown(mu, tau))
	}
}

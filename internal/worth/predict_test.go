package worth

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"covey/internal/prior"
	"covey/internal/proposal"
)

func predict(t *testing.T, s proposal.Spec, n int) (*Prediction, error) {
	t.Helper()
	p, _ := planned(t, s, n)
	return Predict(p)
}

// TestPredictionFollowsTheSizes: more units, a larger ε and central noise are never worse, and the
// family's order is that of its eigenvalues.
func TestPredictionFollowsTheSizes(t *testing.T) {
	at := func(d, k, n int, change func(*proposal.Spec)) *Prediction {
		s := spec(d, k, proposal.MethodAuto)
		if change != nil {
			change(&s)
		}
		got, err := predict(t, s, n)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	few, more := at(32, 2, 3000, nil), at(32, 2, 60_000, nil)
	private := at(32, 2, 3000, func(s *proposal.Spec) { s.Epsilon = 0.3 })
	shared := at(32, 2, 3000, func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed })
	for i := range few.Cases {
		if more.Cases[i].Median <= few.Cases[i].Median || private.Cases[i].Median >= few.Cases[i].Median || shared.Cases[i].Median >= few.Cases[i].Median {
			t.Errorf("s = %g: %v of few units, %v of more, %v with a smaller ε, %v with distributed noise",
				falls[i], few.Cases[i].Median, more.Cases[i].Median, private.Cases[i].Median, shared.Cases[i].Median)
		}
	}
	// where nothing is left of the signal, a study is worth a blind guess, and that is said
	lost := at(32, 2, 3000, func(s *proposal.Spec) { s.Epsilon = 1e-9 })
	for i, c := range lost.Cases {
		if c.Blind < 0.05 || c.Median > 2*c.Blind || few.Cases[i].Median < c.Blind {
			t.Errorf("s = %g: %v of noise alone, %v blindly", falls[i], c.Median, c.Blind)
		}
	}
	if few.Cases[0].Median >= few.Cases[len(falls)-1].Median {
		t.Errorf("a slow spectrum is no harder: %+v", few)
	}
	if again := at(32, 2, 3000, nil); fmt.Sprint(again.Cases) != fmt.Sprint(few.Cases) {
		t.Errorf("%v, then %v", few.Cases, again.Cases)
	}
	tiny := at(32, 2, 900, nil)
	if tiny.Needed <= 900 || tiny.Needed > 6000 || few.Needed != 0 || !strings.Contains(strings.Join(tiny.Lines(), "\n"), fmt.Sprint("about ", tiny.Needed, " units")) {
		t.Errorf("900 units need %d, 3,000 need %d: %s", tiny.Needed, few.Needed, tiny.Lines())
	}
}

// TestPredictionOfPictures: 800 columns of 60,000 units capture 0.994 of what ten components could.
// A study as good as that is not called hopeless.
func TestPredictionOfPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of processor time")
	}
	got, err := predict(t, spec(800, 10, proposal.MethodAuto), 60_000)
	if err != nil {
		t.Fatal(err)
	}
	if steep := got.Cases[len(got.Cases)-1]; steep.Median < 0.97 || steep.Method != proposal.MethodCovariance {
		t.Errorf("%+v", got)
	}
}

// TestPredictionIsMet: the mean of studies of a spectrum of the family is near the simulated
// median: its loss within a factor of two. Studies are seeded; over seeds one case in some hundreds
// would be outside.
func TestPredictionIsMet(t *testing.T) {
	const d, k, n, runs = 24, 2, 6000, 6
	for i, fall := range falls {
		lambda := make([]float64, d)
		for j := range lambda {
			lambda[j] = 1 / (1 + fall*float64(j))
		}
		s := spec(d, k, proposal.MethodCovariance)
		p, err := predict(t, s, n)
		if err != nil {
			t.Fatal(err)
		}
		loss := 0.0
		for seed := range runs {
			// Rows whose squared lengths are at most what the bound is read at, endlessly many.
			squares := lengths(lambda, seeded(1))
			slices.Sort(squares)
			_, r := law{second: diagonal(lambda...), radius: squares[len(squares)*93/100], rng: seeded(uint64(seed))}.run(t, s, n)
			loss += (1 - prior.Captured(lambda, r.Components)) / runs
		}
		if predicted := 1 - p.Cases[i].Median; predicted < loss/2 || predicted > 3*loss {
			t.Errorf("s = %g: a loss of %.4f is predicted, %.4f is met", fall, predicted, loss)
		}
	}
}

// TestNoPrediction: what is not simulated has no figure, and says why.
func TestNoPrediction(t *testing.T) {
	for word, change := range map[string]func(*proposal.Spec){
		"several rows":  func(s *proposal.Spec) { s.Unit = "patient" },
		"20 components": func(s *proposal.Spec) { s.Components = 21 },
		"take long":     func(s *proposal.Spec) { s.Method, s.Components, s.Rounds = proposal.MethodPower, 20, 500 },
		"given start": func(s *proposal.Spec) {
			v := make([]float64, 80)
			v[0], v[41] = 1, 1
			s.Method, s.Start = proposal.MethodPower, &proposal.Start{Vectors: v}
		},
		"private lambda": func(s *proposal.Spec) {
			s.Method, s.Radius, s.Lambda, s.LambdaShare = proposal.MethodPower, proposal.RadiusPaper, proposal.LambdaPrivate, 0.5
		},
		"random round":      func(s *proposal.Spec) { s.Method, s.Output = proposal.MethodPower, proposal.OutputRandom },
		"one after another": func(s *proposal.Spec) { s.Method, s.Subspace = proposal.MethodPower, proposal.SubspaceDeflation },
	} {
		s := spec(40, 2, proposal.MethodAuto)
		change(&s)
		if p, err := predict(t, s, 6000); p != nil || !errors.Is(err, ErrNoPrediction) || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, %v", word, p, err)
		}
	}
}

// TestReadmePredicts: the front page has what a study with defaults is told.
func TestReadmePredicts(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	s := spec(32, 1, proposal.MethodAuto)
	s.Center, s.ExplainedVariance = "", "" // as a study file without them
	few, err := predict(t, s, 300)
	if err != nil {
		t.Fatal(err)
	}
	many, err := predict(t, s, 2001)
	if err != nil {
		t.Fatal(err)
	}
	slow, steep, more := few.Cases[0], few.Cases[len(falls)-1], many.Cases
	want := fmt.Sprintf("with 32 columns of known scale and 300 units, `coordinator study validate` predicts that one component captures %.0f%% of the best possible variance (slowly falling spectrum, where a blind guess has %.0f%%) or %.0f%% (steep spectrum), and with 2,000 units %.0f%% to nearly all",
		100*slow.Median, 100*slow.Blind, 100*steep.Median, 100*more[0].Median)
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), want) || more[len(falls)-1].Median < 0.99 {
		t.Errorf("README.md does not say %q, to %.3f", want, more[len(falls)-1].Median)
	}
}

// TestPredictionOfTheDefaultOutput: power iteration of as many rounds as are pooled by default is
// predicted as pooled, and better than its last round; of few rounds that noise hardly touches as
// its last.
func TestPredictionOfTheDefaultOutput(t *testing.T) {
	at := func(output string, rounds, n int) string {
		s := spec(32, 1, proposal.MethodPower)
		s.Output, s.Rounds = output, rounds
		got, err := predict(t, s, n)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(got.Cases)
	}
	for _, c := range []struct {
		rounds, n int
		want      string
	}{{proposal.PoolRounds, 4000, proposal.OutputPooled}, {8, 1_000_000, proposal.OutputLast}, {8, 1200, proposal.OutputPooled}} {
		other := map[string]string{proposal.OutputPooled: proposal.OutputLast, proposal.OutputLast: proposal.OutputPooled}[c.want]
		if got := at(proposal.OutputAuto, c.rounds, c.n); got != at(c.want, c.rounds, c.n) || got == at(other, c.rounds, c.n) {
			t.Errorf("%d rounds of %d units are not predicted as %s", c.rounds, c.n, c.want)
		}
	}
}

// TestPredictionOfAReleasedCenter: its noise is a direction of its own where columns are many for
// the units, and nothing where units are many.
func TestPredictionOfAReleasedCenter(t *testing.T) {
	at := func(center string, n int) float64 {
		s := spec(96, 1, proposal.MethodCovariance)
		s.Center, s.ExplainedVariance = center, proposal.VarianceNone
		got, err := predict(t, s, n)
		if err != nil {
			t.Fatal(err)
		}
		return got.Cases[2].Median // s = 1
	}
	few, many := at(proposal.CenterPublic, 900)-at(proposal.CenterPrivate, 900), at(proposal.CenterPublic, 60_000)-at(proposal.CenterPrivate, 60_000)
	if few < 0.05 || many > 0.005 {
		t.Errorf("a released center is predicted to cost %.4f with 900 units and %.4f with 60,000", few, many)
	}
	s := spec(96, 1, proposal.MethodPower)
	s.Center = proposal.CenterPrivate
	p, _ := planned(t, s, 900)
	f, err := newForecast(p)
	if err != nil {
		t.Fatal(err)
	}
	lambda := make([]float64, 96)
	for j := range lambda {
		lambda[j] = 1
	}
	lambda[0] = 4
	steps := f.power(lambda, 1)
	for i := range steps.Tau {
		steps.Tau[i] = 1e-4
	}
	with := steps.Run(seeded(3), lambda).Captured()
	steps.Center = 0
	if without := steps.Run(seeded(3), lambda).Captured(); without < 0.95 || with > 0.6 {
		t.Errorf("rounds capture %.4f, and %.4f about a center whose noise has 96 times %.3g of the mean variance", without, with, f.power(lambda, 1).Center)
	}
}

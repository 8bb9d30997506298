package worth

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// solve answers for a spec of n units, at what is open, and gives a prediction at any value of it:
// the same each time (TestPredictionFollowsTheSizes), so it is made once.
func solve(t *testing.T, s proposal.Spec, n int, open string, share float64) (*Solution, func(float64) *Prediction) {
	t.Helper()
	plan := func(v float64) (*study.Plan, error) {
		s, n := s, n
		switch open {
		case SolveUnits:
			n = int(v)
		case SolveEpsilon:
			s.Epsilon = v
		case SolveComponents:
			s.Components = proposal.Components(v)
		}
		p, _ := planned(t, s, n)
		return p, nil
	}
	got, err := Solve(open, share, plan)
	if err != nil {
		t.Fatal(err)
	}
	made := map[float64]*Prediction{}
	return got, func(v float64) *Prediction {
		if made[v] == nil {
			p, _ := plan(v)
			if made[v], err = Predict(p); err != nil {
				t.Fatal(err)
			}
		}
		return made[v]
	}
}

// TestSolveIsPredicted: every answer, put back into the prediction of validate, captures the share;
// a fifth less does not. Under -short only of the specs that take no seconds of processor time.
func TestSolveIsPredicted(t *testing.T) {
	for _, c := range []struct {
		d, k, n int
		method  string
		share   float64
		long    bool
	}{
		{24, 2, 6000, proposal.MethodAuto, 0.95, true}, {24, 2, 6000, proposal.MethodPower, 0.9, true}, {60, 5, 9000, proposal.MethodCovariance, 0.95, true},
		{8, 1, 3000, proposal.MethodAuto, 0.97, false},
	} {
		t.Run(fmt.Sprintf("%d columns, %s", c.d, c.method), func(t *testing.T) {
			if testing.Short() && c.long {
				t.Skip("seconds of processor time")
			}
			for _, open := range []string{SolveUnits, SolveEpsilon} {
				got, predict := solve(t, spec(c.d, c.k, c.method), c.n, open, c.share)
				if got.High == 0 { // the rows themselves are too few for the slow spectrum
					t.Errorf("%+v, %s: %+v", c, open, got)
					continue
				}
				low, high := predict(got.Low), predict(got.High)
				for i, x := range got.Cases {
					if x.Value < got.Low || x.Value > got.High {
						t.Errorf("%+v, %s: %v is not in %v to %v", c, open, x.Value, got.Low, got.High)
					}
					if high.Cases[i].Median < c.share {
						t.Errorf("%+v, %s: the high end %v is predicted to capture %v where s = %g", c, open, got.High, high.Cases[i].Median, x.Fall)
					}
					if back := predict(x.Value).Cases[i].Median; back < c.share || back != x.Captured {
						t.Errorf("%+v, %s: %v is predicted to capture %v where s = %g, said is %v", c, open, x.Value, back, x.Fall, x.Captured)
					}
					if less := predict(x.Value / 1.25).Cases[i].Median; !x.Edge && less >= c.share {
						t.Errorf("%+v, %s: less than %v is predicted to capture %v", c, open, x.Value, less)
					}
				}
				if slow := low.Cases[0].Median; got.Low < got.High && slow >= c.share {
					t.Errorf("%+v, %s: the low end %v is predicted to capture %v where the spectrum falls slowly", c, open, got.Low, slow)
				}
			}
			got, predict := solve(t, spec(c.d, c.k, c.method), c.n, SolveComponents, c.share)
			for i, x := range got.Cases {
				if x.Value == 0 {
					continue
				}
				if back := predict(x.Value).Cases[i]; back.Median < c.share || back.Blind >= c.share {
					t.Errorf("%+v: %v components are predicted to capture %+v", c, x.Value, back)
				}
			}
		})
	}
}

// TestSolveIsMonotone: a larger share takes more units, a larger ε and no more components; a larger
// ε fewer units, more columns more. Under -short fewer values of each, and components not at all.
func TestSolveIsMonotone(t *testing.T) {
	ends := func(d int, epsilon, share float64, open string) (float64, float64) {
		s := spec(d, 2, proposal.MethodAuto)
		s.Epsilon = epsilon
		got, _ := solve(t, s, 6000, open, share)
		return got.Low, got.High
	}
	most, shares, epsilons, columns := 24, []float64{0.8, 0.9, 0.95, 0.98, 0.99}, []float64{4, 2, 1, 0.5, 0.25}, []int{8, 16, 32, 64, 128}
	if testing.Short() {
		most, shares, epsilons, columns = 8, []float64{0.8, 0.95}, []float64{4, 0.25}, []int{4, 16}
	}
	for _, open := range []string{SolveUnits, SolveEpsilon} {
		lastLow, lastHigh := 0.0, 0.0
		for _, share := range shares {
			low, high := ends(most, 1, share, open)
			if low < lastLow || high <= lastHigh {
				t.Errorf("%s: %v to %v for %v, less than before", open, low, high, share)
			}
			lastLow, lastHigh = low, high
		}
	}
	var last float64
	for _, epsilon := range epsilons {
		_, high := ends(most, epsilon, 0.95, SolveUnits)
		if high <= last {
			t.Errorf("ε = %v takes %v units, a larger one %v", epsilon, high, last)
		}
		last = high
	}
	last = 0
	for _, d := range columns {
		if _, high := ends(d, 1, 0.95, SolveUnits); high <= last {
			t.Errorf("%d columns take %v units, fewer %v", d, high, last)
		} else {
			last = high
		}
	}
	if testing.Short() {
		return
	}
	low, high := ends(40, 0.3, 0.8, SolveComponents)
	lower, higher := ends(40, 0.3, 0.97, SolveComponents)
	if lower > low || higher > high || high == 0 {
		t.Errorf("%v to %v components capture 0.8, %v to %v capture 0.97", low, high, lower, higher)
	}
}

// TestSolveSaysFewUnits: of an answer below the units that results have figures for, it is said
// what is predicted there.
func TestSolveSaysFewUnits(t *testing.T) {
	got, _ := solve(t, spec(4, 3, proposal.MethodAuto), 6000, SolveUnits, 0.7)
	if !got.Few || !strings.Contains(strings.Join(got.Lines(), "\n"), "1.5 times the simulated loss is predicted") {
		t.Errorf("%+v", got)
	}
	if got, _ = solve(t, spec(4, 3, proposal.MethodAuto), 6000, SolveEpsilon, 0.7); got.Few || strings.Contains(strings.Join(got.Lines(), "\n"), "1.5 times") {
		t.Errorf("%+v", got)
	}
}

// TestEveryRowIsAssumed: where rows may be left out, a prediction says that it is with all of them.
func TestEveryRowIsAssumed(t *testing.T) {
	for missing, want := range map[string]bool{proposal.MissingError: false, proposal.MissingDropRow: true} {
		s := spec(4, 1, proposal.MethodCovariance)
		s.Missing = missing
		p, err := predict(t, s, 6000)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := solve(t, s, 6000, SolveEpsilon, 0.7)
		for what, lines := range map[string][]string{"a prediction": p.Lines(), "a solution": got.Lines()} {
			if said := strings.Contains(strings.Join(lines, "\n"), "assumes that every row is kept: if a share s is kept"); said != want {
				t.Errorf("%s with missing = %q:\n%s", what, missing, strings.Join(lines, "\n"))
			}
		}
		if p.EveryRow != want || got.EveryRow != want {
			t.Errorf("missing = %q: %+v, %+v", missing, p, got)
		}
	}
}

// TestSolveSaysTheShareThatWasAsked: no share below it reads like it.
func TestSolveSaysTheShareThatWasAsked(t *testing.T) {
	for _, c := range []struct {
		share, captured float64
		said, best      string
	}{{0.9, 0.8999, "90.0%", "89.9%"}, {0.9999, 0.99989, "99.99%", "99.98%"}, {0.999999, 0.9999989, "99.9999%", "99.9998%"}} {
		a := Solution{Open: SolveUnits, Share: c.share, Cases: []Solved{{Fall: 1, Captured: c.captured}}}
		want := "capture " + c.said + "\neigenvalues 1/(1+1·j): none; the best that was tried is predicted to capture " + c.best + "\n"
		if got := strings.Join(a.Lines(), "\n"); !strings.Contains(got, want) {
			t.Errorf("%v: %s", c.share, got)
		}
	}
}

// TestSolveSaysAnEdge: an answer at the end of what was tried is no more than a bound, also where
// the whole family has it.
func TestSolveSaysAnEdge(t *testing.T) {
	for want, a := range map[string]Solution{
		"20 components or more for all of the family": {Open: SolveComponents, Low: 20, High: 20, Cases: []Solved{{Value: 20, Edge: true}}},
		"20 components for all of the family":         {Open: SolveComponents, Low: 20, High: 20, Cases: []Solved{{Value: 20}}},
		"ε = 0.01 or less for all of the family":      {Open: SolveEpsilon, Low: 0.01, High: 0.01, Cases: []Solved{{Value: 0.01, Edge: true}}},
	} {
		if got := a.Lines()[0]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSolveSaysWhatItCannot: a share that a blind guess captures, one that nothing captures, ends
// that were not held against studies, and no prediction at all.
func TestSolveSaysWhatItCannot(t *testing.T) {
	said := func(a *Solution) string { return strings.Join(a.Lines(), "\n") }
	got, _ := solve(t, spec(4, 3, proposal.MethodAuto), 6000, SolveUnits, 0.7)
	if !got.Cases[0].Edge || !strings.Contains(said(got), "a blind guess captures") || !strings.Contains(said(got), "or less") {
		t.Errorf("%+v\n%s", got, said(got))
	}
	wide, several := 64, 40
	if testing.Short() {
		wide, several = 24, 21
	}
	got, _ = solve(t, spec(wide, 1, proposal.MethodAuto), 2000, SolveEpsilon, 0.99999)
	if got.High != 0 || !strings.Contains(said(got), "nothing that was tried is predicted") && !strings.Contains(said(got), "no value that was tried") {
		t.Errorf("%+v\n%s", got, said(got))
	}
	got, _ = solve(t, spec(several, 2, proposal.MethodAuto), 2000, SolveComponents, 0.9999)
	if got.High != 0 || !strings.Contains(said(got), "no number of components up to 20") {
		t.Errorf("%+v\n%s", got, said(got))
	}
	s := spec(24, 2, proposal.MethodAuto)
	s.Unit = "patient"
	plan := func(v float64) (*study.Plan, error) { p, _ := planned(t, s, int(v)); return p, nil }
	if _, err := Solve(SolveUnits, 0.9, plan); !errors.Is(err, ErrNoPrediction) {
		t.Errorf("%v", err)
	}
	broken := errors.New("no plan")
	tried := 0.0 // as where a picture needs two components
	if _, err := Solve(SolveComponents, 0.9, func(v float64) (*study.Plan, error) {
		if tried = max(tried, v); v == 1 {
			return nil, broken
		}
		p, _ := planned(t, spec(8, int(v), proposal.MethodCovariance), 6000)
		return p, nil
	}); err != nil || tried < 2 {
		t.Errorf("tried up to %g components: %v", tried, err)
	}
	if _, err := Solve(SolveUnits, 0.9, func(float64) (*study.Plan, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	for _, share := range []float64{0, 1, -1, 2} {
		if _, err := Solve(SolveUnits, share, plan); err == nil {
			t.Errorf("a share of %v is solved for", share)
		}
	}
	if _, err := Solve("columns", 0.9, plan); err == nil {
		t.Error("columns are solved for")
	}
}

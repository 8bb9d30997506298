package worth

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"covey/internal/proposal"
	"covey/internal/study"
)

// What Solve leaves open.
const (
	SolveUnits      = "units"
	SolveEpsilon    = "epsilon"
	SolveComponents = "components"
)

// Solution is what it takes to capture a share, for each member of the family that [Predict]
// simulates. It is a range for tables of this family, not a bound.
type Solution struct {
	Open  string   `json:"open"` // one of the words above
	Share float64  `json:"captured"`
	Cases []Solved `json:"cases"` // by falls, from slow to steep
	// Low and High are the ends of the cases' values; Low is 0 where no case has one, High where
	// some case has none.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Few is as of a [Prediction], of some of the cases.
	Few bool `json:"few_units,omitempty"`
	// Outside says what of the answer lies outside what predictions were held against.
	Outside []string `json:"outside,omitempty"`
	Learned bool     `json:"learned_constants,omitempty"`
	// EveryRow is as of a [Prediction].
	EveryRow bool `json:"every_row_kept,omitempty"`
}

// Solved is the answer for one member.
type Solved struct {
	Fall float64 `json:"s"`
	// Value is the least number of units, the least ε or the most components whose predicted median
	// is at least the share; 0 where there is none.
	Value    float64 `json:"value"`
	Captured float64 `json:"captured_median"` // predicted there, or at the best that was tried
	Blind    float64 `json:"captured_blind"`
	// Edge reports whether Value is the end of what was tried: fewer units, a smaller ε or more
	// components may do.
	Edge bool `json:"edge,omitempty"`
}

// Ends of what is tried.
const (
	leastTried, mostTried     = 100, 1e9 // units
	leastEpsilon, mostEpsilon = 0.01, 100
	// fewest and most ε that laws of predictions had, or that scale to theirs with the units.
	heldEpsilonLeast, heldEpsilonMost = 0.1, 10.0
)

// Solve answers with what is left open of a study: its units, its ε or its number of components.
// plan returns the plan at a value of it; a value that it has no plan for, or that no prediction is
// made of, does not do. It takes up to a minute. The error is plan's, or wraps [ErrNoPrediction],
// where that is so of every value.
func Solve(open string, share float64, plan func(value float64) (*study.Plan, error)) (*Solution, error) {
	if !(share > 0 && share < 1) {
		return nil, fmt.Errorf("worth: a captured share must be between 0 and 1, got %v", share)
	}
	out := &Solution{Open: open, Share: share}
	s := &solver{share: share, plan: plan, made: map[float64]*forecast{}, seen: map[point]Case{}}
	for _, fall := range falls {
		var got Solved
		switch open {
		case SolveUnits:
			got = s.least(fall, round3(leastTried, mostTried))
		case SolveEpsilon:
			got = s.least(fall, round3(leastEpsilon, mostEpsilon))
		case SolveComponents:
			got = s.most(fall)
		default:
			return nil, fmt.Errorf("worth: unknown %q", open)
		}
		out.Cases = append(out.Cases, got)
	}
	if len(s.seen) == 0 {
		return nil, s.err
	}
	out.ends()
	out.hold(s)
	return out, nil
}

// ends sets Low and High.
func (a *Solution) ends() {
	all := true
	for _, c := range a.Cases {
		if c.Value == 0 {
			all = false
			continue
		}
		if a.Low == 0 || c.Value < a.Low {
			a.Low = c.Value
		}
		a.High = max(a.High, c.Value)
	}
	if !all && a.Open != SolveComponents { // components: a case of none is the low end
		a.High = 0
	} else if !all {
		a.Low = 0
	}
}

// hold says what of the answer was not held against studies.
func (a *Solution) hold(s *solver) {
	for _, f := range s.made {
		if f == nil {
			continue
		}
		a.Learned = f.plan.Proposal.Spec.Standardizes()
		a.EveryRow = f.plan.Proposal.Spec.Missing == proposal.MissingDropRow
		if f.plan.D > mostColumns {
			a.Outside = append(a.Outside, fmt.Sprintf("more than %d columns", mostColumns))
		}
		a.Few = a.Open != SolveUnits && f.plan.N < leastUnits
		break
	}
	a.Few = a.Few || a.Open == SolveUnits && a.Low > 0 && a.Low < leastUnits
	if a.Open == SolveEpsilon && a.Low > 0 && (a.Low < heldEpsilonLeast || max(a.Low, a.High) > heldEpsilonMost) {
		a.Outside = append(a.Outside, fmt.Sprintf("ε outside %g to %g", heldEpsilonLeast, heldEpsilonMost))
	}
}

type point struct{ fall, value float64 }

// solver keeps what was predicted.
type solver struct {
	share float64
	plan  func(float64) (*study.Plan, error)
	made  map[float64]*forecast // nil where there is none
	seen  map[point]Case
	err   error // the last value's that had no plan or prediction
}

// at returns the prediction at a value, false where there is none.
func (s *solver) at(fall, value float64) (Case, bool) {
	if c, ok := s.seen[point{fall, value}]; ok {
		return c, true
	}
	f, tried := s.made[value]
	if !tried {
		p, err := s.plan(value)
		if err == nil {
			f, err = newForecast(p)
		}
		if err != nil {
			f, s.err = nil, err
		}
		s.made[value] = f
	}
	if f == nil {
		return Case{}, false
	}
	c := f.at(fall, 1)
	s.seen[point{fall, value}] = c
	return c, true
}

// least searches ascending values for the first whose median is the share, by halves: a median
// grows with the value, since all are simulated with the same draws. It falls once, a little, where
// noise becomes so small that rows are clipped high from there on: what is below is searched, too.
func (s *solver) least(fall float64, values []float64) Solved {
	out := Solved{Fall: fall}
	do := func(i int) bool {
		c, ok := s.at(fall, values[i])
		return ok && c.Median >= s.share
	}
	low, high := 0, len(values)-1
	if !do(high) {
		c := s.seen[point{fall, values[high]}]
		out.Captured, out.Blind = c.Median, c.Blind
		return out
	}
	if do(low) {
		high, out.Edge = low, true
	}
	halve := func(high int, is func(int) bool) int {
		for low := low; high-low > 1; {
			if mid := (low + high) / 2; is(mid) {
				high = mid
			} else {
				low = mid
			}
		}
		return high
	}
	high = halve(high, do)
	once := func(i int) bool { // all parts are clipped high
		_, ok := s.at(fall, values[i])
		return ok && s.made[values[i]].plan.ClipQuantile(0) == s.made[values[i]].plan.ClipQuantile(1)
	}
	if once(high) && !once(low) {
		if below := halve(high, once) - 1; below > low && do(below) {
			high = halve(below, do)
		}
	}
	c := s.seen[point{fall, values[high]}]
	out.Value, out.Captured, out.Blind = values[high], c.Median, c.Blind
	return out
}

// most searches the most components that capture the share and for which a blind guess does not.
func (s *solver) most(fall float64) Solved {
	out := Solved{Fall: fall}
	for k := 1; k <= mostPredicted; k++ {
		c, ok := s.at(fall, float64(k))
		if !ok && k == 1 { // a picture needs 2
			continue
		}
		if !ok {
			break
		}
		if c.Blind >= s.share {
			break
		}
		if c.Median >= s.share {
			out.Value, out.Captured, out.Blind, out.Edge = float64(k), c.Median, c.Blind, k == mostPredicted
		} else if out.Value == 0 && c.Median > out.Captured {
			out.Captured, out.Blind = c.Median, c.Blind
		}
	}
	return out
}

// round3 are numbers of three digits, about 5% apart.
func round3(low, high float64) []float64 {
	var out []float64
	for v := low; v <= high*(1+1e-9); v *= 1.05 {
		step := math.Pow(10, math.Floor(math.Log10(v))-2)
		r := math.Round(v/step) * step
		if step < 1 { // the nearest float of so many digits
			r = math.Round(v/step) / math.Round(1/step)
		}
		out = append(out, r)
	}
	return append(out, high)
}

// percent is [percent] with as many digits as the share that was asked for: 99.99% is not "99.9%".
func (a *Solution) percent(v float64) string {
	digits := max(1, min(8, len(strconv.FormatFloat(a.Share, 'f', -1, 64))-len("0.00")))
	unit := math.Pow10(digits)
	return fmt.Sprintf("%.*f%%", digits, math.Floor(100*unit*v+1e-6)/unit)
}

// Lines returns the answer in words.
func (a *Solution) Lines() []string {
	out := []string{a.all()}
	for _, c := range a.Cases {
		out = append(out, a.member(c))
	}
	out = append(out, "this is the median of simulated studies of normal rows: a spectrum that falls faster needs less, few rows with a direction of their own, heavy tails and a slower spectrum more; `simulate` tries it on rows")
	if a.Few {
		out = append(out, fewText)
	}
	for _, what := range a.Outside {
		out = append(out, fmt.Sprintf("%s: outside what such predictions were checked against", what))
	}
	if a.Learned {
		out = append(out, fmt.Sprintf("constants are learned: this covers the covariance, with %g times the loss that is simulated", learnedLoss))
	}
	if a.EveryRow {
		out = append(out, everyRow)
	}
	return out
}

// all returns the answer for the whole family.
func (a *Solution) all() string {
	switch {
	case a.Low == 0 && a.High == 0 && a.Open == SolveComponents:
		return fmt.Sprintf("no number of components up to %d is predicted to capture %s", mostPredicted, a.percent(a.Share))
	case a.Low == 0 && a.High == 0:
		return fmt.Sprintf("no value that was tried, up to %s, is predicted to capture %s", a.value(map[string]float64{SolveUnits: mostTried, SolveEpsilon: mostEpsilon}[a.Open]), a.percent(a.Share))
	case a.High == 0:
		return fmt.Sprintf("from %s on, where the spectrum falls steeply; where it falls slowly nothing that was tried is predicted to capture %s", a.value(a.Low), a.percent(a.Share))
	case a.Open == SolveComponents && a.Low == 0:
		return fmt.Sprintf("up to %s, depending on how fast the spectrum falls; none for some of the family", a.value(a.High))
	case a.Low == a.High:
		beyond := ""
		if slices.ContainsFunc(a.Cases, func(c Solved) bool { return c.Edge }) {
			beyond = map[bool]string{true: " or more", false: " or less"}[a.Open == SolveComponents]
		}
		return a.value(a.Low) + beyond + " for all of the family"
	}
	return fmt.Sprintf("%s to %s, depending on how fast the spectrum falls", a.value(a.Low), a.value(a.High))
}

// member returns the answer for one member of the family.
func (a *Solution) member(c Solved) string {
	text := fmt.Sprintf("eigenvalues 1/(1+%g·j): ", c.Fall)
	switch {
	case c.Value == 0 && c.Captured == 0:
		text += "a blind guess captures as much, or nothing is predicted"
	case c.Value == 0:
		text += fmt.Sprintf("none; the best that was tried is predicted to capture %s", a.percent(c.Captured))
	case c.Edge && a.Open == SolveComponents:
		text += fmt.Sprintf("%s or more, predicted to capture %s", a.value(c.Value), a.percent(c.Captured))
	case c.Edge:
		text += fmt.Sprintf("%s or less, predicted to capture %s", a.value(c.Value), a.percent(c.Captured))
	default:
		text += fmt.Sprintf("%s, predicted to capture %s", a.value(c.Value), a.percent(c.Captured))
	}
	if c.Blind >= a.Share {
		text += fmt.Sprintf("; a blind guess captures %s, so this share says little", a.percent(c.Blind))
	}
	return text
}

// value returns a value of what is open, in words.
func (a *Solution) value(v float64) string {
	switch a.Open {
	case SolveUnits:
		return fmt.Sprintf("%.0f units", v)
	case SolveEpsilon:
		return fmt.Sprintf("ε = %.3g", v)
	case SolveComponents:
		if v == 1 {
			return "1 component"
		}
		return fmt.Sprintf("%.0f components", v)
	}
	return ""
}

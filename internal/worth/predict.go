package worth

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"covey/internal/proposal"
	"covey/internal/study"
)

// Prediction is what a study may capture, from its public sizes alone: it is simulated for normal
// rows of columns of unit variance whose eigenvalues fall like 1/(1+s·j), j = 0, 1, ..., for a few
// s between slow and steep. It is a range for tables of this family, not a bound.
type Prediction struct {
	Cases []Case `json:"cases"`
	// Needed is about how many units the slowest case would take to capture [enough]; 0 where it
	// does, or where even a thousand times as many would not.
	Needed int `json:"units_needed,omitempty"`
	// Learned reports whether the study learns the columns' constants: the cases are then of the
	// covariance with the budget that is left, and lose learnedLoss times what is simulated.
	Learned bool `json:"learned_constants,omitempty"`
	// EveryRow reports that the study leaves rows with a missing value out, and that it is
	// simulated as if no row had one: public sizes do not say how many have.
	EveryRow bool `json:"every_row_kept,omitempty"`
	// Few reports that there are too few units for results to have figures. Such studies capture
	// less than simulated ones, so a case's Median assumes fewLoss times the simulated loss, and
	// its Lowest is at most a blind guess, whatever the worst simulated study captured.
	Few bool `json:"few_units,omitempty"`
	// Outside is where such predictions were not held against studies.
	Outside []string `json:"outside,omitempty"`
}

// everyRow is the warning for studies that leave rows out. The noise is for sums over all n units,
// but only the kept rows are in them.
const everyRow = "rows with a missing value are left out, but this prediction assumes that every row is kept: if a share s is kept, noise and sampling are those of s·n units"

// fewText is said of studies of few units.
var fewText = fmt.Sprintf("studies of fewer than %d units capture less than is simulated: %g times the simulated loss is predicted, and the worst may capture no more than a blind guess", leastUnits, fewLoss)

// Case is one member of the family.
type Case struct {
	Fall   float64 `json:"s"`
	Method string  `json:"method"`
	Median float64 `json:"captured_median"`
	Lowest float64 `json:"captured_lowest"` // of the simulated runs; of [Prediction.Few] at most Blind
	// Blind is what random components capture on average. With few columns or many components this
	// is a large share, and a captured share then says little.
	Blind float64 `json:"captured_blind"`
}

const (
	predictRuns = 16
	predictSeed = 0x707265646963 // any
	// enough is the captured share that Needed is for.
	enough = 0.9
	// learnedLoss is how much more studies lose where they learn constants than is simulated with
	// the budget that is left, as measured (docs/experiments.md).
	learnedLoss = 1.5
	// fewLoss is the same of studies of few units.
	fewLoss = 1.5
	// mostSimulated is how many eigenvalues a covariance is simulated with: of more, the tail is
	// taken together in groups of equal size.
	mostSimulated = 72
	// mostPredicted and mostWork bound a simulation to some seconds, whatever a proposal asks for:
	// components, and rounds times columns times components squared.
	mostPredicted = 20
	mostWork      = 3e6
)

// ErrNoPrediction is for studies whose shape is not simulated.
var ErrNoPrediction = errors.New("no prediction")

// Predict simulates what a study of these public sizes captures. Every study is simulated with the
// same draws, so that everybody sees the same, and that two plans differ by their sizes alone. It
// takes up to some ten seconds. The error wraps [ErrNoPrediction] and says why.
func Predict(p *study.Plan) (*Prediction, error) {
	f, err := newForecast(p)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Learned: p.Proposal.Spec.Standardizes(), EveryRow: p.Proposal.Spec.Missing == proposal.MissingDropRow}
	for _, fall := range falls {
		out.Cases = append(out.Cases, f.at(fall, 1))
	}
	out.Few = p.N < leastUnits // histograms are read in part, which is not simulated
	if p.D > mostColumns {
		out.Outside = append(out.Outside, fmt.Sprintf("more than %d columns", mostColumns))
	}
	if out.Cases[0].Median < enough {
		out.Needed = f.needed(falls[0])
	}
	return out, nil
}

// Lines returns the prediction in words.
func (a *Prediction) Lines() []string {
	slow, steep := a.Cases[0], a.Cases[len(a.Cases)-1]
	worst := slices.MinFunc(a.Cases, func(a, b Case) int { return cmp.Compare(a.Lowest, b.Lowest) })
	lowest := fmt.Sprintf("the worst of %d simulated studies captures %s", predictRuns*len(a.Cases), percent(worst.Lowest))
	if a.Few {
		lowest = fewText
	}
	out := []string{
		fmt.Sprintf("captures about %s of the variance that as many components could where the spectrum falls slowly (eigenvalues 1/(1+%g·j)), %s where it falls steeply (1/(1+%g·j)); a blind guess %s and %s",
			percent(slow.Median), slow.Fall, percent(steep.Median), steep.Fall, percent(slow.Blind), percent(steep.Blind)),
		lowest + "; less where half of the rows, or fewer, carry a direction of their own, or columns are skewed or heavy-tailed",
	}
	for _, what := range a.Outside {
		out = append(out, what+": outside what such predictions were checked against")
	}
	if a.Needed > 0 {
		out = append(out, fmt.Sprintf("about %d units would make it %s where the spectrum falls slowly", a.Needed, percent(enough)))
	}
	if a.Learned {
		out = append(out, fmt.Sprintf("constants are learned: this prediction covers the covariance, with the budget that is left and %g times the loss that is simulated; skewed columns and columns of many zeros lose more", learnedLoss))
	}
	if a.EveryRow {
		out = append(out, everyRow)
	}
	return out
}

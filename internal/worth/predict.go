package worth

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

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
	// Outside is where such predictions were not held against studies.
	Outside []string `json:"outside,omitempty"`
}

// everyRow is said of studies that leave rows out. Noise is that of the sums of all n units, and
// only the rows that are kept are in them.
const everyRow = "rows with a missing value are left out, but this prediction assumes that every row is kept: if a share s is kept, noise and sampling are those of s·n units"

// Case is one member of the family.
type Case struct {
	Fall   float64 `json:"s"`
	Method string  `json:"method"`
	Median float64 `json:"captured_median"`
	Lowest float64 `json:"captured_lowest"` // of the simulated runs
	// Blind is what components picked without looking capture on average: of few columns, or of
	// many components, a large share that says nothing.
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
	// mostSimulated is how many eigenvalues a covariance is simulated with: of more, the tail is
	// taken together in groups of equal size.
	mostSimulated = 72
	// mostPredicted and mostWork bound a simulation to some seconds, whatever a proposal asks for:
	// components, and rounds times columns times components squared.
	mostPredicted = 20
	mostWork      = 3e6
)

// falls are the family's members, from slow to steep.
var falls = []float64{0.05, 0.2, 1, 5}

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
	if p.N < leastUnits { // of so few, histograms are read in part, which is not simulated
		out.Outside = append(out.Outside, fmt.Sprintf("fewer than %d units, for which they are often too high", leastUnits))
	}
	if p.D > mostColumns {
		out.Outside = append(out.Outside, fmt.Sprintf("more than %d columns", mostColumns))
	}
	if out.Cases[0].Median < enough {
		out.Needed = f.needed(falls[0])
	}
	return out, nil
}

// Lines say it for people.
func (a *Prediction) Lines() []string {
	slow, steep := a.Cases[0], a.Cases[len(a.Cases)-1]
	out := []string{
		fmt.Sprintf("captures about %s of the variance that as many components could where the spectrum falls slowly (eigenvalues 1/(1+%g·j)), %s where it falls steeply (1/(1+%g·j)); a blind guess %s and %s",
			percent(slow.Median), slow.Fall, percent(steep.Median), steep.Fall, percent(slow.Blind), percent(steep.Blind)),
		fmt.Sprintf("the worst of %d simulated studies captures %s; less where a third of the rows, or fewer, carry a direction of their own, or columns are skewed or heavy-tailed", predictRuns*len(a.Cases), percent(a.lowest())),
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

func (a *Prediction) lowest() float64 {
	low := 1.0
	for _, c := range a.Cases {
		low = min(low, c.Lowest)
	}
	return low
}

// forecast holds what the simulations of a plan share.
type forecast struct {
	plan    *study.Plan
	means   []study.Query // of a released center
	moments []study.Query
	steps   []study.Query
}

// newForecast returns the forecast of a plan to simulate.
func newForecast(p *study.Plan) (*forecast, error) {
	s := p.Proposal.Spec
	switch {
	case s.Profile == proposal.ProfilePaper || s.Accountant == proposal.AccountantPaper:
		return nil, fmt.Errorf("%w for the paper's profile", ErrNoPrediction)
	case s.Standardizes() && s.Method == proposal.MethodPower:
		return nil, fmt.Errorf("%w for power iteration where a study learns the columns' constants", ErrNoPrediction)
	case s.Standardizes() && !(p.Learning.Score >= leastScore):
		return nil, fmt.Errorf("%w where a study is too small to learn the columns' constants well", ErrNoPrediction)
	case p.Shares().Levels > 0:
		return nil, fmt.Errorf("%w for columns with levels", ErrNoPrediction)
	case s.KeepsGaps():
		return nil, fmt.Errorf("%w where cells without a value are kept: how many there are decides", ErrNoPrediction)
	case s.Unit != "":
		return nil, fmt.Errorf("%w for units of several rows: how alike a unit's rows are decides", ErrNoPrediction)
	case s.Components == proposal.ComponentsAuto:
		return nil, fmt.Errorf("%w for a number of components that the study finds", ErrNoPrediction)
	case s.Subspace == proposal.SubspaceDeflation && p.K > 1:
		return nil, fmt.Errorf("%w for components one after another", ErrNoPrediction)
	case p.K > mostPredicted:
		return nil, fmt.Errorf("%w for more than %d components", ErrNoPrediction, mostPredicted)
	}
	f := &forecast{plan: p}
	for _, q := range p.Queries {
		switch {
		case q.Kind == study.KindMean && !s.Standardizes():
			f.means = append(f.means, q)
		case q.Kind == study.KindMoment:
			f.moments = append(f.moments, q)
		case q.Kind == study.KindPower && q.Run == 0 && !s.Standardizes():
			f.steps = append(f.steps, q)
		}
	}
	if float64(len(f.steps))*float64(p.D)*float64(p.K*p.K) > mostWork {
		return nil, fmt.Errorf("%w for power iteration of so many rounds, columns and components: it would take long", ErrNoPrediction)
	}
	return f, nil
}

// at is the case of one spectrum, with so many times the units. Of two methods it is the better:
// auto decides much like that.
func (f *forecast) at(fall, units float64) Case {
	lambda := make([]float64, f.plan.D)
	sum := 0.0
	for j := range lambda {
		lambda[j] = 1 / (1 + fall*float64(j))
		sum += lambda[j]
	}
	for j := range lambda { // columns of unit variance
		lambda[j] *= float64(len(lambda)) / sum
	}
	top := 0.0
	for _, v := range lambda[:f.plan.K] {
		top += v
	}
	best := Case{Fall: fall, Blind: float64(f.plan.K) / top} // the mean eigenvalue is 1
	take := func(method string, run func(rng *rand.Rand) float64) {
		shares := make([]float64, predictRuns)
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i := range shares {
			group.Go(func() error {
				shares[i] = run(rand.New(rand.NewPCG(predictSeed, uint64(i))))
				return nil
			})
		}
		group.Wait()
		if f.plan.Proposal.Spec.Standardizes() {
			for i, v := range shares {
				shares[i] = max(min(v, best.Blind), 1-learnedLoss*(1-v))
			}
		}
		slices.Sort(shares)
		if m := shares[len(shares)/2]; best.Method == "" || m > best.Median {
			best.Method, best.Median, best.Lowest = method, m, shares[0]
		}
	}
	if len(f.moments) > 0 {
		c := f.covariance(lambda, units)
		take(proposal.MethodCovariance, c.run)
	}
	if len(f.steps) > 0 {
		s := f.power(lambda, units)
		take(proposal.MethodPower, func(rng *rand.Rand) float64 { return s.captures(rng, lambda) })
	}
	return best
}

// needed searches the units by halving the logarithm.
func (f *forecast) needed(fall float64) int {
	low, high := 1.0, 1000.0
	if f.at(fall, high).Median < enough {
		return 0
	}
	for high/low > 1.1 {
		if mid := math.Sqrt(low * high); f.at(fall, mid).Median < enough {
			low = mid
		} else {
			high = mid
		}
	}
	n := high * float64(f.plan.N)
	step := math.Pow(10, math.Floor(math.Log10(n))-1) // two digits
	return int(math.Ceil(n/step) * step)
}

// noise is the standard deviation of a query's mean of units on each number, in squared units of
// the columns, at a radius.
func (f *forecast) noise(q study.Query, radius, units float64) float64 {
	sigma, err := f.plan.Noise.Sigma(q, radius)
	if err != nil {
		return math.Inf(1)
	}
	return sigma.Float() * study.Grid(radius) * f.plan.NoiseFactor / (float64(f.plan.N) * units)
}

// lengths returns sorted samples of ‖y‖² of normal rows.
func lengths(lambda []float64, rng *rand.Rand) []float64 {
	sum, square := 0.0, 0.0
	for _, v := range lambda {
		sum += v
		square += 2 * v * v
	}
	// The sum of squares by a gamma law of the same mean and variance.
	shape, out := sum*sum/square, make([]float64, 400)
	for i := range out {
		// Wilson and Hilferty's cube.
		v := 1 / (9 * shape)
		out[i] = sum * math.Pow(max(0.01, 1-v+math.Sqrt(v)*rng.NormFloat64()), 3)
	}
	slices.Sort(out)
	return out
}

// center returns the variance of a released center's noise on each number, for rows of these
// squared lengths about offsets that are the means; 0 where none is released.
func (f *forecast) center(squares []float64, units float64) float64 {
	precision := 0.0
	for _, q := range f.means {
		s := f.noise(q, math.Sqrt(squares[int(0.9*float64(len(squares)-1))]), units)
		precision += 1 / (s * s)
	}
	if precision == 0 {
		return 0
	}
	return 1 / precision
}

// noisy is a covariance that is simulated: eigenvalues, each of so many columns, the noise off the
// diagonal, and how many units there are.
type noisy struct {
	lambda, weight []float64
	k              int
	s, n           float64
	center         float64 // the variance of its noise; rows about it have that direction, too
	// learned is two over the number of columns where the matrix is divided by its own diagonal,
	// whose noise then adds to that between directions (see learned; loadings are taken for alike);
	// else 0.
	learned float64
}

func (f *forecast) covariance(lambda []float64, units float64) *noisy {
	p := f.plan
	squares := lengths(lambda, rand.New(rand.NewPCG(1, 1)))
	precision := 0.0
	for i, q := range f.moments {
		bound, public := p.Proposal.Spec.NormBound.Public()
		bound *= bound
		if !public {
			quantile := p.ClipQuantile(i)
			bound = squares[int(quantile*float64(len(squares)-1))]
		}
		part := 0.0
		for _, v := range squares {
			part += v * min(1, bound/v) / float64(len(squares))
		}
		s := f.noise(q, bound, units) / (part / float64(p.D)) // of the trace
		precision += 1 / (s * s)
	}
	out := &noisy{k: p.K, s: 1 / math.Sqrt(precision), n: float64(p.N) * units, center: f.center(squares, units)}
	if p.Proposal.Spec.Standardizes() {
		out.learned = 2 / float64(p.D)
	}
	head := min(p.D, max(2*p.K, mostSimulated*2/3))
	if p.D <= mostSimulated {
		head = p.D
	}
	rest := p.D - head
	groups := min(rest, mostSimulated/3)
	for j := range head {
		out.lambda, out.weight = append(out.lambda, lambda[j]), append(out.weight, 1)
	}
	for g := range groups {
		from, to := head+g*rest/groups, head+(g+1)*rest/groups
		mean := 0.0
		for _, v := range lambda[from:to] {
			mean += v / float64(to-from)
		}
		out.lambda, out.weight = append(out.lambda, mean), append(out.weight, float64(to-from))
	}
	return out
}

// run simulates one release and returns what its leading eigenvectors capture. A group of w columns
// moves a single one as w columns do: the entry's variance is w times as large.
func (c *noisy) run(rng *rand.Rand) float64 {
	d := len(c.lambda)
	m := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			columns := c.weight[i] * c.weight[j]
			if c.weight[i] > 1 && c.weight[j] > 1 {
				columns = math.Sqrt(columns)
			}
			off := 1 - (c.lambda[i]+c.lambda[j])/2
			noise := c.s * c.s / 2 * (1 + c.learned*max(-1, off*off-1))
			variance := (noise + c.lambda[i]*c.lambda[j]/c.n) * columns
			if i == j {
				m.SetSym(i, i, c.lambda[i]+math.Sqrt(2*variance)*rng.NormFloat64())
			} else {
				m.SetSym(i, j, math.Sqrt(variance)*rng.NormFloat64())
			}
		}
	}
	if c.center > 0 {
		center := mat.NewVecDense(d, nil)
		for i, w := range c.weight {
			center.SetVec(i, math.Sqrt(c.center*w)*rng.NormFloat64())
		}
		m.SymRankOne(m, 1, center)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(m, true) {
		return 0
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	got, best := 0.0, 0.0
	for i := range c.k {
		best += c.lambda[i]
		for j := range d {
			v := vectors.At(j, d-1-i)
			got += c.lambda[j] * v * v
		}
	}
	return got / best
}

// power is the shape of the plan's power iteration on rows of a spectrum.
func (f *forecast) power(lambda []float64, units float64) *shape {
	p := f.plan
	s := &shape{d: p.D, k: p.K, n: float64(p.N) * units, sphere: p.Method.Sphere}
	s.center = f.center(lengths(lambda, rand.New(rand.NewPCG(1, 1))), units)
	rng := rand.New(rand.NewPCG(2, 2))
	a, length, quantile := lambda, math.Sqrt(float64(p.D)), p.Method.StepQuantile()
	if s.sphere {
		a, length = sphere(lambda), 1
		sum := 0.0
		for _, v := range a {
			sum += v
		}
		a = slices.Clone(a)
		for i := range a {
			a[i] /= sum
		}
	}
	// ‖Xᵀy‖ of normal rows once X has found the leading directions, and of a random X.
	radius := func(top []float64) float64 {
		all := make([]float64, 400)
		for i := range all {
			sum := 0.0
			for _, v := range top {
				g := rng.NormFloat64()
				sum += v * g * g
			}
			all[i] = math.Sqrt(sum) * length
		}
		slices.Sort(all)
		return all[int(quantile*float64(len(all)-1))]
	}
	mean := 0.0
	for _, v := range a {
		mean += v / float64(len(a))
	}
	start := make([]float64, s.k)
	for i := range start {
		start[i] = mean
	}
	early, late := radius(start), radius(a[:s.k])
	theta := 0.0
	for _, v := range a[:s.k] {
		theta += v / float64(s.k)
	}
	theta *= quantile // what a clip leaves of the signal, about
	for t, q := range f.steps {
		at := late
		if public := p.Radius; public > 0 {
			at = public
		} else if t < 2 {
			at = (early + late) / 2
		}
		s.tau = append(s.tau, f.noise(q, at, units)/theta)
	}
	s.pooled = p.Output(s.tau[len(s.tau)-1]*math.Sqrt(float64(p.D))) == proposal.OutputPooled
	return s
}

package worth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"covey/internal/prior"
	"covey/internal/proposal"
	"covey/internal/study"
)

// falls are the family's members, from slow to steep.
var falls = []float64{0.05, 0.2, 1, 5}

// forecast holds what the simulations of a plan share.
type forecast struct {
	plan    *study.Plan
	means   []study.Query // of a released center
	moments []study.Query
	steps   []study.Query
}

// unpredicted returns an [ErrNoPrediction] for a plan whose studies no simulation was checked
// against, and nil for any other.
func unpredicted(p *study.Plan) error {
	s := p.Proposal.Spec
	switch {
	case s.Profile == proposal.ProfilePaper || s.Accountant == proposal.AccountantPaper:
		return fmt.Errorf("%w for the paper's profile", ErrNoPrediction)
	case s.Lambda == proposal.LambdaPrivate: // its radius is tens of times that of a quantile
		return fmt.Errorf("%w for a radius from a private lambda, which is not known before", ErrNoPrediction)
	case s.Output == proposal.OutputRandom: // the last round would be simulated
		return fmt.Errorf("%w for the output of a random round, which may be an early one", ErrNoPrediction)
	case s.Start != nil:
		return fmt.Errorf("%w for a given start: how near it is to the answer decides", ErrNoPrediction)
	case s.Standardizes() && s.Method == proposal.MethodPower:
		return fmt.Errorf("%w for power iteration where a study learns the columns' constants", ErrNoPrediction)
	case s.Standardizes() && !(p.Learning.Score >= leastScore):
		return fmt.Errorf("%w where a study is too small to learn the columns' constants well", ErrNoPrediction)
	case p.Shares().Levels > 0:
		return fmt.Errorf("%w for columns with levels", ErrNoPrediction)
	case s.KeepsGaps():
		return fmt.Errorf("%w where cells without a value are kept: how many there are decides", ErrNoPrediction)
	case s.Unit != "":
		return fmt.Errorf("%w for units of several rows: how alike a unit's rows are decides", ErrNoPrediction)
	case s.Components == proposal.ComponentsAuto:
		return fmt.Errorf("%w for a number of components that the study finds", ErrNoPrediction)
	case s.Subspace == proposal.SubspaceDeflation && p.K > 1:
		return fmt.Errorf("%w for components one after another", ErrNoPrediction)
	case p.K > mostPredicted:
		return fmt.Errorf("%w for more than %d components", ErrNoPrediction, mostPredicted)
	}
	return nil
}

// newForecast returns the forecast of a plan to simulate.
func newForecast(p *study.Plan) (*forecast, error) {
	if err := unpredicted(p); err != nil {
		return nil, err
	}
	learns := p.Proposal.Spec.Standardizes()
	f := &forecast{plan: p}
	for _, q := range p.Queries {
		switch {
		case q.Kind == study.KindMean && !learns:
			f.means = append(f.means, q)
		case q.Kind == study.KindMoment:
			f.moments = append(f.moments, q)
		case q.Kind == study.KindPower && q.Run == 0 && !learns:
			f.steps = append(f.steps, q)
		}
	}
	if float64(len(f.steps))*float64(p.D)*float64(p.K*p.K) > mostWork {
		return nil, fmt.Errorf("%w for power iteration of so many rounds, columns and components: it would take long", ErrNoPrediction)
	}
	return f, nil
}

// at is the case of one spectrum, with so many times the units. Where auto decides by a radius, the
// better method's is taken: auto decides much like that.
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
	power, covariance := len(f.steps) > 0, len(f.moments) > 0
	if f.plan.Method.Mixed {
		follow := f.follow(lambda, units)
		power, covariance = follow, !follow
	}
	if covariance {
		c := f.covariance(lambda, units)
		take(proposal.MethodCovariance, c.run)
	}
	if power {
		s := f.power(lambda, units)
		take(proposal.MethodPower, func(rng *rand.Rand) float64 { return s.Run(rng, lambda).Captured() })
	}
	if float64(f.plan.N)*units < leastUnits {
		best.Median, best.Lowest = max(min(best.Median, best.Blind), 1-fewLoss*(1-best.Median)), min(best.Lowest, best.Blind)
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

// spread is the noise of the diagonal of parts of a covariance together, over the mean eigenvalue.
func (f *forecast) spread(parts []study.Query, squares []float64, units float64) float64 {
	p, precision := f.plan, 0.0
	for i, q := range parts {
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
	return 1 / math.Sqrt(precision)
}

// follow reports whether power rounds follow the first parts of a covariance, as in one simulated
// study: of so many columns all say much the same.
func (f *forecast) follow(lambda []float64, units float64) bool {
	s := f.spread(f.moments[:2], lengths(lambda, rand.New(rand.NewPCG(1, 1))), units)
	rng, m, n := rand.New(rand.NewPCG(3, 3)), mat.NewSymDense(len(lambda), nil), float64(f.plan.N)*units
	for i, a := range lambda {
		for j, b := range lambda[:i] {
			m.SetSym(i, j, math.Sqrt(s*s/2+a*b/n)*rng.NormFloat64())
		}
		m.SetSym(i, i, a+math.Sqrt(s*s+2*a*a/n)*rng.NormFloat64())
	}
	var eigen mat.EigenSym
	return eigen.Factorize(m, false) && f.plan.RoundsFollow(eigen.Values(nil), s)
}

func (f *forecast) covariance(lambda []float64, units float64) *noisy {
	p := f.plan
	squares := lengths(lambda, rand.New(rand.NewPCG(1, 1)))
	out := &noisy{k: p.K, s: f.spread(f.moments, squares, units), n: float64(p.N) * units, center: f.center(squares, units)}
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

// power is the plan's power iteration on rows of a spectrum.
func (f *forecast) power(lambda []float64, units float64) *prior.Study {
	p := f.plan
	s := &prior.Study{D: p.D, K: p.K, N: float64(p.N) * units, Sphere: p.Method.Sphere}
	squares := lengths(lambda, rand.New(rand.NewPCG(1, 1)))
	s.Center = f.center(squares, units)
	if p.Method.Mixed {
		s.First = &prior.Begun{Noise: f.spread(f.moments[:2], squares, units), Kept: 1}
	}
	rng := rand.New(rand.NewPCG(2, 2))
	a, length, quantile := lambda, math.Sqrt(float64(p.D)), p.Method.StepQuantile()
	if s.Sphere {
		a, length = prior.Sphere(lambda), 1
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
	early, late := radius(slices.Repeat([]float64{mean(a)}, s.K)), radius(a[:s.K])
	theta := 0.0
	for _, v := range a[:s.K] {
		theta += v / float64(s.K)
	}
	theta *= quantile // what a clip leaves of the signal, about
	for t, q := range f.steps {
		at := late
		if public := p.Radius; public > 0 {
			at = public
		} else if t < 2 && s.First == nil {
			at = (early + late) / 2
		}
		s.Tau = append(s.Tau, f.noise(q, at, units)/theta)
	}
	s.Pooled = p.Output(s.Tau[len(s.Tau)-1]*math.Sqrt(float64(p.D))) == proposal.OutputPooled
	return s
}

func mean(values []float64) float64 {
	out := 0.0
	for _, v := range values {
		out += v / float64(len(values))
	}
	return out
}

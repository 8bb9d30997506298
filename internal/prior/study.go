package prior

import (
	"math"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"covey/internal/linalg"
)

// Study is a study as it is simulated: its noise relative to the signal is known, its start
// uniform, its spectrum drawn from a public family. Rows and noise look alike in every basis, so
// that all is simulated in the eigenvectors' own.
type Study struct {
	D, K   int // columns and components
	N      float64
	Tau    []float64 // of each round, over the signal
	Pooled bool      // the output; else the last round's
	Sphere bool      // rows are on the unit sphere
	// Center is the variance of a released center's noise on each number, over the mean eigenvalue;
	// rows about such a center have its direction, too.
	Center float64
	// First is the covariance whose components the rounds start at; nil for a uniform start.
	First *Begun
}

// Draw is one simulated study: what it shows and what it is worth.
type Draw struct {
	Features []float64
	Share    float64   // captured
	Tilt     []float64 // of each component, squared tangent
	Finished float64   // what as many rounds without noise and sampling would capture
}

// draws bounds: few enough for some seconds on one processor, many enough for the regression.
const (
	mostDraws  = 4000
	mostSingle = 10_000 // of one component, which is simulated fast
	leastDraws = 1500
	drawsWork  = 1.2e9 // of multiplications, roughly
	batch      = 50    // draws of one generator
)

func (s *Study) count() int {
	work, most := float64(len(s.Tau)*s.D*s.K)*(40+12*float64(s.K)), mostDraws
	switch {
	case s.First != nil: // all are of spectra much like the study's
		most = leastDraws
	case s.K == 1:
		most = mostSingle
	}
	return max(leastDraws, min(most, int(drawsWork/work))) / batch * batch
}

// Draws simulates studies. Batches have a generator each, seeded by rng, so that everyone who asks
// with the same gets the same draws on any number of processors.
func (s *Study) Draws(rng *rand.Rand) []Draw {
	out := make([]Draw, s.count())
	seeds := make([][2]uint64, len(out)/batch)
	for i := range seeds {
		seeds[i] = [2]uint64{rng.Uint64(), rng.Uint64()}
	}
	var group errgroup.Group
	group.SetLimit(max(1, runtime.GOMAXPROCS(0)/2))
	for b, seed := range seeds {
		group.Go(func() error {
			rng := rand.New(rand.NewPCG(seed[0], seed[1]))
			for i := b * batch; i < (b+1)*batch; i++ {
				out[i] = s.One(rng)
			}
			return nil
		})
	}
	group.Wait()
	return out
}

// tied is the part of the draws in which a component has the variance of the next one. Rounds stand
// still for one strong component as they do for one of two equal ones: without equal ones among the
// draws such a one would count as separated in a sixth of studies.
const tied = 0.1

// nearTied is the part of the draws of one component in which the second variance is less than the
// first by a part between leastGap and mostGap of it. Rounds hardly tell these from equal ones, and
// may have stopped at the second direction: without them among the draws, bounds hold in three
// quarters of such studies.
const nearTied, leastGap, mostGap = 0.2, 0.02, 0.15

// usualSize is about what rounds show of the signal: the rest is what noise turned away.
const usualSize = 0.9

// One simulates one study of the public family.
func (s *Study) One(rng *rand.Rand) Draw {
	lambda := s.spectrum(rng)
	switch i, u := rng.IntN(s.K), rng.Float64(); {
	case i+1 == s.D:
	case u < tied:
		lambda[i+1] = lambda[i]
	case s.K == 1 && u < tied+nearTied:
		lambda[1] = lambda[0] * (1 - leastGap*math.Pow(mostGap/leastGap, rng.Float64()))
		for l := 2; l < s.D; l++ {
			lambda[l] = min(lambda[l], lambda[1])
		}
	}
	return s.Alike(rng, lambda).Draw()
}

// spectrum draws one of the public family, much like that of the covariance that rounds started at.
func (s *Study) spectrum(rng *rand.Rand) []float64 {
	if s.First == nil {
		return Law(rng, s.D)
	}
	return s.First.near(func() []float64 { return Law(rng, s.D) })
}

// Run is one simulated study's rounds, and its output.
type Run struct {
	*world
	of     *Study
	rounds []Round
	output [][]float64
}

func (s *Study) ended(rng *rand.Rand, w *world, size float64) Run {
	seen := s.rounds(rng, w, size)
	return Run{w, s, seen, s.output(rng, w, seen)}
}

// Run simulates a study of rows whose law has these eigenvalues, descending, and whose noise is
// relative to all of the signal.
func (s *Study) Run(rng *rand.Rand, lambda []float64) Run {
	return s.ended(rng, s.world(rng, lambda), 1)
}

// Alike simulates rounds that show the noise to signal that the study's did: what a first try shows
// of the signal is what the second one's noise is relative to.
func (s *Study) Alike(rng *rand.Rand, lambda []float64) Run {
	w := s.world(rng, lambda)
	if s.First != nil {
		return s.ended(rng, w, w.unit)
	}
	size := Signal(s.rounds(rng, w, usualSize))
	return s.ended(rng, w, max(0.1, min(1, size)))
}

// Captured is the share that the study's output captures.
func (r Run) Captured() float64 { return Captured(r.lambda, r.output) }

// Draw is what the study shows and what it is worth.
func (r Run) Draw() Draw {
	output := r.output
	shown := Features(r.rounds, output)
	if r.of.First != nil {
		shown = append(append(shown, r.shown...), math.Log(Signal(r.rounds)/r.unit))
	}
	return Draw{
		Features: shown, Share: Captured(r.lambda, output), Tilt: tilts(output),
		Finished: r.of.noiseless(r.a, r.lambda, r.start),
	}
}

// world is the rows of a simulated study and where it starts.
type world struct {
	lambda []float64   // of the law
	a      []float64   // of what rounds multiply by, over the leading ones' mean
	root   []float64   // √(a/√n)
	damp   []float64   // by the clip
	off    []float64   // the center, in the unit of √a; nil for none
	start  [][]float64 // not orthonormal
	// Where the start are a covariance's components: what that shows, the matrix itself, what a
	// round shows of it, and the unit of noise.
	shown  []float64
	noised noised
	kept   float64
	unit   float64
}

// seen are eigenvalues as rounds see them, over the leading ones' mean.
func (s *Study) seen(lambda []float64) []float64 {
	a := lambda
	if s.Sphere {
		a = Sphere(lambda)
	}
	top := 0.0
	for _, v := range a[:s.K] {
		top += v / float64(s.K)
	}
	a = append([]float64(nil), a...)
	for i := range a {
		a[i] /= top
	}
	return a
}

func (s *Study) world(rng *rand.Rand, lambda []float64) *world {
	a := s.seen(lambda)
	root := make([]float64, s.D)
	for i := range a {
		root[i] = math.Sqrt(a[i] / math.Sqrt(s.N))
	}
	w := &world{lambda: lambda, a: a, root: root, damp: damping(rng, a[:s.K]), start: normals(rng, s.K, s.D)}
	if s.First != nil {
		w.start, w.shown, w.noised = s.First.begin(rng, a, s.K, s.N)
		clip := 0.0
		for _, v := range w.damp {
			clip += v / float64(s.K)
		}
		w.kept = clip * math.Exp(misread*rng.NormFloat64())
		w.unit = moments(a)[0] * w.kept / s.First.Kept
	}
	if s.Center > 0 {
		mean := 0.0
		for _, v := range a {
			mean += v / float64(s.D)
		}
		w.off = normals(rng, 1, s.D)[0]
		for i := range w.off {
			w.off[i] *= math.Sqrt(s.Center * mean)
		}
	}
	return w
}

// rounds simulates the rounds, with noise times size.
func (s *Study) rounds(rng *rand.Rand, w *world, size float64) []Round {
	x := orthonormal(w.start)
	sampling := &sampler{root: w.root}
	seen := make([]Round, len(s.Tau))
	for t, tau := range s.Tau {
		tau *= size
		y := make([][]float64, s.K)
		for i := range y {
			y[i] = make([]float64, s.D)
			for l, v := range x[i] {
				y[i][l] = w.a[l] * v
			}
			if w.off != nil {
				add(y[i], w.off, floats.Dot(w.off, x[i]))
			}
		}
		if s.K > 1 { // the clip bounds a block by its norm, and so its strong directions more
			_, u := linalg.Jacobi(symmetric(gram(x, y)))
			y = times(y, conjugate(u, w.damp))
		}
		sampling.add(rng, x, y)
		for i := range y {
			for l := range y[i] {
				y[i][l] += tau * rng.NormFloat64()
			}
		}
		seen[t] = Round{X: x, Z: y, Tau: tau}
		x = orthonormal(y)
	}
	return seen
}

// output is what the study makes of its rounds: the leading directions of the last answer, or of
// the later half of them, each weighted by its noise, or of what a covariance and they say.
func (s *Study) output(rng *rand.Rand, w *world, seen []Round) [][]float64 {
	if s.First != nil {
		if found := s.posterior(rng, w, seen); found != nil {
			return found
		}
	}
	if !s.Pooled {
		last := seen[len(seen)-1].Z
		_, u := linalg.Jacobi(gram(last, last))
		return orthonormal(times(last, u))
	}
	half := seen[len(seen)/2:]
	q := orthonormal(half[len(half)-1].Z)
	if s.K == 1 {
		q = [][]float64{q[0]}
	}
	for range 12 {
		next := make([][]float64, s.K)
		for i := range next {
			next[i] = make([]float64, s.D)
		}
		for _, r := range half {
			w := 1 / (r.Tau * r.Tau)
			for _, z := range r.Z {
				for i := range q {
					add(next[i], z, w*floats.Dot(z, q[i]))
				}
			}
		}
		q = next
		_, u := linalg.Jacobi(gram(q, q))
		q = orthonormal(times(q, u))
	}
	return q
}

// posterior is what study.Plan makes of a covariance and rounds that start at its components; nil
// where eigenvalues do not converge.
func (s *Study) posterior(rng *rand.Rand, w *world, seen []Round) [][]float64 {
	var asked [][]float64
	for _, r := range seen {
		asked = append(asked, r.X...)
	}
	basis := span(append(asked, seen[len(seen)-1].Z...))
	products := make([]linalg.Products, len(seen))
	for t, r := range seen {
		products[t].Tau = r.Tau
		for i := range r.X {
			products[t].X = append(products[t].X, coordinates(r.X[i], basis))
			products[t].Z = append(products[t].Z, coordinates(r.Z[i], basis))
		}
	}
	m := moments(w.a)
	tau := s.First.Noise * m[0]
	square := m[1] + float64(s.D)*tau*tau/2
	found, ok := linalg.PriorOf(w.noised.along(rng, basis), m[0], square, tau, s.D).Times(w.kept).Leading(products, s.K)
	if !ok {
		return nil
	}
	out := make([][]float64, s.K)
	for i, v := range found {
		out[i] = combined(v, basis)
	}
	return orthonormal(out)
}

// Captured is the share of the law's variance, which is diagonal here.
func Captured(lambda []float64, output [][]float64) float64 {
	got, best := 0.0, 0.0
	for i, v := range output {
		for l, x := range v {
			got += lambda[l] * x * x
		}
		best += lambda[i]
	}
	return got / best
}

package worth

import (
	"math"
	"math/rand/v2"
	"runtime"

	"golang.org/x/sync/errgroup"

	"covey/internal/linalg"
	"covey/internal/study"
)

// shape is a study as it is simulated: its noise relative to the signal is known, its start
// uniform, its spectrum drawn from a public family. Rows and noise look alike in every basis, so
// that all is simulated in the eigenvectors' own.
type shape struct {
	d, k   int
	n      float64
	tau    []float64 // of each round, over the signal
	pooled bool      // the output; else the last round's
	sphere bool      // rows are on the unit sphere
	// center is the variance of a released center's noise on each number, over the mean eigenvalue;
	// rows about such a center have its direction, too. A result's bounds do not simulate it (see
	// mostBlurredRounds).
	center float64
	// first is the covariance whose components the rounds start at; nil for a uniform start.
	first *begun
}

// draws bounds: few enough for some seconds on one processor, many enough for the regression.
const (
	mostDraws  = 4000
	mostSingle = 10_000 // of one component, which is simulated fast
	leastDraws = 1500
	drawsWork  = 1.2e9 // of multiplications, roughly
	batch      = 50    // draws of one generator
)

func (s *shape) count() int {
	work, most := float64(len(s.tau)*s.d*s.k)*(40+12*float64(s.k)), mostDraws
	switch {
	case s.first != nil: // all are of spectra much like the study's
		most = leastDraws
	case s.k == 1:
		most = mostSingle
	}
	return max(leastDraws, min(most, int(drawsWork/work))) / batch * batch
}

// draw simulates studies. Batches have a generator each, keyed by the study's digest, so that
// everyone who asks gets the same draws on any number of processors.
func (s *shape) draw(p *study.Plan) []draw {
	out := make([]draw, s.count())
	rng := study.Public(p.Digest, "worth")
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
				out[i] = s.one(rng)
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

// one simulates one study of the public family.
func (s *shape) one(rng *rand.Rand) draw {
	lambda := s.spectrum(rng)
	switch i, u := rng.IntN(s.k), rng.Float64(); {
	case i+1 == s.d:
	case u < tied:
		lambda[i+1] = lambda[i]
	case s.k == 1 && u < tied+nearTied:
		lambda[1] = lambda[0] * (1 - leastGap*math.Pow(mostGap/leastGap, rng.Float64()))
		for l := 2; l < s.d; l++ {
			lambda[l] = min(lambda[l], lambda[1])
		}
	}
	w := s.world(rng, lambda)
	return s.made(w, s.alike(rng, w))
}

// spectrum draws one of the public family, much like that of the covariance that rounds started at.
func (s *shape) spectrum(rng *rand.Rand) []float64 {
	if s.first == nil {
		return spectrumLaw(rng, s.d)
	}
	return s.first.near(func() []float64 { return spectrumLaw(rng, s.d) })
}

// alike simulates rounds that show the noise to signal that the study's did: what a first try shows
// of the signal is what the second one's noise is relative to.
func (s *shape) alike(rng *rand.Rand, w *world) []round {
	if s.first != nil {
		return s.rounds(rng, w, w.unit)
	}
	size := scaleOf(s.rounds(rng, w, usualSize))
	return s.rounds(rng, w, max(0.1, min(1, size)))
}

// captures is the share of a study of rows whose law has these eigenvalues, descending, and whose
// noise is relative to all of the signal.
func (s *shape) captures(rng *rand.Rand, lambda []float64) float64 {
	return captured(lambda, s.output(s.rounds(rng, s.world(rng, lambda), 1)))
}

// world is the rows of a simulated study and where it starts.
type world struct {
	lambda []float64   // of the law
	a      []float64   // of what rounds multiply by, over the leading ones' mean
	root   []float64   // √(a/√n)
	damp   []float64   // by the clip
	off    []float64   // the center, in the unit of √a; nil for none
	start  [][]float64 // not orthonormal
	shown  []float64   // by a covariance whose components the start is
	unit   float64     // of noise where the start is one
}

// seen are eigenvalues as rounds see them, over the leading ones' mean.
func (s *shape) seen(lambda []float64) []float64 {
	a := lambda
	if s.sphere {
		a = sphere(lambda)
	}
	top := 0.0
	for _, v := range a[:s.k] {
		top += v / float64(s.k)
	}
	a = append([]float64(nil), a...)
	for i := range a {
		a[i] /= top
	}
	return a
}

func (s *shape) world(rng *rand.Rand, lambda []float64) *world {
	a := s.seen(lambda)
	root := make([]float64, s.d)
	for i := range a {
		root[i] = math.Sqrt(a[i] / math.Sqrt(s.n))
	}
	w := &world{lambda: lambda, a: a, root: root, damp: damping(rng, a[:s.k]), start: normals(rng, s.k, s.d)}
	if s.first != nil {
		w.start, w.shown = s.first.begin(rng, a, s.k, s.n)
		clip := 0.0
		for _, v := range w.damp {
			clip += v / float64(s.k)
		}
		w.unit = moments(a)[0] * clip / s.first.kept * math.Exp(misread*rng.NormFloat64())
	}
	if s.center > 0 {
		mean := 0.0
		for _, v := range a {
			mean += v / float64(s.d)
		}
		w.off = normals(rng, 1, s.d)[0]
		for i := range w.off {
			w.off[i] *= math.Sqrt(s.center * mean)
		}
	}
	return w
}

// rounds simulates the rounds, with noise times size.
func (s *shape) rounds(rng *rand.Rand, w *world, size float64) []round {
	x := orthonormal(w.start)
	sampling := &sampler{root: w.root}
	seen := make([]round, len(s.tau))
	for t, tau := range s.tau {
		tau *= size
		y := make([][]float64, s.k)
		for i := range y {
			y[i] = make([]float64, s.d)
			for l, v := range x[i] {
				y[i][l] = w.a[l] * v
			}
			if w.off != nil {
				add(y[i], w.off, linalg.Dot(w.off, x[i]))
			}
		}
		if s.k > 1 { // the clip bounds a block by its norm, and so its strong directions more
			_, u := linalg.Jacobi(symmetric(gram(x, y)))
			y = times(y, conjugate(u, w.damp))
		}
		sampling.add(rng, x, y)
		for i := range y {
			for l := range y[i] {
				y[i][l] += tau * rng.NormFloat64()
			}
		}
		seen[t] = round{x: x, z: y, tau: tau}
		x = orthonormal(y)
	}
	return seen
}

// made is the draw of simulated rounds.
func (s *shape) made(w *world, seen []round) draw {
	output := s.output(seen)
	shown := features(seen, output)
	if s.first != nil {
		shown = append(append(shown, w.shown...), math.Log(scaleOf(seen)/w.unit))
	}
	return draw{
		features: shown, share: captured(w.lambda, output), tilt: tilts(output),
		finished: s.noiseless(w.a, w.lambda, w.start),
	}
}

// output is what the study makes of its rounds: the leading directions of the last answer, or of
// the later half of them, each weighted by its noise.
func (s *shape) output(seen []round) [][]float64 {
	if !s.pooled {
		last := seen[len(seen)-1].z
		_, u := linalg.Jacobi(gram(last, last))
		return orthonormal(times(last, u))
	}
	half := seen[len(seen)/2:]
	q := orthonormal(half[len(half)-1].z)
	if s.k == 1 {
		q = [][]float64{q[0]}
	}
	for range 12 {
		next := make([][]float64, s.k)
		for i := range next {
			next[i] = make([]float64, s.d)
		}
		for _, r := range half {
			w := 1 / (r.tau * r.tau)
			for _, z := range r.z {
				for i := range q {
					add(next[i], z, w*linalg.Dot(z, q[i]))
				}
			}
		}
		q = next
		_, u := linalg.Jacobi(gram(q, q))
		q = orthonormal(times(q, u))
	}
	return q
}

// captured is the share of the law's variance, which is diagonal here.
func captured(lambda []float64, output [][]float64) float64 {
	got, best := 0.0, 0.0
	for i, v := range output {
		for l, x := range v {
			got += lambda[l] * x * x
		}
		best += lambda[i]
	}
	return got / best
}

package worth

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

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
}

// draws bounds: few enough for some seconds on one processor, many enough for the regression.
const (
	mostDraws  = 4000
	leastDraws = 1500
	drawsWork  = 1.2e9 // of multiplications, roughly
	batch      = 50    // draws of one generator
)

func (s *shape) count() int {
	work := float64(len(s.tau)*s.d*s.k) * (40 + 12*float64(s.k))
	return max(leastDraws, min(mostDraws, int(drawsWork/work))) / batch * batch
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

// usualSize is about what rounds show of the signal: the rest is what noise turned away.
const usualSize = 0.9

// one simulates one study of the public family.
func (s *shape) one(rng *rand.Rand) draw {
	lambda := spectrumLaw(rng, s.d)
	if i := rng.IntN(s.k); rng.Float64() < tied && i+1 < s.d {
		lambda[i+1] = lambda[i]
	}
	w := s.world(rng, lambda)
	return s.made(w, s.alike(rng, w))
}

// alike simulates rounds that show the noise to signal that the study's did: what a first try shows
// of the signal is what the second one's noise is relative to.
func (s *shape) alike(rng *rand.Rand, w *world) []round {
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
}

func (s *shape) world(rng *rand.Rand, lambda []float64) *world {
	a := lambda
	if s.sphere {
		a = sphere(lambda)
	}
	top := 0.0
	for _, v := range a[:s.k] {
		top += v / float64(s.k)
	}
	a = append([]float64(nil), a...)
	root := make([]float64, s.d)
	for i := range a {
		a[i] /= top
		root[i] = math.Sqrt(a[i] / math.Sqrt(s.n))
	}
	w := &world{lambda: lambda, a: a, root: root, damp: damping(rng, a[:s.k]), start: normals(rng, s.k, s.d)}
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
			_, u := jacobi(symmetric(gram(x, y)))
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
	return draw{
		features: features(seen, output), share: captured(w.lambda, output), tilt: tilts(output),
		finished: s.noiseless(w.a, w.lambda, w.start),
	}
}

// output is what the study makes of its rounds: the leading directions of the last answer, or of
// the later half of them, each weighted by its noise.
func (s *shape) output(seen []round) [][]float64 {
	if !s.pooled {
		last := seen[len(seen)-1].z
		_, u := jacobi(gram(last, last))
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
		_, u := jacobi(gram(q, q))
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

// tilts are the squared tangents of each output's angle to its own eigenvector.
func tilts(output [][]float64) []float64 {
	out := make([]float64, len(output))
	for i, v := range output {
		c := v[i] * v[i]
		out[i] = max(0, 1-c) / max(c, 1e-9)
	}
	return out
}

// noiseless is what the start gives after as many rounds of the law itself.
func (s *shape) noiseless(a, lambda []float64, start [][]float64) float64 {
	x := make([][]float64, s.k)
	for i := range x {
		x[i] = append([]float64(nil), start[i]...)
	}
	for t := 0; t < len(s.tau); t += 4 { // four rounds between two orthonormalizations
		power := float64(min(4, len(s.tau)-t))
		for i := range x {
			for l := range x[i] {
				x[i][l] *= math.Pow(a[l]/a[0], power)
			}
		}
		x = orthonormal(x)
	}
	return captured(lambda, x)
}

// damping is what the clip of a block leaves of each strong direction, relative to the first, for
// normal rows whose norms are alike: E[si² min(1, R/‖s‖)] / E[si²] at the 0.9 quantile R of ‖s‖.
func damping(rng *rand.Rand, top []float64) []float64 {
	const rows = 120
	out := make([]float64, len(top))
	if len(top) == 1 {
		return []float64{1}
	}
	all := make([][]float64, rows)
	lengths := make([]float64, rows)
	for r := range all {
		all[r] = make([]float64, len(top))
		for i, v := range top {
			all[r][i] = math.Sqrt(v) * rng.NormFloat64()
		}
		lengths[r] = math.Sqrt(linalg.Dot(all[r], all[r]))
	}
	bound := slices.Sorted(slices.Values(lengths))[rows*9/10]
	whole := make([]float64, len(top))
	for r, row := range all {
		w := min(1, bound/lengths[r])
		for i, v := range row {
			out[i] += w * v * v
			whole[i] += v * v
		}
	}
	for i := range out {
		out[i] /= whole[i]
	}
	return out
}

// conjugate is U diag(v) Uᵀ.
func conjugate(u [][]float64, v []float64) [][]float64 {
	out := make([][]float64, len(v))
	for i := range out {
		out[i] = make([]float64, len(v))
		for j := range v {
			for l := range v {
				out[i][j] += u[i][l] * v[l] * u[j][l]
			}
		}
	}
	return out
}

func normals(rng *rand.Rand, k, d int) [][]float64 {
	out := make([][]float64, k)
	for i := range out {
		out[i] = make([]float64, d)
		for l := range out[i] {
			out[i][l] = rng.NormFloat64()
		}
	}
	return out
}

// sampler is how n rows differ from their law: by a symmetric normal matrix S with E[Sij²] = ai
// aj/n. It is the same in every round, but drawn only along the directions that rounds ask about:
// only what the previous block does not span is drawn afresh.
type sampler struct {
	root       []float64 // √(a/√n)
	last       [][]float64
	lastAnswer [][]float64
}

func (s *sampler) add(rng *rand.Rand, x, y [][]float64) {
	v := make([][]float64, len(x))
	for i := range x {
		v[i] = make([]float64, len(s.root))
		for l, r := range s.root {
			v[i][l] = r * x[i][l]
		}
	}
	// v = Q·C with orthonormal Q; W Q is fresh but for what lies in the last Q's span.
	q := orthonormal(v)
	answer := make([][]float64, len(q))
	for i := range q {
		answer[i] = make([]float64, len(s.root))
	}
	if s.last == nil {
		for i := range q {
			for l := range answer[i] {
				answer[i][l] = rng.NormFloat64()
			}
		}
	} else {
		overlap := gram(s.last, q)
		// What is left of each direction is not orthogonal to what is left of the others: draw
		// along the eigenvectors of I - OᵀO.
		k := len(q)
		left := make([][]float64, k)
		for i := range left {
			left[i] = make([]float64, k)
			for j := range left[i] {
				if i == j {
					left[i][j] = 1
				}
				for l := range k {
					left[i][j] -= overlap[l][i] * overlap[l][j]
				}
			}
		}
		size, u := jacobi(left)
		for e := range k {
			scale := math.Sqrt(max(0, size[e]))
			for l := range s.root {
				g := scale * rng.NormFloat64()
				for i := range k {
					answer[i][l] += u[i][e] * g
				}
			}
		}
		for i := range k {
			for j := range k {
				add(answer[i], s.lastAnswer[j], overlap[j][i])
			}
		}
	}
	s.last, s.lastAnswer = q, answer
	c := gram(q, v)
	for i := range y {
		for j := range q {
			if c[j][i] == 0 {
				continue
			}
			for l, r := range s.root {
				y[i][l] += r * answer[j][l] * c[j][i]
			}
		}
	}
}

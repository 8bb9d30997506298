package picture

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/result"
)

// sigma is the noise of one count in a study of ε = 1, δ = 10^-6 whose picture has 5% of ρ, and
// wider that of distributed noise of five sites.
const (
	sigma = 26.72
	wider = sigma * 1.1180339887498949
)

// edges are those of n bins to four standard deviations of 1.
func edges(n int) (out []float64) {
	for i := range n + 1 {
		out = append(out, -4+8*float64(i)/float64(n))
	}
	return out
}

// counted is the histogram of n points with mean 0 and variance 1 on both axes, drawn from a law.
func counted(random *rand.Rand, n int, draw func(*rand.Rand) (x, y float64)) []float64 {
	var points [2][]float64
	for range n {
		x, y := draw(random)
		points[0], points[1] = append(points[0], x), append(points[1], y)
	}
	for _, v := range points {
		sum, squares := 0.0, 0.0
		for _, x := range v {
			sum += x
			squares += x * x
		}
		mean := sum / float64(n)
		deviation := math.Sqrt(squares/float64(n) - mean*mean)
		for i := range v {
			v[i] = (v[i] - mean) / deviation
		}
	}
	out := make([]float64, bins*bins)
	at := func(v float64) int { return min(bins-1, max(0, int(math.Floor((v+4)*2)))) }
	for i := range n {
		out[at(points[0][i])*bins+at(points[1][i])]++
	}
	return out
}

// released is a picture of counts with noise.
func released(random *rand.Rand, sigma float64, counts ...[]float64) result.Picture {
	p := result.Picture{Pair: [2]int{1, 2}, X: edges(bins), Y: edges(bins), Sigma: sigma}
	for _, c := range counts {
		c = slices.Clone(c)
		for i := range c {
			c[i] += sigma * random.NormFloat64()
		}
		p.Counts = append(p.Counts, c)
	}
	return p
}

func drawn(t *testing.T, p result.Picture) *Density {
	t.Helper()
	d, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// variation is the total variation of two histograms, each over its own sum.
func variation(a, b []float64) float64 {
	sumA, sumB, out := 0.0, 0.0, 0.0
	for i := range a {
		sumA += a[i]
		sumB += b[i]
	}
	for i := range a {
		out += math.Abs(a[i]/sumA-b[i]/sumB) / 2
	}
	return out
}

// cloud is a law of two coordinates.
type cloud struct {
	name string
	draw func(*rand.Rand) (x, y float64)
}

// unseen are laws on which nothing here was chosen.
var unseen = []cloud{
	{"ring", func(r *rand.Rand) (float64, float64) {
		a := 2 * math.Pi * r.Float64()
		return math.Cos(a) + 0.12*r.NormFloat64(), math.Sin(a) + 0.12*r.NormFloat64()
	}},
	{"banana", func(r *rand.Rand) (float64, float64) {
		x := r.NormFloat64()
		return x, 0.7*x*x + 0.4*r.NormFloat64()
	}},
	{"contaminated", func(r *rand.Rand) (float64, float64) {
		s := 0.7
		if r.Float64() < 0.1 {
			s = 3
		}
		return s * r.NormFloat64(), s * r.NormFloat64()
	}},
	{"five clusters", func(r *rand.Rand) (float64, float64) {
		a := 2 * math.Pi * float64(r.IntN(5)) / 5
		return math.Cos(a) + 0.15*r.NormFloat64(), math.Sin(a) + 0.15*r.NormFloat64()
	}},
	{"point in a cloud", func(r *rand.Rand) (float64, float64) {
		if r.Float64() < 0.3 {
			return 0.2, 0.3
		}
		return r.NormFloat64(), r.NormFloat64()
	}},
	{"rare cluster", func(r *rand.Rand) (float64, float64) {
		if r.Float64() < 0.03 {
			return 4 + 0.3*r.NormFloat64(), 3 + 0.3*r.NormFloat64()
		}
		return r.NormFloat64(), r.NormFloat64()
	}},
	{"exponential", func(r *rand.Rand) (float64, float64) { return r.ExpFloat64(), r.ExpFloat64() }},
	{"lattice", func(r *rand.Rand) (float64, float64) {
		return math.Round(1.2 * r.NormFloat64()), math.Round(1.2 * r.NormFloat64())
	}},
}

// With n = 20,000 and a picture of 5% of ρ at ε = 1, the drawn density is within 0.10 of the true
// histogram in total variation, the mean of 20, in both noise modes, and within 0.065 over all
// laws. The draws are fixed.
func TestTotalVariation(t *testing.T) {
	for _, s := range []float64{sigma, wider} {
		all := 0.0
		for _, c := range unseen {
			sum, noisy := 0.0, 0.0
			for seed := range uint64(20) {
				random := rand.New(rand.NewPCG(seed, 1000))
				truth := counted(random, 20_000, c.draw)
				p := released(random, s, truth)
				sum += variation(drawn(t, p).Shown[0], truth) / 20
				for i, v := range p.Counts[0] {
					p.Counts[0][i] = max(0, v)
				}
				noisy += variation(p.Counts[0], truth) / 20
			}
			all += sum / float64(len(unseen))
			t.Logf("%s, noise %.1f: %.4f, of bare counts %.4f", c.name, s, sum, noisy)
			if sum > 0.10 || sum > noisy {
				t.Errorf("%s, noise %.1f: total variation %.4f, at most 0.10 and %.4f", c.name, s, sum, noisy)
			}
		}
		if all > 0.065 {
			t.Errorf("noise %.1f: %.4f over all laws, at most 0.065", s, all)
		}
	}
}

// truths of one peak at most, made to fool: their expected counts.
func onePeak() map[string][]float64 {
	out := map[string][]float64{"nobody": make([]float64, bins*bins)}
	set := func(name string, value func(x, y int) float64) {
		v := make([]float64, bins*bins)
		for i := range v {
			v[i] = value(i/bins, i%bins)
		}
		out[name] = v
	}
	set("one point", func(x, y int) float64 {
		if x == 5 && y == 9 {
			return 20_000
		}
		return 0
	})
	set("uniform", func(x, y int) float64 { return 20_000 / 256.0 })
	set("thin uniform", func(x, y int) float64 { return 8 })
	set("square, empty corners", func(x, y int) float64 {
		if x < 4 || x > 11 || y < 4 || y > 11 {
			return 0
		}
		return 20_000 / 64.0
	})
	set("normal", func(x, y int) float64 {
		a, b := (float64(x)-7.5)/2, (float64(y)-7.5)/2
		return 796 * math.Exp(-(a*a+b*b)/2)
	})
	set("few normal", func(x, y int) float64 {
		a, b := (float64(x)-7.5)/2, (float64(y)-7.5)/2
		return 40 * math.Exp(-(a*a+b*b)/2)
	})
	set("ramp into a corner", func(x, y int) float64 { return float64(x+y) * 5.2 })
	set("all in the edge bins", func(x, y int) float64 {
		if x == 0 || y == 0 || x == bins-1 || y == bins-1 {
			return 333
		}
		return 0
	})
	set("very many in the edge bins", func(x, y int) float64 {
		if x == 0 || y == 0 || x == bins-1 || y == bins-1 {
			return 33_333
		}
		return 0
	})
	set("a bent line of very many", func(x, y int) float64 {
		if x == 4 && y >= 4 || y == 4 && x >= 4 {
			return 50_000
		}
		return 0
	})
	set("ridge", func(x, y int) float64 {
		if x == y {
			return 1250
		}
		return 0
	})
	return out
}

// A picture shows a second peak, or any where nobody is, with probability at most 0.01. Of 400
// pictures of each truth more than 12 fail by chance with probability below 10^-4 at 0.01; the rule
// is far below it.
func TestInventsNoPeak(t *testing.T) {
	for name, truth := range onePeak() {
		random := rand.New(rand.NewPCG(7, uint64(len(name))))
		invented, most := 0, 1
		if name == "nobody" {
			most = 0
		}
		for range 400 {
			d := drawn(t, released(random, sigma, truth))
			if len(d.Peaks[0]) > most {
				invented++
			}
			if most == 0 && slices.Max(d.Shown[0]) > 0 && len(d.Peaks[0]) == 0 {
				t.Fatal("units are shown without a peak")
			}
			if local := maxima(d.Shown[0]); local > max(1, len(d.Peaks[0])) {
				t.Fatalf("%s: %d maxima are drawn, of which %d stand", name, local, len(d.Peaks[0]))
			}
		}
		t.Logf("%s: %d of 400", name, invented)
		if invented > 12 {
			t.Errorf("%s: %d of 400 pictures show a peak that is not there", name, invented)
		}
	}
}

// maxima counts plateaus with nothing as high around them.
func maxima(v []float64) int {
	seen, n := make([]bool, len(v)), 0
	for i := range v {
		if seen[i] || v[i] == 0 {
			continue
		}
		stack, top := []int{i}, true
		seen[i] = true
		for len(stack) > 0 {
			b := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, c := range neighbors(b) {
				if v[c] > v[i] {
					top = false
				}
				if v[c] == v[i] && !seen[c] {
					seen[c] = true
					stack = append(stack, c)
				}
			}
		}
		if top {
			n++
		}
	}
	return n
}

// Clusters that are there are drawn as peaks: the rule hides no more than noise makes it. The draws
// are fixed.
func TestFindsPeaks(t *testing.T) {
	two := func(x float64) func(*rand.Rand) (float64, float64) {
		return func(r *rand.Rand) (float64, float64) {
			return x*float64(2*r.IntN(2)-1) + 0.35*r.NormFloat64(), 0.35 * r.NormFloat64()
		}
	}
	for _, c := range []struct {
		cloud
		n, peaks, least int
	}{
		{cloud{"two, far", two(1.5)}, 20_000, 2, 19},
		{cloud{"two", two(1)}, 20_000, 2, 19},
		{cloud{"two of few", two(1)}, 8000, 2, 19},
		{unseen[3], 20_000, 5, 19},
		{unseen[5], 20_000, 2, 10}, // 600 units over nine bins are near the edge of what noise hides
	} {
		found := 0
		for seed := range uint64(20) {
			random := rand.New(rand.NewPCG(seed, 3))
			d := drawn(t, released(random, sigma, counted(random, c.n, c.draw)))
			if len(d.Peaks[0]) == c.peaks {
				found++
			}
		}
		t.Logf("%s, %d units: %d of 20", c.name, c.n, found)
		if found < c.least {
			t.Errorf("%s, %d units: %d peaks are found in %d of 20 pictures", c.name, c.n, c.peaks, found)
		}
	}
}

// Shown, hidden and total add up, and shares of groups are their own.
func TestHidden(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	truth := counted(random, 20_000, unseen[0].draw)
	d := drawn(t, released(random, sigma, truth, make([]float64, bins*bins)))
	if d.Hidden[0] > 0.1 || math.Abs(d.Total[0]-20_000) > 5*16*sigma {
		t.Errorf("%.3f of %.0f units hidden", d.Hidden[0], d.Total[0])
	}
	if d.Total[1] > 0 && d.Hidden[1] != 1 || len(d.Peaks[1]) != 0 {
		t.Errorf("of nobody %.3f are hidden, %d peaks", d.Hidden[1], len(d.Peaks[1]))
	}
	for g, shown := range d.Shown {
		sum := 0.0
		for _, v := range shown {
			sum += v
		}
		if d.Total[g] > 0 && math.Abs(max(0, 1-sum/d.Total[g])-d.Hidden[g]) > 1e-9 {
			t.Errorf("group %d: %.1f shown of %.1f, hidden %.3f", g, sum, d.Total[g], d.Hidden[g])
		}
	}
}

// What no study released is an [*Error], never a panic.
func TestBadPictures(t *testing.T) {
	for name, change := range map[string]func(*result.Picture){
		"no counts":     func(p *result.Picture) { p.Counts = nil },
		"groups":        func(p *result.Picture) { p.Groups = []string{"a", "b"} },
		"short":         func(p *result.Picture) { p.Counts[0] = p.Counts[0][1:] },
		"not a number":  func(p *result.Picture) { p.Counts[0][3] = math.NaN() },
		"huge":          func(p *result.Picture) { p.Counts[0][3] = 1e300 },
		"no noise":      func(p *result.Picture) { p.Sigma = 0 },
		"noise":         func(p *result.Picture) { p.Sigma = math.Inf(1) },
		"edges":         func(p *result.Picture) { p.X = p.X[1:] },
		"uneven":        func(p *result.Picture) { p.Y[3] += 0.1 },
		"downwards":     func(p *result.Picture) { slices.Reverse(p.Y) },
		"edge nowhere":  func(p *result.Picture) { p.X[0] = math.NaN() },
		"endless edges": func(p *result.Picture) { p.X[0], p.X[bins] = -math.MaxFloat64, math.MaxFloat64 },
	} {
		p := released(rand.New(rand.NewPCG(1, 1)), sigma, make([]float64, bins*bins))
		change(&p)
		_, err := New(p)
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package worth

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// rowsOf makes rows of which directions have variances, changed.
func rowsOf(rng *rand.Rand, n int, variances []float64, change func(rng *rand.Rand, row []float64)) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, len(variances))
		for j, v := range variances {
			out[i][j] = math.Sqrt(v) * rng.NormFloat64()
		}
		change(rng, out[i])
	}
	return out
}

// TestHeavyTails: rows that vary more beyond the clip than normal rows would have heavy tails, and
// normal and bounded rows have none, at a low and a high clip and whatever their spectrum. With
// 20,000 rows the mean squared length has a standard deviation of at most 1%, most of which its
// clipped mean shares; the excess of normal rows is at most 1.
func TestHeavyTails(t *testing.T) {
	const n = 20_000
	p, _ := planned(t, spec(8, 1, proposal.MethodCovariance), n)
	rng := seeded(31)
	spectra := [][]float64{
		slices.Repeat([]float64{1}, 8),
		{1, 0.3, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05},
		{1, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01},
	}
	for _, c := range []struct {
		name                  string
		change                func(rng *rand.Rand, row []float64)
		kept, interval, total float64 // the total's clip, in clips
		want                  bool
	}{
		{"normal", func(*rand.Rand, []float64) {}, 1, 0.02, 4, false},
		{"normal, some left", func(*rand.Rand, []float64) {}, 0.7, 0.02, 4, false},
		{"bounded", func(_ *rand.Rand, row []float64) { row[0] = max(-1, min(1, row[0])) }, 1, 0.02, 4, false},
		{"t3 in each", func(rng *rand.Rand, row []float64) { student(rng, row, 3) }, 1, 0.02, 4, true},
		{"t3 in each, some", func(rng *rand.Rand, row []float64) { student(rng, row, 3) }, 0.7, 0.02, 4, true},
		{"a column of costs", func(rng *rand.Rand, row []float64) { row[0] = math.Exp(2 * rng.NormFloat64()) }, 1, 0.02, 4, true},
		{"t3 in noise", func(rng *rand.Rand, row []float64) { student(rng, row, 3) }, 1, 2, 4, false},
		{"a total not farther", func(*rand.Rand, []float64) {}, 1, 0.02, 1.2, true},
	} {
		for _, variances := range spectra {
			rows := rowsOf(rng, n, variances, c.change)
			var lengths []float64
			total := 0.0
			for _, row := range rows {
				lengths = append(lengths, linalg.Dot(row, row))
				total += linalg.Dot(row, row) / n
			}
			slices.Sort(lengths)
			for _, quantile := range []float64{0.5, 0.93} {
				bound := lengths[int(quantile*n)]
				moment := mat.NewSymDense(8, nil)
				for _, row := range rows {
					moment.SymRankOne(moment, c.kept*min(1, bound/linalg.Dot(row, row))/n, mat.NewVecDense(8, row))
				}
				var eigen mat.EigenSym
				if !eigen.Factorize(moment, false) {
					t.Fatal("no eigenvalues")
				}
				mu := eigen.Values(nil)
				slices.Reverse(mu)
				half := c.interval / 2 * total
				r := &result.Result{
					N: n, D: 8, Radius: bound, TotalVariance: total, TotalInterval: &[2]float64{total - half, total + half},
					RowsKept: c.kept * n, RowsKeptInterval: &[2]float64{c.kept * n, c.kept * n},
					Releases: []study.Release{{Kind: study.KindTotal, Radius: c.total * bound, Units: n}},
				}
				if got := newSpectrum(mu, 1e-6, n, 0).heavy(p, r); got != c.want {
					t.Errorf("%s, %v, clipped at quantile %v: heavy tails %v", c.name, variances, quantile, got)
				}
				if r.TotalInterval = nil; newSpectrum(mu, 1e-6, n, 0).heavy(p, r) {
					t.Errorf("%s: heavy tails with no total", c.name)
				}
			}
		}
	}
}

// student makes each number of a row one of t, with so many degrees of freedom.
func student(rng *rand.Rand, row []float64, degrees int) {
	for j := range row {
		sum := 0.0
		for range degrees {
			g := rng.NormFloat64()
			sum += g * g
		}
		row[j] *= math.Sqrt(float64(degrees) / sum)
	}
}

// TestStretched is the same of power iteration, from the histogram of squared lengths.
func TestStretched(t *testing.T) {
	const n, spread = 40_000, 60
	s := spec(8, 1, proposal.MethodPower)
	s.ExplainedVariance = proposal.VariancePrivate
	p, _ := planned(t, s, n)
	query := slices.IndexFunc(p.Queries, func(q study.Query) bool { return q.Kind == study.KindHistogram && q.Of == study.KindTotal })
	rng := seeded(32)
	for _, c := range []struct {
		name   string
		change func(rng *rand.Rand, row []float64)
		kept   int // rows
		spread float64
		want   bool
	}{
		{"normal", func(*rand.Rand, []float64) {}, n, spread, false},
		{"normal, half left", func(*rand.Rand, []float64) {}, n / 2, spread, false},
		{"t3 in each", func(rng *rand.Rand, row []float64) { student(rng, row, 3) }, n, spread, true},
		{"t3 in each, half left", func(rng *rand.Rand, row []float64) { student(rng, row, 3) }, n / 2, spread, true},
		{"costs", func(rng *rand.Rand, row []float64) { row[1] = math.Exp(2 * rng.NormFloat64()) }, n, spread, true},
		{"t3 in each, of 55 in 100", func(rng *rand.Rand, row []float64) {
			if student(rng, row, 3); rng.Float64() < 0.45 {
				clear(row)
			}
		}, n, spread, true},
		{"costs, all noise", func(rng *rand.Rand, row []float64) { row[1] = math.Exp(2 * rng.NormFloat64()) }, n, n, false},
		{"normal, no median", func(*rand.Rand, []float64) {}, n, n, false},
	} {
		rows := rowsOf(rng, c.kept, []float64{1, 0.8, 0.6, 0.5, 0.4, 0.4, 0.4, 0.4}, c.change)
		rel := study.Release{
			Query: query, Kind: study.KindHistogram, Units: n, Grid: 1,
			Sigma: noise.Sigma(c.spread * 1024), Noised: make([]int64, study.HistogramBins),
		}
		rel.Noised[0] = int64(n - c.kept)
		total, first, kept := 0.0, 0.0, float64(c.kept)
		for _, row := range rows {
			length := linalg.Dot(row, row)
			total, first = total+length/kept, first+row[0]*row[0]/kept
			j := 0
			for study.BinEdge(j) < length {
				j++
			}
			rel.Noised[j]++
		}
		for j := range rel.Noised {
			rel.Noised[j] += int64(c.spread * rng.NormFloat64())
		}
		r := &result.Result{
			N: n, D: 8, TotalVariance: total, TotalInterval: &[2]float64{0.99 * total, 1.01 * total},
			ExplainedVariance: []float64{first}, VarianceInterval: [][2]float64{{0.98 * first, 1.02 * first}},
			RowsKept: kept, RowsKeptInterval: &[2]float64{kept, kept}, Releases: []study.Release{rel},
		}
		if got := stretched(p, r); got != c.want {
			t.Errorf("%s: heavy tails %v", c.name, got)
		}
	}
}

// TestTailsOfNothing: variances that noise made zero, or next to it, and lengths that are noise
// alone end nothing, and widen nothing.
func TestTailsOfNothing(t *testing.T) {
	const n = 40_000
	s := spec(8, 1, proposal.MethodPower)
	s.ExplainedVariance = proposal.VariancePrivate
	p, _ := planned(t, s, n)
	query := slices.IndexFunc(p.Queries, func(q study.Query) bool { return q.Kind == study.KindHistogram && q.Of == study.KindTotal })
	rel := study.Release{Query: query, Kind: study.KindHistogram, Units: n, Grid: 1, Sigma: noise.Sigma(60 * 1024), Noised: make([]int64, study.HistogramBins)}
	rel.Noised[256] = n
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("it panics: %v", p)
		}
	}()
	for _, v := range [][2]float64{{0, 0}, {0, 1e-300}, {0, 1e-9}, {0, 1}, {0, 1e300}} {
		for i, total := range []float64{0, 1e-300, 1, 1e300, 0, 1e-300, 1, 1e300} {
			r := &result.Result{
				N: n, D: 1 + 7*(i/4), TotalVariance: total, TotalInterval: &[2]float64{0, total},
				ExplainedVariance: []float64{0}, VarianceInterval: [][2]float64{v}, Releases: []study.Release{rel},
			}
			if stretched(p, r) {
				t.Errorf("variance up to %v of %v: heavy tails", v[1], total)
			}
		}
	}
	r := &result.Result{
		N: n, D: 8, TotalVariance: 1, TotalInterval: &[2]float64{0, 1}, ExplainedVariance: []float64{0},
		VarianceInterval: [][2]float64{{math.NaN(), math.NaN()}}, Releases: []study.Release{rel},
	}
	if !stretched(p, r) {
		t.Error("a variance that is no number: no heavy tails")
	}
	p, _ = planned(t, spec(12, 1, proposal.MethodCovariance), n)
	rel.Query = slices.IndexFunc(p.Queries, func(q study.Query) bool { return q.Kind == study.KindHistogram && q.Of == study.KindTotal })
	for _, count := range []int64{0, n, -n, 1 << 40, -1 << 40} {
		for j := range rel.Noised {
			rel.Noised[j] = count
		}
		for _, xi := range [][]float64{make([]float64, 12), slices.Repeat([]float64{1}, 12)} {
			got := longTails(p, &result.Result{N: n, Radius: 16, Releases: []study.Release{rel}}, xi)
			if !(got >= 1) || math.IsInf(got, 0) {
				t.Errorf("counts of %d: %v times as much", count, got)
			}
		}
	}
}

// TestHeavyTailsHaveNoBound: a study of such rows has no figures, and says why.
func TestHeavyTailsHaveNoBound(t *testing.T) {
	for _, method := range []string{proposal.MethodCovariance, proposal.MethodPower} {
		s := spec(12, 1, method)
		s.ExplainedVariance = proposal.VariancePrivate
		second := diagonal(4, 2, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
		var whole mat.SymDense
		whole.ScaleSym(3, second)
		for heavy, l := range map[bool]law{
			false: {second: second, radius: 16, rng: seeded(33)},
			true:  {second: second, whole: &whole, radius: 16, rng: seeded(33)},
		} {
			p, r := l.run(t, s, 60_000)
			out := of(t, p, r)
			if (out.Uncalibrated == heavyWhy) != heavy || (out.Share == nil) != heavy || heavy && len(out.Components) > 0 || says(out, "a study of their logarithms") != heavy || says(out, "or noise hides how much. Such a share") != heavy {
				t.Errorf("%s: heavy tails %v: %+v", method, heavy, out)
			}
		}
	}
}

// TestUncounted: rows that the last bin holds were clipped to nobody knows what part of their
// lengths, and of those in the first bin nobody knows how short they are: no share is given,
// whatever the components look like, and what helps is said. It is not more units.
func TestUncounted(t *testing.T) {
	second := mat.NewSymDense(4, []float64{4, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.5})
	s := spec(4, 1, proposal.MethodCovariance)
	s.ExplainedVariance, s.Epsilon = proposal.VariancePrivate, 4
	p, r := law{second: second, whole: second, radius: 8, rng: seeded(10)}.run(t, s, 60_000)
	if got := of(t, p, r); got.Share == nil || says(got, "a scale near") {
		t.Fatalf("%+v", got)
	}
	counted := func(bin int, share float64) (moved int) {
		for i := range r.Releases {
			rel := &r.Releases[i]
			if q := p.Queries[rel.Query]; q.Kind != study.KindHistogram || q.Of != study.KindTotal {
				continue
			}
			rel.Noised = make([]int64, study.HistogramBins)
			units := float64(rel.Units) / rel.Grid
			rel.Noised[bin], rel.Noised[300] = int64(share*units), int64((1-share)*units)
			moved++
		}
		return moved
	}
	for _, c := range []struct {
		bin   int
		share float64
		why   string
	}{{study.HistogramBins - 1, 0.2, beyondWhy}, {0, 0.6, belowWhy}} {
		moved := counted(c.bin, c.share)
		got := of(t, p, r)
		if moved == 0 || got.Share != nil || got.Uncalibrated != c.why || !says(got, "a scale near") || !says(got, "times too low") || got.Verdict(r).Trust != Unknown || !got.Apart {
			t.Errorf("bin %d of %d histograms: %+v", c.bin, moved, got)
		}
	}
	counted(study.HistogramBins-1, 0.2)
	variances := r.ExplainedVariance
	if r.ExplainedVariance = nil; says(of(t, p, r), "times too low") {
		t.Error("variances that nobody knows are too low")
	}
	r.ExplainedVariance = variances
	counted(0, 0.3)
	if got := of(t, p, r); got.Uncalibrated == belowWhy {
		t.Errorf("a third of zeros: %+v", got)
	}
}

// TestFarRows: without a total that was bought, histograms of lengths show rows that are farther
// than normal ones: those of a released center, too, but about offsets only where these are near.
// What noise may be shows nothing, nor do few far rows.
func TestFarRows(t *testing.T) {
	const n, d = 20_000, 8
	s := spec(d, 1, proposal.MethodCovariance)
	s.Center = proposal.CenterPrivate
	p, _ := planned(t, s, n)
	queries := map[study.Kind]int{}
	for i, q := range p.Queries {
		if q.Kind == study.KindHistogram {
			queries[q.Of] = i
		}
	}
	codes := func(share float64) func(rng *rand.Rand, row []float64) {
		return func(rng *rand.Rand, row []float64) {
			if rng.Float64() < share {
				row[0] = 6
			}
		}
	}
	normal := func(*rand.Rand, []float64) {}
	heavy := func(rng *rand.Rand, row []float64) { student(rng, row, 3) }
	for _, c := range []struct {
		name          string
		change        func(rng *rand.Rand, row []float64)
		total, center float64 // noise of histograms, in rows
		offset        float64 // of the center's histogram
		short         bool    // a clip
		want          bool
	}{
		{"normal", normal, 60, 60, 0, false, false},
		{"normal, clipped short", normal, 60, 60, 0, true, false},
		{"t3 in each, clipped short", heavy, 30, 60, 0, true, true},
		{"normal, about far offsets", normal, 60, 60, 3, false, false},
		{"t3 in each", heavy, 40, 1e5, 0, false, true},
		{"t3 in each, by the center's histogram", heavy, 1e5, 60, 0, false, true},
		{"t3 in each, about far offsets", heavy, 1e5, 60, 3, false, false},
		{"t3 in noise", heavy, 1e5, 1e5, 0, false, false},
		{"another kind", codes(0.04), 20, 20, 0, false, true},
		{"few of another kind", codes(0.003), 2, 2, 0, false, false},
	} {
		for seed := range uint64(3) {
			rng := seeded(40 + seed)
			rows := rowsOf(rng, n, []float64{1, 0.5, 0.4, 0.3, 0.3, 0.3, 0.3, 0.3}, c.change)
			var all []float64
			rels := []study.Release{
				{Query: queries[study.KindMean], Noised: make([]int64, study.HistogramBins), Center: []float64{c.offset, 0, 0, 0, 0, 0, 0, 0}},
				{Query: queries[study.KindTotal], Noised: make([]int64, study.HistogramBins)},
			}
			for _, row := range rows {
				square, about := linalg.Dot(row, row), 0.0
				for j, v := range row {
					v -= rels[0].Center[j]
					about += v * v
				}
				all = append(all, square)
				for i, length := range []float64{math.Sqrt(about), square} {
					j := 0
					for study.BinEdge(j) < length {
						j++
					}
					rels[i].Noised[j]++
				}
			}
			for i, spread := range []float64{c.center, c.total} {
				rels[i].Kind, rels[i].Units, rels[i].Grid, rels[i].Sigma = study.KindHistogram, n, 1, noise.Sigma(spread*1024)
				for j := range rels[i].Noised {
					rels[i].Noised[j] += int64(spread * rng.NormFloat64())
				}
			}
			rels[1].Center = make([]float64, d)
			slices.Sort(all)
			bound := all[int(0.93*n)]
			if c.short {
				rels = append(rels, study.Release{Kind: study.KindMoment, Radius: bound})
				bound = all[int(0.02*n)]
			}
			moment := mat.NewSymDense(d, nil)
			for _, row := range rows {
				moment.SymRankOne(moment, min(1, bound/linalg.Dot(row, row))/n, mat.NewVecDense(d, row))
			}
			var eigen mat.EigenSym
			if !eigen.Factorize(moment, false) {
				t.Fatal("no eigenvalues")
			}
			mu := eigen.Values(nil)
			slices.Reverse(mu)
			for i := range mu {
				if c.short { // noise: as much as rows at the clip, and more, have
					mu[i] *= 1.02
				}
			}
			r := &result.Result{N: n, D: d, Radius: bound, Mean: make([]float64, d), Releases: rels}
			if newSpectrum(mu, 1e-6, n, 0).heavy(p, r) != c.want {
				t.Errorf("%s, seed %d: heavy tails are not %v", c.name, seed, c.want)
			}
		}
	}
}

// TestTailsTogether: a variance and far rows that are each less than noise may make show tails
// together, but not where either is too little to matter.
func TestTailsTogether(t *testing.T) {
	rel := study.Release{Units: 100_000, Grid: 1, Sigma: noise.Sigma(1000 * 1024), Noised: make([]int64, study.HistogramBins)}
	at := 1
	for study.BinEdge(at) < 50 { // twice what 7% of normal rows are beyond is 25
		at++
	}
	for _, c := range []struct {
		more, far float64 // standard deviations
		deviation float64 // of the total
		spread    float64 // of that of normal rows
		rows      int     // all
		want      bool
	}{
		{2.4, 2.4, 0.05, 0, 100_000, true},
		{2.4, 0, 0.05, 0, 100_000, false},
		{0, 2.4, 0.05, 0, 100_000, false},
		{2.4, -3, 0.05, 0, 100_000, false},
		{-3, 2.4, 0.05, 0, 100_000, false},
		{3.2, 0, 0.05, 0, 100_000, true},
		{0, 3.2, 0.05, 0, 100_000, true},
		{4.8, 0, 0.01, 0, 100_000, false},
		{0, 4.8, 0.05, 0, 100_000_000, false},
		{3.2, 0, 0.05, 0.5, 100_000, false}, // as much noise again
		{5, 0, 0.05, 0.5, 100_000, true},
	} {
		h := histogram{rel, float64(c.rows), 4}
		_, spread := far([]histogram{h}, 10, 8)
		h.Noised = make([]int64, study.HistogramBins)
		h.Noised[at] = 1e6
		one, _ := far([]histogram{h}, 10, 8)
		none, _ := far([]histogram{{rel, float64(c.rows), 4}}, 10, 8)
		h.Noised[at] = int64(1e6 * (c.far*spread - none) / (one - none))
		total, half := 10+10*c.deviation*c.more, 1.96*10*c.deviation
		r := &result.Result{TotalVariance: total, TotalInterval: &[2]float64{total - half, total + half}}
		if got := beyondNormal(r, []histogram{h}, 10, c.spread, 8); got != c.want {
			t.Errorf("%v: heavy tails %v", c, got)
		}
	}
}

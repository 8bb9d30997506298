package answer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/clip"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// picturePlans are studies with pictures, over rows of columns with levels.
var picturePlans = []struct {
	name   string
	change func(*proposal.Spec)
}{
	{"covariance", func(s *proposal.Spec) { s.Method = proposal.MethodCovariance }},
	{"central", func(s *proposal.Spec) {
		s.Method, s.Noise, s.CentralDetail = proposal.MethodCovariance, proposal.NoiseCentral, true
	}},
	{"three pairs", func(s *proposal.Spec) {
		s.Method, s.Components, s.PicturePairs = proposal.MethodCovariance, 3, [][]int{{1, 2}, {3, 1}, {2, 3}}
	}},
	{"by column", func(s *proposal.Spec) {
		s.Method, s.PictureBy, s.PictureColumn = proposal.MethodCovariance, proposal.PictureByColumn, "color"
	}},
	{"by column, people", func(s *proposal.Spec) {
		s.Method, s.PictureBy, s.PictureColumn, s.Unit = proposal.MethodCovariance, proposal.PictureByColumn, "color", "who"
	}},
	{"by column, filled", func(s *proposal.Spec) {
		s.Method, s.PictureBy, s.PictureColumn, s.Missing = proposal.MethodCovariance, proposal.PictureByColumn, "color", proposal.MissingFill
	}},
	{"by site", func(s *proposal.Spec) { s.Method, s.PictureBy = proposal.MethodCovariance, proposal.PictureBySite }},
	{"by site, people at two sites", func(s *proposal.Spec) {
		s.Method, s.PictureBy, s.Unit, s.SitesPerUnit = proposal.MethodCovariance, proposal.PictureBySite, "who", 2
	}},
	{"sphere", func(s *proposal.Spec) { s.Method, s.Rows = proposal.MethodPower, proposal.RowsSphere }},
	{"deflation, people", func(s *proposal.Spec) {
		s.Method, s.Subspace, s.Rows, s.Unit = proposal.MethodPower, proposal.SubspaceDeflation, proposal.RowsPlain, "who"
	}},
	{"standardized, people", func(s *proposal.Spec) {
		s.Method, s.Standardize, s.Epsilon, s.Unit = proposal.MethodCovariance, proposal.StandardizePrivate, 60, "who"
		s.Columns[0].Scale = 0
	}},
}

// A unit replaced by another, of one row or of 2 to 200, moves no picture and no histogram of
// scores by more than Δ, whatever a leader says that the center, the scales, the components and the
// deviations are: at one site, and, for a unit at several, at all of them together. All that a site
// fills by site is its own block.
func TestReplacedUnitMovesNoPictureByMore(t *testing.T) {
	const units = 64
	worst := map[string]float64{}
	for seed, c := range picturePlans {
		if testing.Short() && !slices.Contains([]string{"three pairs", "by column", "by site, people at two sites"}, c.name) {
			continue
		}
		p, rng := leveledPlan(t, units, func(s *proposal.Spec) { s.Picture = true; c.change(s) }), rand.New(rand.NewPCG(44, uint64(seed)))
		people := p.Proposal.Spec.Unit != ""
		draw := func() [][]float64 {
			n := 1
			if people && rng.IntN(2) == 0 {
				n = 2 + rng.IntN(199)
			}
			out, alike := make([][]float64, n), rng.IntN(2) == 0
			for i := range out {
				out[i] = leveledRow(rng, rng.IntN(2) == 0)
				if i > 0 && (alike || rng.IntN(3) > 0) {
					copy(out[i], out[0])
				}
			}
			return out
		}
		for range 60 {
			rows := make([][][]float64, units)
			for u := range rows {
				rows[u] = draw()
			}
			moved := map[int][]float64{} // by query: of the sum over the unit's sites
			var asks []study.Ask
			for i, q := range p.Queries {
				if q.Kind != study.KindScores && q.Kind != study.KindPicture {
					continue
				}
				course := p.Start()
				course.Query = i
				course.Center, course.Scale = anyShares(rng)
				course.X = nil
				for l := range p.K { // across each other, of columns of numbers and of levels
					x := make([]float64, leveledD)
					x[[]int{0, 5, 2}[l]] = 1
					course.X = append(course.X, x...)
					course.Deviations = append(course.Deviations, math.Exp2([]float64{1, 20, 100}[rng.IntN(3)]*(2*rng.Float64()-1)))
				}
				a, err := p.NewAsk(course, 0)
				if err == nil {
					err = p.Check(a)
				}
				if err != nil {
					t.Fatalf("%s, %s: %v", c.name, q.Kind, err)
				}
				asks = append(asks, a)
			}
			other, u := slices.Clone(rows), rng.IntN(units)
			other[u] = draw()
			for site := range p.SitesPerUnit {
				before, after := New(leveledMatrix(t, rows, people)), New(leveledMatrix(t, other, people))
				for _, a := range asks {
					x, y := must(t)(before.Answer(p, site, a, 1)), must(t)(after.Answer(p, site, a, 3))
					if q := p.Queries[a.Query]; len(x) != q.Values || len(y) != q.Values {
						t.Fatalf("%s, %s: %d numbers, the plan has %d", c.name, a.Kind, len(x), q.Values)
					}
					if moved[a.Query] == nil {
						moved[a.Query] = make([]float64, len(x))
					}
					for j := range x {
						moved[a.Query][j] += float64(x[j] - y[j])
						if p.Proposal.Spec.PictureBy == proposal.PictureBySite && a.Kind == study.KindPicture && j/256 != site && (x[j] != 0 || y[j] != 0) {
							t.Fatalf("%s: site %d fills the block of site %d", c.name, site, j/256)
						}
					}
				}
			}
			for query, differences := range moved {
				q, square := p.Queries[query], 0.0
				for _, v := range differences {
					square += v * v
				}
				bound := p.Noise.Sensitivity(q, 0)
				if square > bound*bound {
					t.Errorf("%s, %s: moved by %v, the plan's Δ is %v", c.name, q.Kind, math.Sqrt(square), bound)
				}
				key := fmt.Sprintf("%s, %s", c.name, q.Kind)
				worst[key] = max(worst[key], math.Sqrt(square)/bound)
			}
		}
	}
	for key, share := range worst {
		least := 0.95
		switch key {
		case "by site, people at two sites, picture":
			least = 0.7 // of two blocks: √2 of the 2 that is charged
		case "three pairs, scores":
			least = 0.8 // seldom is a unit in other bins of all three
		}
		if share < least {
			t.Errorf("%s: moved by %.3f of Δ at most", key, share)
		}
	}
}

// TestStudyOfPictures takes studies through every query with noise: pictures count the rows as the
// components see them, in groups by the rows' own levels or by site, and are off by at most six
// deviations of the noise in every bin, which one of some 2,000 bins exceeds once in 10^5 runs.
func TestStudyOfPictures(t *testing.T) {
	const units = 3000
	for seed, c := range picturePlans {
		t.Run(c.name, func(t *testing.T) {
			p := leveledPlan(t, units, func(s *proposal.Spec) {
				s.Picture, s.PictureShare, s.Epsilon = true, 0.3, 30
				c.change(s)
			})
			rng := rand.New(rand.NewPCG(45, uint64(seed)))
			people := p.Proposal.Spec.Unit != ""
			var all [3][][][]float64
			var sites []*Rows
			for site := range all {
				for range units {
					unit := [][]float64{leveledRow(rng, false)}
					if people {
						unit = append(unit, leveledRow(rng, false), slices.Clone(unit[0]))
					}
					all[site] = append(all[site], unit)
				}
				sites = append(sites, New(leveledMatrix(t, all[site], people)))
			}
			r := followed(t, p, sites, rng)
			spec := p.Proposal.Spec
			first, width := p.Pictures.First, p.Pictures.Width
			want := make([][][]float64, len(r.Pictures))
			scores := make([][]float64, p.K)
			for l := range scores {
				scores[l] = make([]float64, study.ScoreBins)
			}
			for i := range want {
				want[i] = make([][]float64, len(r.Pictures[i].Counts))
				for g := range want[i] {
					want[i][g] = make([]float64, 256)
				}
			}
			bin := func(score, deviation float64, bins int) int {
				return max(0, min(int(math.Floor(float64(bins)/2+score/deviation*float64(bins)/8)), bins-1))
			}
			for site, rows := range all {
				for _, unit := range rows {
					for _, row := range unit {
						along := func(l int) float64 {
							sum := 0.0
							for j, v := range row {
								if r.Components[l][j] != 0 {
									z := (v-r.Offset[j])/r.Scale[j] - r.Mean[j]
									if at := p.Layout.Coordinates[j]; spec.Columns[at.Column].Standardize == proposal.StandardizePrivate {
										z = max(-study.LearnedLimit, min(z, study.LearnedLimit))
									}
									sum += r.Components[l][j] * z
								}
							}
							return sum
						}
						share := 1 / float64(len(unit))
						for l := range scores {
							scores[l][bin(along(l), r.Scores[l].Edges[32]/4, 32)] += share
						}
						group := 0
						switch spec.PictureBy {
						case proposal.PictureByColumn:
							group = slices.Index(row[first:first+width], 1)
						case proposal.PictureBySite:
							group = site
						}
						for i, picture := range r.Pictures {
							x, y := picture.Pair[0]-1, picture.Pair[1]-1
							want[i][group][bin(along(x), picture.X[16]/4, 16)*16+bin(along(y), picture.Y[16]/4, 16)] += share
						}
					}
				}
			}
			// some scores lie on an edge, to the last bits: levels have few values
			const edges = 6
			off := func(what string, got, want []float64, sigma float64) {
				t.Helper()
				sum := 0.0
				for b := range want {
					sum += want[b]
					if math.Abs(got[b]-want[b]) > 6*sigma+edges {
						t.Errorf("%s: bin %d holds %.1f ± %.2g, want %.1f", what, b, got[b], sigma, want[b])
					}
				}
				if sum < 1 {
					t.Errorf("%s: there is nothing in it", what)
				}
			}
			for l, h := range r.Scores {
				off(fmt.Sprint("scores ", l+1), h.Counts, scores[l], h.Sigma)
			}
			for i, picture := range r.Pictures {
				for g, counts := range picture.Counts {
					off(fmt.Sprint("picture ", picture.Pair, " of group ", g), counts, want[i][g], picture.Sigma)
				}
			}
		})
	}
}

// followed is the result of a study over three sites, with noise from rng.
func followed(t *testing.T, p *study.Plan, sites []*Rows, rng *rand.Rand) *result.Result {
	t.Helper()
	c := p.Start()
	var releases []study.Release
	for c.Query < len(p.Queries) && c.End == "" {
		a, err := p.NewAsk(c, len(releases))
		if err == nil {
			err = p.Check(a)
		}
		if err != nil {
			t.Fatal(err)
		}
		sum := make([]int64, p.Queries[a.Query].Values)
		for site, rows := range sites {
			for j, v := range must(t)(rows.Answer(p, site, a, 1)) {
				sum[j] += v
			}
		}
		for j := range sum {
			sum[j] += int64(math.Round(p.NoiseFactor * a.Sigma.Float() * rng.NormFloat64()))
		}
		r, err := p.NewRelease(a, []int{0, 1, 2}, sum)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, releases); err != nil {
			t.Fatal(err)
		}
		releases = append(releases, r)
	}
	if c.End != "" {
		t.Fatalf("the study ended: %s", c.End)
	}
	out, err := result.New(p, releases)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPictureLeavesDroppedRowsOut: a unit whose rows are all left out is in no bin, and a row
// without a level in no group.
func TestPictureLeavesDroppedRowsOut(t *testing.T) {
	p := leveledPlan(t, 10, func(s *proposal.Spec) {
		s.Method, s.Missing, s.Picture, s.PictureBy, s.PictureColumn = proposal.MethodCovariance, proposal.MissingDropRow, true, proposal.PictureByColumn, "color"
	})
	values := make([]float64, 3*leveledD) // the first is left out, the second has no level
	values[leveledD], values[2*leveledD], values[2*leveledD+2] = 1, 1, 1
	m, err := clip.NewMatrix(leveledD, values, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Start()
	c.X = make([]float64, 2*leveledD)
	c.X[0], c.X[leveledD+5] = 1, 1
	c.Center, c.Scale, c.Deviations = make([]float64, leveledD), slices.Repeat([]float64{1}, leveledD), []float64{1, 1}
	for i, q := range p.Queries {
		want := map[study.Kind]int64{study.KindScores: 2 * 2, study.KindPicture: 1}[q.Kind]
		if want == 0 {
			continue
		}
		c.Query = i
		a, err := p.NewAsk(c, 0)
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, v := range must(t)(New(m).Answer(p, 0, a, 1)) {
			sum += v
		}
		if sum != want<<16 {
			t.Errorf("%s: %v rows are counted, want %d", q.Kind, float64(sum)/0x1p16, want)
		}
	}
}

// A level that is joined to its column's other texts is among them in pictures by the column, too:
// a group of its own would show the few units that have it.
func TestJoinedLevelHasNoPicture(t *testing.T) {
	const units = 300
	p, rng := leveledPlan(t, units, func(s *proposal.Spec) {
		s.Method, s.Picture, s.PictureBy, s.PictureColumn = proposal.MethodCovariance, true, proposal.PictureByColumn, "color"
	}), rand.New(rand.NewPCG(9, 9))
	rows, renamed := make([][][]float64, units), make([][][]float64, units)
	for u := range rows {
		row := leveledRow(rng, false)
		as := slices.Clone(row)
		if as[2] != 0 {
			as[2], as[4] = 0, 1
		}
		rows[u], renamed[u] = [][]float64{row}, [][]float64{as}
	}
	answer := func(rows [][][]float64, scale float64) []int64 {
		c := p.Start()
		c.Query = slices.IndexFunc(p.Queries, func(q study.Query) bool { return q.Kind == study.KindPicture })
		c.Center, c.Scale = make([]float64, leveledD), []float64{1, 0.5, scale, 0.5, 0.5, 1, 0.7, 0.7}
		c.X, c.Deviations = make([]float64, 2*leveledD), []float64{1, 1}
		c.X[0], c.X[leveledD+5] = 1, 1
		a, err := p.NewAsk(c, 0)
		if err == nil {
			err = p.Check(a)
		}
		if err != nil {
			t.Fatal(err)
		}
		return must(t)(New(leveledMatrix(t, rows, false)).Answer(p, 1, a, 1))
	}
	if !slices.Equal(answer(rows, 0), answer(renamed, 0)) {
		t.Error("a joined level is not among the other texts")
	}
	if slices.Equal(answer(rows, 0.25), answer(renamed, 0.25)) {
		t.Error("no row has the level")
	}
}

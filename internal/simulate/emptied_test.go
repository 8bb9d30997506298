package simulate

import (
	"math"
	"math/rand/v2"
	"testing"

	"covey/internal/dataset"
)

// TestEmptiedUnits: of units of one row or of several, many have no value in a column, or no row
// that is kept. What is learned of the others is still theirs, also of a rare flag, whose counts
// are mostly zeros, and the variance is that of kept rows. Noise is keyed.
func TestEmptiedUnits(t *testing.T) {
	const d, sites, units = 6, 3, 3000
	for name, c := range map[string]struct {
		keys string
		rows int     // of a unit
		gaps float64 // share of cells
	}{
		"one row, dropped":      {`missing = "drop-row"`, 1, 0.17},
		"several rows, dropped": {`missing = "drop-row"`, 3, 0.2},
		"several rows, filled":  {`missing = "fill"`, 3, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := spec(t, d, "unit = \"u\"\nstandardize = \"private\"\ncomponents = 2\nnoise = \"distributed\"\n"+c.keys+"\n", "")
			rng := rand.New(rand.NewPCG(3, 8))
			x := over(t, Trials{Spec: s, Times: 1, Key: [32]byte{7}}, sites, func(int) *dataset.Rows {
				out := table(units*c.rows, func() []float64 {
					factor, row := rng.NormFloat64(), make([]float64, d)
					for j := range row {
						row[j] = 20 + 3*(0.7*factor+0.7*rng.NormFloat64())
					}
					if row[0] = 0; factor+rng.NormFloat64() > 1.2 { // of a fifth
						row[0] = 1
					}
					return row
				})
				out.Units = units
				if s.KeepsGaps() {
					out.Gaps = make([]byte, out.Rows)
				}
				for i := range out.Rows {
					out.Unit = append(out.Unit, i/c.rows)
					gone := false
					for j := range d {
						switch {
						case rng.Float64() >= c.gaps:
						case s.KeepsGaps():
							out.Gaps[i] |= 1 << j
							out.Values[i*d+j] = 0
						default:
							gone = true
						}
					}
					if gone {
						clear(out.Values[i*d : (i+1)*d])
						out.Absent = append(out.Absent, i)
						out.Dropped++
					}
				}
				return out
			})
			studies, r, err := x.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r == nil {
				t.Fatalf("ended: %s", studies[0].Ended)
			}
			if len(r.LeftOut) > 0 {
				t.Errorf("left out %+v", r.LeftOut)
			}
			for j, scale := range r.Scale[1:] {
				if flag := r.Scale[0] / scale; math.Abs(flag/(0.4/2.97)-1) > 0.12 {
					t.Errorf("the flag has %.3f of the scale %.3f of column %d, want %.3f", flag, scale, j+1, 0.4/2.97)
				}
			}
			if got := Sum(studies, 0).Correlated; got == nil || got.Worst < 0.98 {
				t.Errorf("captured %+v", got)
			}
		})
	}
}

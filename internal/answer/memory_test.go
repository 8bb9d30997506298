package answer

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"covey/internal/clip"
	"covey/internal/proposal"
	"covey/test/runs"
)

// TestNoStudyCopiesTheRows: whatever a study does to its rows, none of its queries allocates a copy
// of them.
func TestNoStudyCopiesTheRows(t *testing.T) {
	const n, d = 16_384, 64 // 8 MiB
	for name, change := range map[string]func(*proposal.Spec){
		"center":     func(s *proposal.Spec) { s.Method, s.Components = proposal.MethodPower, 3 },
		"covariance": func(s *proposal.Spec) { s.Method, s.Components = proposal.MethodCovariance, 3 },
		"auto":       func(s *proposal.Spec) { s.Components = 3 },
		"deflation": func(s *proposal.Spec) {
			s.Method, s.Components, s.Subspace = proposal.MethodPower, 3, proposal.SubspaceDeflation
		},
		"sphere":       func(s *proposal.Spec) { s.Method, s.Rows = proposal.MethodPower, proposal.RowsSphere },
		"standardized": func(s *proposal.Spec) { s.Method, s.Standardize = proposal.MethodPower, proposal.StandardizePrivate },
		"fill": func(s *proposal.Spec) {
			s.Method, s.Components, s.Missing = proposal.MethodPower, 3, proposal.MissingFill
		},
		"pairs": func(s *proposal.Spec) { s.Method, s.Center = proposal.MethodPower, proposal.CenterPairs },
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "auto" && name != "fill" && name != "standardized" {
				t.Skip("a second of processor time")
			}
			spec := proposal.Spec{Name: "memory", Dataset: "rows", Epsilon: 8, Delta: 1e-6, Center: proposal.CenterPrivate}
			change(&spec)
			for j := range d {
				c := proposal.Column{Name: fmt.Sprint("c", j), Scale: 1}
				if spec.Standardize != "" {
					c.Scale = 0
				}
				spec.Columns = append(spec.Columns, c)
			}
			p := runs.PlanOf(t, spec, n, n, n)
			values, gaps, rng := make([]float64, n*d), []byte(nil), rand.New(rand.NewPCG(3, 4))
			for i := range values {
				values[i] = rng.NormFloat64()
			}
			if spec.Missing == proposal.MissingFill {
				gaps = make([]byte, n*d/8)
				for i := range n {
					values[i*d], gaps[i*d/8] = 0, 1
				}
			}
			m, err := clip.NewGapped(d, values, gaps, nil)
			if err != nil {
				t.Fatal(err)
			}
			rows := New(m)
			for i, q := range p.Queries {
				ask, err := p.Trial(i)
				if err != nil {
					t.Fatal(err)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err := rows.Answer(p, 0, ask, 2); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				// norms are an eighth; an answer and blocks take the rest
				if took := after.TotalAlloc - before.TotalAlloc; took > n*d*8/2 {
					t.Errorf("query %d, %s of %q, allocates %d bytes; the rows are %d", i, q.Kind, q.Of, took, n*d*8)
				}
			}
		})
	}
}

package main

import (
	"fmt"
)

// growth are tables of how the sum's time grows with n at one d, and with d over as many bytes, on one core.
func growth(bytes, repeat int) ([]table, error) {
	has := paths()
	best := has[len(has)-1]
	head := []string{"of read", "ms", "ns a row", "ns a value"}
	measure := func(d, bytes int) (ofRead, seconds float64, r *rows, err error) {
		if r, err = newRows(d, bytes); err != nil {
			return 0, 0, nil, err
		}
		var agree same
		all := []contestant{r.read("read", best, 1), agree.sum("sum", best, r.wide, query(d, 1), 1)}
		rounds := max(1, 1<<20/(r.n*d)) // short ones are repeated within a turn
		for i, c := range all {
			all[i].run = func() error {
				for range rounds {
					if err := c.run(); err != nil {
						return err
					}
				}
				return nil
			}
		}
		spent, err := turns(all, repeat)
		if err != nil {
			return 0, 0, nil, err
		}
		return spent.ratio("read", "sum"), median(spent["sum"]) / float64(rounds), r, nil
	}
	const d = 256
	var x, y []float64
	byRows := table{Head: append([]string{"n"}, head...)}
	for n := 1 << 10; 8*n*d <= bytes; n *= 4 {
		ofRead, s, r, err := measure(d, 8*n*d)
		if err != nil {
			return nil, err
		}
		byRows.add(fmt.Sprint(r.n), ofRead, s*1e3, s*1e9/float64(r.n), s*1e9/float64(r.n*d))
		x, y = append(x, float64(r.n)), append(y, s)
	}
	byRows.Title = fmt.Sprintf("**Growth with n**, d = %d, %s float64, one core: time is n to the power %.3f.", d, best, slope(x, y))
	x, y = nil, nil
	byColumns := table{Head: append([]string{"d"}, head...)}
	for d := 16; d <= 1<<16 && 8*d*16 <= bytes; d *= 4 {
		ofRead, s, r, err := measure(d, min(bytes, 128<<20))
		if err != nil {
			return nil, err
		}
		byColumns.add(fmt.Sprint(d), ofRead, s*1e3, s*1e9/float64(r.n), s*1e9/float64(r.n*d))
		x, y = append(x, float64(d)), append(y, s/float64(r.n))
	}
	byColumns.Title = fmt.Sprintf("**Growth with d**, %d MB, %s float64, one core: time a row is d to the power %.3f.", min(bytes, 128<<20)>>20, best, slope(x, y))
	return []table{byRows, byColumns}, nil
}

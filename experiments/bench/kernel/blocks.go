package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// blocks is the table of k directions at one d, on one core.
func blocks(d, bytes, repeat int, ks []int) (table, error) {
	r, err := newRows(d, bytes)
	if err != nil {
		return table{}, err
	}
	has := paths()
	t := table{
		Title: fmt.Sprintf("**k directions at once, d = %d**, %d rows, %d MB of float64, one core. Times single: k sums of one direction over one of k.", d, r.n, 8*r.n*d>>20),
		Head:  []string{"d = " + fmt.Sprint(d), "times single", "times OpenBLAS", "times gonum", "of read", "ns a value and direction"},
	}
	one := query(d, 1)
	for _, k := range ks {
		if k > d {
			continue
		}
		q := query(d, k)
		var all []contestant
		var agree, agreeOne same
		var reads []string
		for _, p := range has {
			reads = append(reads, "read "+p)
			all = append(all, r.read("read "+p, p, 1))
		}
		for _, p := range has[1:] { // the portable one has no tiles, and is slow
			all = append(all, agreeOne.sum("one "+p, p, r.wide, one, 1), agreeOne.sum("one32 "+p, p, r.narrow, one, 1),
				agree.sum("block "+p, p, r.wide, q, 1), agree.sum("block32 "+p, p, r.narrow, q, 1))
		}
		all = append(all, gemm(r, q.X, k)...)
		spent, err := turns(all, repeat)
		if err != nil {
			return table{}, err
		}
		limit := spent.fastest(reads...)
		for _, p := range has[1:] {
			for _, form := range []struct{ suffix, name string }{{"", "float64"}, {"32", "float32"}} {
				name := "block" + form.suffix + " " + p
				t.add(fmt.Sprintf("k = %d, covey %s %s", k, p, form.name), float64(k)*spent.ratio("one"+form.suffix+" "+p, name), spent.ratio(openblasBlock, name),
					spent.ratio("gonum, two Gemm", name), spent.ratio(limit, name), r.each(median(spent[name]), k))
			}
		}
		for _, name := range []string{"gonum, two Gemm", openblasBlock} {
			if len(spent[name]) > 0 {
				t.add(fmt.Sprintf("k = %d, %s", k, name), math.NaN(), spent.ratio(openblasBlock, name), spent.ratio("gonum, two Gemm", name), spent.ratio(limit, name), r.each(median(spent[name]), k))
			}
		}
	}
	return t, nil
}

// each is the ns for a value and direction.
func (r *rows) each(seconds float64, k int) float64 { return seconds * 1e9 / float64(r.n*r.d*k) }

// openblasBlock names its contestant of two products of matrices.
const openblasBlock = "OpenBLAS, two dgemm"

// gemm are other ways to compute Σ y (yᵀX) on one core, without clipping or rounding.
func gemm(r *rows, x []float64, k int) []contestant {
	var impl gonum.Implementation
	n, d, s, z := r.n, r.d, make([]float64, r.n*k), make([]float64, k*r.d)
	all := []contestant{{"gonum, two Gemm", 1, func() error {
		alone(func() {
			impl.Dgemm(blas.NoTrans, blas.Trans, n, k, d, 1, r.values, d, x, d, 0, s, k)
			impl.Dgemm(blas.Trans, blas.NoTrans, k, d, n, 1, s, k, r.values, d, 0, z, d)
		})
		return nil
	}}}
	if blasName != "none" {
		all = append(all, contestant{openblasBlock, 1, func() error {
			blasGemm(n, d, k, r.values, x, s, z)
			return nil
		}})
	}
	return all
}

package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"covey/internal/study"
)

// The demo's data: see diamonds/NOTICE.md.
//
//go:embed diamonds/diamonds.csv.gz
var diamondsCSV []byte

// diamondCuts are the demo's five sites, in the order of their size.
var diamondCuts = []string{"Fair", "Good", "Very Good", "Premium", "Ideal"}

// diamondColumns are the numeric columns with their public offset and scale.
var diamondColumns = []study.Column{
	{Name: "carat", Offset: 0.8, Scale: 0.5}, {Name: "depth", Offset: 62, Scale: 1.5}, {Name: "table", Offset: 57, Scale: 2.2},
	{Name: "price", Offset: 4000, Scale: 4000}, {Name: "x", Offset: 5.7, Scale: 1.1}, {Name: "y", Offset: 5.7, Scale: 1.1}, {Name: "z", Offset: 3.5, Scale: 0.7},
}

// siteName turns a cut into a site's name: "Very Good" is very-good.
func siteName(cut string) string { return strings.ReplaceAll(strings.ToLower(cut), " ", "-") }

// diamonds is the demo's data in the clear, which only a demo has: it measures
// what the study lost against pooling.
type diamonds struct {
	second *mat.SymDense // pooled second moment of the scaled columns, d×d
	units  map[string]int
}

// splitDiamonds writes each site's rows to dir/SITE.csv, 0600.
func splitDiamonds(dir string) (*diamonds, error) {
	z, err := gzip.NewReader(bytes.NewReader(diamondsCSV))
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		return nil, err
	}
	header := rows[0]
	column := map[string]int{}
	for i, name := range header {
		column[name] = i
	}
	d := len(diamondColumns)
	data := &diamonds{second: mat.NewSymDense(d, nil), units: map[string]int{}}
	writers := map[string]*csv.Writer{}
	var files []io.Closer
	for _, cut := range diamondCuts {
		f, err := os.OpenFile(filepath.Join(dir, siteName(cut)+".csv"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		writers[cut] = csv.NewWriter(f)
		writers[cut].Write(header)
	}
	y := mat.NewVecDense(d, nil)
	for _, row := range rows[1:] {
		cut := row[column["cut"]]
		if writers[cut] == nil {
			return nil, fmt.Errorf("diamonds: unknown cut %q", cut)
		}
		writers[cut].Write(row)
		data.units[siteName(cut)]++
		for j, c := range diamondColumns {
			v, err := strconv.ParseFloat(row[column[c.Name]], 64)
			if err != nil {
				return nil, fmt.Errorf("diamonds: column %s: not a number", c.Name)
			}
			y.SetVec(j, (v-c.Offset)/c.Scale)
		}
		data.second.SymRankOne(data.second, 1/float64(len(rows)-1), y)
	}
	for _, cut := range diamondCuts {
		writers[cut].Flush()
		if err := writers[cut].Error(); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// best gives the pooled non-private answer: the top eigenvalue and its direction,
// the largest loading positive.
func (d *diamonds) best() (float64, []float64, error) {
	var e mat.EigenSym
	if !e.Factorize(d.second, true) {
		return 0, nil, fmt.Errorf("diamonds: the eigenvalues do not converge")
	}
	values := e.Values(nil)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	v := mat.Col(nil, len(values)-1, &vectors)
	top := 0
	for i := range v {
		if abs(v[i]) > abs(v[top]) {
			top = i
		}
	}
	if v[top] < 0 {
		for i := range v {
			v[i] = -v[i]
		}
	}
	return values[len(values)-1], v, nil
}

// captured is xᵀMx over the best possible.
func (d *diamonds) captured(x []float64) (float64, error) {
	best, _, err := d.best()
	if err != nil {
		return 0, err
	}
	v := mat.NewVecDense(len(x), x)
	return mat.Inner(v, d.second, v) / best, nil
}

func abs(v float64) float64 { return max(v, -v) }

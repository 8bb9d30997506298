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

// parcelColumn numbers each site's rows by threes: there is no other column whose values
// could be units.
const parcelColumn = "parcel"

// siteName turns a cut into a site's name: "Very Good" is very-good.
func siteName(cut string) string { return strings.ReplaceAll(strings.ToLower(cut), " ", "-") }

// diamonds is the demo's data in the clear, which only a demo has: it measures
// what the study lost against pooling.
type diamonds struct {
	// pooled second moment of the scaled columns, less the mean's where the study centres; d×d
	second *mat.SymDense
	units  map[string]int
}

// splitDiamonds writes each site's rows to dir/SITE.csv, 0600.
// Each three rows of a site are one parcel, a unit that --unit can name. centered is
// whether the study takes a mean off.
func splitDiamonds(dir string, columns []study.Column, centered bool) (*diamonds, error) {
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
	d := len(columns)
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
		writers[cut].Write(append(header, parcelColumn))
	}
	y, mean := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
	for _, row := range rows[1:] {
		cut := row[column["cut"]]
		if writers[cut] == nil {
			return nil, fmt.Errorf("diamonds: unknown cut %q", cut)
		}
		writers[cut].Write(append(row, strconv.Itoa(data.units[siteName(cut)]/3)))
		data.units[siteName(cut)]++
		for j, c := range columns {
			v, err := strconv.ParseFloat(row[column[c.Name]], 64)
			if err != nil {
				return nil, fmt.Errorf("diamonds: column %s: not a number", c.Name)
			}
			y.SetVec(j, (v-c.Offset)/c.Scale)
		}
		data.second.SymRankOne(data.second, 1/float64(len(rows)-1), y)
		mean.AddScaledVec(mean, 1/float64(len(rows)-1), y)
	}
	if centered {
		data.second.SymRankOne(data.second, -1, mean)
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

// best returns the pooled non-private answer: the k largest eigenvalues' sum and their
// directions, each with its largest loading positive.
func (d *diamonds) best(k int) (float64, [][]float64, error) {
	var e mat.EigenSym
	if !e.Factorize(d.second, true) {
		return 0, nil, fmt.Errorf("diamonds: the eigenvalues do not converge")
	}
	values := e.Values(nil)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	sum, out := 0.0, make([][]float64, k)
	for i := range k {
		v := mat.Col(nil, len(values)-1-i, &vectors)
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
		sum, out[i] = sum+values[len(values)-1-i], v
	}
	return sum, out, nil
}

// captured is tr(XᵀMX) over the best possible of as many orthonormal vectors.
func (d *diamonds) captured(x [][]float64) (float64, error) {
	best, _, err := d.best(len(x))
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, x := range x {
		v := mat.NewVecDense(len(x), x)
		sum += mat.Inner(v, d.second, v)
	}
	return sum / best, nil
}

func abs(v float64) float64 { return max(v, -v) }

package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
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

// diamondSites are the sites' names.
func diamondSites() (out []string) {
	for _, cut := range diamondCuts {
		out = append(out, siteName(cut))
	}
	return out
}

// diamonds is the demo's data in the clear, which only a demo has: it measures
// what the study lost against pooling.
type diamonds struct {
	spec study.Spec
	at   []study.Coordinate
	// second is the pooled rows' second moment, less the mean's where the study centers; d×d. Each
	// coordinate is divided by its scale: the column's public one or, of raw tables, the pooled
	// standard deviation of numbers and √p of a level that a share p of the rows has.
	second *mat.SymDense
	scale  []float64
}

// readDiamonds returns the table, its header first, and where each of its columns is.
func readDiamonds() (rows [][]string, column map[string]int, err error) {
	z, err := gzip.NewReader(bytes.NewReader(diamondsCSV))
	if err != nil {
		return nil, nil, err
	}
	if rows, err = csv.NewReader(z).ReadAll(); err != nil {
		return nil, nil, err
	}
	column = map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	return rows, column, nil
}

// splitDiamonds writes each site's rows to dir/SITE.csv, 0600. Each three rows of a site are one
// parcel, a unit that --unit can name. Of a raw table cells are emptied as they are written: what
// the study is measured by are the rows before.
func splitDiamonds(dir string, spec study.Spec, raw bool) (*diamonds, error) {
	rows, column, err := readDiamonds()
	if err != nil {
		return nil, err
	}
	data, err := measure(rows[1:], column, spec, raw)
	if err != nil {
		return nil, err
	}
	keep := func(row []string) []string { return row }
	if raw {
		if keep, err = emptier(); err != nil {
			return nil, err
		}
	}
	of := map[string][][]string{}
	for _, row := range rows[1:] {
		cut := row[column["cut"]]
		of[cut] = append(of[cut], row)
	}
	for _, cut := range diamondCuts {
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		w.Write(append(rows[0], parcelColumn))
		for i, row := range of[cut] {
			w.Write(append(keep(row), strconv.Itoa(i/3)))
		}
		w.Flush()
		if err := os.WriteFile(filepath.Join(dir, siteName(cut)+".csv"), text.Bytes(), 0o600); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// measure computes what pooling would have.
func measure(rows [][]string, column map[string]int, spec study.Spec, raw bool) (*diamonds, error) {
	data := &diamonds{spec: spec, at: spec.Coordinates()}
	d := len(data.at)
	data.second, data.scale = mat.NewSymDense(d, nil), make([]float64, d)
	y, mean := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
	for _, row := range rows {
		for j, at := range data.at {
			c := spec.Columns[at.Column]
			cell := row[column[c.Name]]
			switch {
			case at.Level == len(c.Levels): // every text of the table is a level
				y.SetVec(j, 0)
			case at.Level >= 0:
				y.SetVec(j, 0)
				if cell == c.Levels[at.Level] {
					y.SetVec(j, 1)
				}
			default:
				v, err := strconv.ParseFloat(cell, 64)
				if err != nil {
					return nil, fmt.Errorf("diamonds: column %s: not a number", c.Name)
				}
				y.SetVec(j, (v-c.Offset)/c.Scale)
			}
		}
		data.second.SymRankOne(data.second, 1/float64(len(rows)), y)
		mean.AddScaledVec(mean, 1/float64(len(rows)), y)
	}
	if spec.Center != study.CenterPublic {
		data.second.SymRankOne(data.second, -1, mean)
	}
	for j, at := range data.at {
		data.scale[j] = 1
		if raw {
			variance := data.second.At(j, j)
			if at.Level >= 0 {
				variance = mean.AtVec(j) // a share p: an indicator over √p
			}
			data.scale[j] = math.Sqrt(variance)
		}
	}
	for i := range d {
		for j := range i + 1 {
			if s := data.scale[i] * data.scale[j]; s > 0 {
				data.second.SetSym(i, j, data.second.At(i, j)/s)
			}
		}
	}
	for i := range d { // in the file's own units
		data.scale[i] *= cmp.Or(spec.Columns[data.at[i].Column].Scale, 1)
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

// captured returns the pooled variance along what a result's components add up of a row, over the
// best possible of as many. Component x adds up Σ x_j·(value - offset_j)/scale_j with the result's
// scales; in pooled coordinates that is the vector of x_j·(pooled scale)/scale_j, and the vectors
// are made orthonormal. A level that joined its column's other texts has their part.
func (d *diamonds) captured(r *study.Result, x [][]float64) (float64, error) {
	best, _, err := d.best(len(x))
	if err != nil {
		return 0, err
	}
	joined := map[string]bool{}
	for _, l := range r.LeftOut {
		joined[l.Column] = l.Why == study.OutJoined
	}
	vectors := mat.NewDense(len(d.at), len(x), nil)
	for k, x := range x {
		for j, at := range d.at {
			from := j
			if joined[at.Name] {
				from += len(d.spec.Columns[at.Column].Levels) - at.Level
			}
			vectors.Set(j, k, x[from]*d.scale[j]/r.Scale[from])
		}
	}
	var qr mat.QR
	qr.Factorize(vectors)
	var q mat.Dense
	qr.QTo(&q)
	sum := 0.0
	for k := range x {
		v := q.ColView(k)
		sum += mat.Inner(v, d.second, v)
	}
	return sum / best, nil
}

func abs(v float64) float64 { return max(v, -v) }

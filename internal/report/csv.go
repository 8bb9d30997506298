package report

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"

	"covey/internal/name"
	"covey/internal/result"
	"covey/internal/worth"
)

// csvFields are the table's first fields; the data's columns follow, then csvPrivacy where the
// result says what its ε is for.
var csvFields = []string{"component", "explained_variance", "explained_variance_low", "explained_variance_high", "explained_variance_ratio"}

var csvPrivacy = []string{"epsilon", "delta", "adjacency"}

var csvWorth = []string{"captured_share", "captured_share_low", "separated", "angle_95_degrees"}

// WriteCSV writes a table of RFC 4180 with a header, and one line for each component: its number
// from 1, its explained variance with the ends of the 95% interval and its part of the total (empty
// where they were not bought), then its loadings on the scaled columns, then the privacy of the
// whole table, then what it is worth where of is given: the captured share of all components and
// its lower bound, whether the component is separated and the bound of its angle, and the ends of
// each loading's 95% interval as NAME low and NAME high, empty where unknown, and last, of a
// simulated result alone, the word true under "simulated". Three lines come before: offset, scale
// and mean in place of a component's number: a row's value in each column, less the first, divided
// by the second and less the third, is what loadings multiply. These lines also have the privacy
// and the last word, and nothing else. Numbers are the shortest that read back to the same float64.
// A column's name that a spreadsheet might take for a formula has an apostrophe before it.
func WriteCSV(w io.Writer, r *result.Result, of ...*worth.Report) error {
	if err := check(r); err != nil {
		return err
	}
	if len(of) > 0 {
		r = of[0].Shown(r)
	}
	c := csv.NewWriter(w)
	var privacy, named []string
	if r.Adjacency != "" {
		privacy, named = []string{number(r.Epsilon), number(r.Delta), r.Adjacency}, csvPrivacy
	}
	names := make([]string, len(r.Columns))
	for i, column := range r.Columns {
		names[i] = name.Cell(column)
	}
	var bounds []string
	if len(of) > 0 {
		bounds = slices.Clone(csvWorth)
		for _, column := range names {
			bounds = append(bounds, column+" low", column+" high")
		}
	}
	var mark, simulated []string
	if r.Simulated {
		mark, simulated = []string{"simulated"}, []string{"true"}
	}
	if err := c.Write(slices.Concat(csvFields, names, named, bounds, mark)); err != nil {
		return err
	}
	for _, of := range []struct {
		name   string
		values []float64
	}{{"offset", r.Offset}, {"scale", r.Scale}, {"mean", r.Mean}} {
		row := append([]string{of.name}, make([]string, len(csvFields)-1)...)
		row = append(numbers(row, of.values), privacy...)
		if err := c.Write(slices.Concat(row, make([]string, len(bounds)), simulated)); err != nil {
			return err
		}
	}
	for i, loadings := range r.Components {
		row := []string{strconv.Itoa(i + 1), "", "", "", ""}
		if len(r.ExplainedVariance) > 0 {
			row[1], row[2], row[3] = number(r.ExplainedVariance[i]), number(r.VarianceInterval[i][0]), number(r.VarianceInterval[i][1])
		}
		if shares := r.Shares(); len(shares) > 0 && !math.IsNaN(shares[i]) {
			row[4] = number(shares[i])
		}
		row = append(numbers(row, loadings), privacy...)
		if len(of) > 0 {
			row = append(row, worthCells(of[0], i, r.D)...)
		}
		row = append(row, simulated...)
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

func worthCells(of *worth.Report, i, d int) []string {
	row := make([]string, len(csvWorth)+2*d)
	if of.Share != nil {
		row[0], row[1] = number(of.Share.Estimate), number(of.Share.Lower)
	}
	if i < len(of.Components) {
		c := of.Components[i]
		row[2] = strconv.FormatBool(c.Separated)
		if c.Angle != nil {
			row[3] = number(*c.Angle)
		}
		for j, in := range c.Loadings {
			row[len(csvWorth)+2*j], row[len(csvWorth)+2*j+1] = number(in[0]), number(in[1])
		}
	}
	return row
}

func numbers(row []string, values []float64) []string {
	for _, v := range values {
		row = append(row, number(v))
	}
	return row
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

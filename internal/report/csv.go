package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"covey/internal/study"
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
// each loading's 95% interval as NAME low and NAME high, empty where unknown. Numbers are the
// shortest that read back to the same float64.
func WriteCSV(w io.Writer, r *study.Result, of ...*worth.Report) error {
	if err := check(r); err != nil {
		return err
	}
	c := csv.NewWriter(w)
	var privacy, named []string
	if r.Adjacency != "" {
		privacy, named = []string{number(r.Epsilon), number(r.Delta), r.Adjacency}, csvPrivacy
	}
	var bounds []string
	if len(of) > 0 {
		bounds = slices.Clone(csvWorth)
		for _, name := range r.Columns {
			bounds = append(bounds, name+" low", name+" high")
		}
	}
	if err := c.Write(slices.Concat(csvFields, r.Columns, named, bounds)); err != nil {
		return err
	}
	for i, loadings := range r.Components {
		row := []string{strconv.Itoa(i + 1), "", "", "", ""}
		if len(r.ExplainedVariance) > 0 {
			row[1], row[2], row[3] = number(r.ExplainedVariance[i]), number(r.VarianceInterval[i][0]), number(r.VarianceInterval[i][1])
		}
		if len(r.VarianceRatio) > 0 {
			row[4] = number(r.VarianceRatio[i])
		}
		for _, v := range loadings {
			row = append(row, number(v))
		}
		row = append(row, privacy...)
		if len(of) > 0 {
			row = append(row, worthCells(of[0], i, r.D)...)
		}
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

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

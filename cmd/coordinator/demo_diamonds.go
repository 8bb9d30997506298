package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"covey/internal/proposal"
	"covey/internal/simulate"
)

// The demo's data: see diamonds/NOTICE.md.
//
//go:embed diamonds/diamonds.csv.gz
var diamondsCSV []byte

// diamondCuts are the demo's five sites, in the order of their size.
var diamondCuts = []string{"Fair", "Good", "Very Good", "Premium", "Ideal"}

// diamondColumns are the numeric columns with their public offset and scale.
var diamondColumns = []proposal.Column{
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
func splitDiamonds(dir string, spec proposal.Spec, raw bool) (*simulate.Pooled, error) {
	rows, column, err := readDiamonds()
	if err != nil {
		return nil, err
	}
	data, err := pooled(rows[1:], column, spec)
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

// pooled computes what pooling the demo's rows would have, in the clear, which only a demo has.
func pooled(rows [][]string, column map[string]int, spec proposal.Spec) (*simulate.Pooled, error) {
	at := spec.Coordinates()
	y := make([]float64, len(at))
	return simulate.NewPooled(spec, func(see func([]float64)) error {
		for _, row := range rows {
			for j, at := range at {
				c := spec.Columns[at.Column]
				cell := row[column[c.Name]]
				y[j] = 0
				switch {
				case at.Level == len(c.Levels): // every text of the table is a level
				case at.Level >= 0:
					if cell == c.Levels[at.Level] {
						y[j] = 1
					}
				default:
					v, err := strconv.ParseFloat(cell, 64)
					if err != nil {
						return fmt.Errorf("diamonds: column %s: not a number", c.Name)
					}
					y[j] = (v - c.Offset) / cmp.Or(c.Scale, 1)
				}
			}
			see(y)
		}
		return nil
	})
}

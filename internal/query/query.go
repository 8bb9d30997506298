// Package query has the table of what a study may ask of its sites, and the numbers that every kind
// of query shares: grids, sensitivities and the bins of histograms. Package clip computes sums with
// it, package study plans and scales noise with it, and pages, progress and the egress log take
// their words from it.
package query

import (
	"slices"
	"strconv"
	"strings"
)

// Kind names a kind of query, in results, logs and JSON.
type Kind string

// Directions are which orthonormal directions a query is asked along.
type Directions uint8

// The directions of a query.
const (
	None       Directions = iota
	Iterate               // the block that power iteration works on
	Components            // the components found
)

// Definition is a row of the table: one kind of query. A unit's rows become a vector, by Map, and
// the query is for the clipped sum of the vectors of all units; or it counts units or groups of
// them.
type Definition struct {
	Kind  Kind
	Title string // what is asked for, on pages and in progress
	Tag   string // the title in a few letters
	// Sends is what leaves a site, with {units} for the number of its units and {values} for that
	// of the answer's numbers.
	Sends      string
	Directions Directions
	// how often it is asked, each time about the result of the last; 0 where a study's keys say
	Steps    int
	Counts   bool // its answer is counts: no radius, a grid that the plan sets
	Centered bool // it is about rows less the center, once a center is released
	// Values returns how many numbers an answer has at most, for rows of d numbers and k
	// directions. Of Octaves, Tree and Moments d is how many columns they count. Of Picture it is
	// for one group.
	Values func(d, k int) int
	// Delta returns the L2 sensitivity of the sum in grid units, rounded up, to the replacement of
	// one unit: ratio is R/g, exact. It is nil for counts. It derives from the map alone, and
	// docs/privacy.md proves it.
	Delta func(ratio float64, values int) float64
	// CountDelta is Delta for counts: ratio is 1/g, and the grid must be [ColumnGrid]. It is nil
	// for counts of one bin a unit, whose sensitivity is [HistogramSensitivity] on any grid.
	CountDelta func(ratio float64, values int) float64
	// Map adds what one row becomes to its unit's vector, of Values numbers; x has the directions,
	// one after another. A row that stands for none, since a value of it is missing, adds nothing.
	// It changes neither row nor x. It is nil for counts. Map defines a sum: clip has faster code
	// for the kinds that it names, and calls Map for the others.
	Map func(sum, row, x []float64)
}

// Kinds returns the table, which no caller may change.
func Kinds() []Definition { return table }

// Definition returns the kind's row. A kind that is not in the table has one without a map or a
// Delta.
func (k Kind) Definition() Definition {
	if i := slices.IndexFunc(table, func(d Definition) bool { return d.Kind == k }); i >= 0 {
		return table[i]
	}
	return Definition{Kind: k, Title: "query of no known kind", Tag: "?", Sends: "an answer of {values} numbers", Values: one}
}

// Title returns what a query is for; of is the kind whose norms a histogram counts, empty for other
// kinds.
func (k Kind) Title(of Kind) string {
	if of == "" {
		return k.Definition().Title
	}
	return k.Definition().Title + " of the " + of.Definition().Title
}

// Sends returns what leaves a site that has so many units, in an answer of so many numbers.
func (k Kind) Sends(units, values int) string {
	return k.SendsOf(strconv.Itoa(units), strconv.Itoa(values))
}

// singular is how [Definition.Sends] counts one.
var singular = strings.NewReplacer("{values} numbers", "one number", "{values} components", "one component", "{values} columns", "one column")

// SendsOf is Sends with its counts in words.
func (k Kind) SendsOf(units, values string) string {
	text := k.Definition().Sends
	if values == "1" {
		text = singular.Replace(text)
	}
	return strings.NewReplacer("{units}", units, "{values}", values).Replace(text)
}

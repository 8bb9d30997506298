package clip

import (
	"slices"

	"covey/internal/query"
)

// Map says what a unit's rows become before they are clipped, rounded and added: the Map of a kind
// in package query's table.
type Map uint8

// The maps that have code of their own. Each is the sum over the unit's rows y, in R^d, of a
// vector, and has a size that is clipped to R: of Moment the trace Σ‖y‖², never below the L2 norm,
// of all others the L2 norm. X holds the k directions x_l. Which is before which has no meaning.
const (
	Power Map = iota // y (yᵀX): k vectors y (yᵀx_l), one after another, k·d values
	Mean             // y: d values
	// y yᵀ: its upper triangle row by row, entries off the diagonal times √2, d(d+1)/2 values
	Moment
	Variance // (x_lᵀy)²: k values
	Total    // ‖y‖²: one value
	Rows     // 1, of a row that is not absent: one value
)

// definitions are the kinds of sums by map: those named above, then all others of the table, which
// go by its Map.
var definitions = func() []query.Definition {
	named := []query.Kind{Power: query.Power, Mean: query.Mean, Moment: query.Moment, Variance: query.Variance, Total: query.Total, Rows: query.Rows}
	out := make([]query.Definition, len(named))
	for m, k := range named {
		out[m] = k.Definition()
	}
	for _, d := range query.Kinds() {
		if d.Map != nil && !slices.Contains(named, d.Kind) {
			out = append(out, d)
		}
	}
	return out
}()

// definition is the map's row of the table, the zero Definition for an unknown map.
func (m Map) definition() query.Definition {
	if int(m) < len(definitions) {
		return definitions[m]
	}
	return query.Definition{}
}

// MapOf returns the map of a kind of sum. ok is false for counts and unknown kinds.
func MapOf(k query.Kind) (m Map, ok bool) {
	i := slices.IndexFunc(definitions, func(d query.Definition) bool { return d.Kind == k })
	return Map(max(i, 0)), i >= 0
}

package siteconfig

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"covey/internal/proposal"
)

// Entry is what a site agreed on for a column, under the study's name for it. A study must have the
// same value for each key that the entry has, and is free in the others. It is compared with the
// proposal, never with data: a policy that looked at values would answer the proposer.
type Entry struct {
	// Measure is the unit of measurement.
	Measure *string `toml:"measure,omitempty"`
	// Offset and Scale are the public constants, of a number: levels, which have the same by
	// default, are not as agreed.
	Offset *float64 `toml:"offset,omitempty"`
	Scale  *float64 `toml:"scale,omitempty"`
	// Levels are the texts of a column of categories, in order.
	Levels []string `toml:"levels,omitempty"`
	// As is what a cell is read as.
	As *string `toml:"as,omitempty"`
}

// differs returns the key in which a study's column is not as agreed, empty if all are.
func (e Entry) differs(c proposal.Column) string {
	switch {
	case e.Measure != nil && *e.Measure != c.Measure:
		return "measure"
	case (e.Offset != nil || e.Scale != nil) && c.Standardize == proposal.StandardizePrivate:
		return "standardize"
	case e.Offset != nil && *e.Offset != c.Offset:
		return "offset"
	case e.Scale != nil && *e.Scale != c.Scale:
		return "scale"
	case e.Levels != nil && !slices.Equal(e.Levels, c.Levels), e.Levels == nil && len(c.Levels) > 0 && (e.Offset != nil || e.Scale != nil):
		return "levels"
	case e.As != nil && *e.As != c.As:
		return "as"
	}
	return ""
}

// checkDictionary refuses what no study can equal.
func (c *Config) checkDictionary(key string, dictionary map[string]Entry) error {
	for _, name := range slices.Sorted(maps.Keys(dictionary)) {
		e := dictionary[name]
		if e.Offset != nil && (math.IsNaN(*e.Offset) || math.IsInf(*e.Offset, 0)) {
			return c.Errorf(key+"."+name+".offset", "must be finite, got %v", *e.Offset)
		}
		if e.Scale != nil && (!(*e.Scale > 0) || math.IsInf(*e.Scale, 0)) {
			return c.Errorf(key+"."+name+".scale", "must be finite and above 0, got %v", *e.Scale)
		}
	}
	return nil
}

// unlike returns the study's columns that the dictionary does not have, or has otherwise, with the
// key in which they differ.
func unlike(dictionary map[string]Entry, columns []proposal.Column) (out []string) {
	for _, c := range columns {
		e, ok := dictionary[c.Name]
		if !ok {
			out = append(out, c.Name)
		} else if key := e.differs(c); key != "" {
			out = append(out, fmt.Sprintf("%s: another %s", c.Name, key))
		}
	}
	return out
}

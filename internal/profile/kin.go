package profile

import (
	"fmt"
	"hash/maphash"
	"regexp"
	"strings"
)

// kin counts units that are written almost like another, each of which counts as a person of its
// own, and rounded ones, which several people may have.
type kin struct {
	seen    map[uint64]bool // hashes of what units are but for how they are written
	fresh   bool            // the row's unit was not in a row before
	alike   int
	rounded int
}

// rounded is how a spreadsheet writes a long number: all from 123456500000 on are 1.23457E+11.
var rounded = regexp.MustCompile(`^[ \t]*[1-9](?:[.,][0-9]+)?[eE]\+[0-9]+[ \t]*$`)

// add takes the unit of a row, as its field has it.
func (k *kin) add(field string, seed maphash.Seed) {
	if !k.fresh {
		return
	}
	if rounded.MatchString(field) {
		k.rounded++
	}
	h := maphash.String(seed, bare(field))
	if k.seen[h] {
		k.alike++
	}
	k.seen[h] = true
}

// bare is a unit's text in lower case without blanks, and of a whole number without zeros in front
// and without ".0".
func bare(unit string) string {
	unit = strings.ToLower(unspaced(unit))
	whole, part, _ := strings.Cut(unit, ".")
	if whole != "" && digit(whole) && strings.Trim(part, "0") == "" {
		return strings.TrimLeft(whole, "0")
	}
	return unit
}

// kindred warns of units that are written almost alike, and of rounded ones.
func (s *sight) kindred() {
	if n := s.kin.rounded; n > 0 {
		s.look(s.r.Unit, AboutID, fmt.Sprintf("%s written as a spreadsheet rounds long numbers, such as 1.23E+11: people whose ids round alike count as one; export the ids as text",
			plural(n, fmt.Sprintf("of %d units is", s.r.Units), fmt.Sprintf("of %d units are", s.r.Units))))
	}
	if n := s.kin.alike; n > 0 {
		s.look(s.r.Unit, AboutID, fmt.Sprintf("%s from another only in zeros in front, .0, letters' case or blanks. Units are compared as text: if these are the same people, each counts as several, and privacy covers each part alone; write them alike in the export",
			plural(n, fmt.Sprintf("of %d units differs", s.r.Units), fmt.Sprintf("of %d units differ", s.r.Units))))
	}
}

package dataset

import "strings"

// units numbers the units of a table's rows from 0, in order of first appearance.
type units struct {
	file, name string
	at         int            // of the unit column in a record; -1: every row is a unit
	seen       map[string]int // one entry a unit, whatever the number of rows
	count      int
}

// units begins the count. name is the unit column, or empty.
func (t *table) units(name string) (*units, error) {
	if name == "" {
		return &units{at: -1}, nil
	}
	at, err := t.find(name)
	if err != nil {
		return nil, err
	}
	return &units{t.path, name, at, map[string]int{}, 0}, nil
}

func (u *units) byColumn() bool { return u.at >= 0 }

// add gives the unit of the next row. Values are compared as text: 7, 07 and 7.0
// are three units. A missing value (the same as in a number's column) is a fault
// whatever becomes of missing numbers: nobody can tell whose row it is, and rows
// of many people taken for one unit, or of one for many, would not be protected as
// the study says.
func (u *units) add(record []string, line int) (int, error) {
	if u.at < 0 {
		u.count++
		return u.count - 1, nil
	}
	value := trim(record[u.at])
	if isMissing(value) {
		return 0, &Error{File: u.file, Row: line, Column: u.name, Reason: "the unit is missing"}
	}
	i, ok := u.seen[value]
	if !ok {
		i = u.count
		u.seen[strings.Clone(value)] = i // or the map would hold the whole line
		u.count++
	}
	return i, nil
}

// checkUnit gives the fault of a unit column's name; none is in order.
func checkUnit(name string) error {
	switch {
	case name != "" && trim(name) == "":
		return &Error{Reason: "the unit column's name is blank"}
	case name != trim(name):
		return &Error{Column: name, Reason: "the name has spaces around it"}
	}
	return nil
}

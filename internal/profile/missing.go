package profile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// missing_values holds in every column: what stands for a missing value in one of them may be a
// value of another, such as an age of 99, whose cells it would empty.

// codeText is a code as agent.toml has it.
func codeText(i int) string { return strconv.FormatFloat(codes[i], 'f', -1, 64) }

// isLevel reports whether the study has a text as a level of column j.
func (s *sight) isLevel(j int, text string) bool {
	return s.reads[j] != nil && slices.Contains(s.reads[j].Levels, text)
}

// levelOf names the columns that have a text as a level; empty if none has.
func (s *sight) levelOf(text string) string {
	var names []string
	for j := range s.columns {
		if s.isLevel(j, text) {
			names = append(names, key(s.label[j]))
		}
	}
	return strings.Join(names, ", ")
}

// doubts are the codes that may stand for a missing value in column j.
func (s *sight) doubts(j int) []doubt {
	c := s.columns[j]
	found := c.doubts()
	if kind, _ := c.kind(); kind == isDate {
		found = c.noDates()
	}
	return slices.DeleteFunc(found, func(d doubt) bool { return s.isLevel(j, codeText(d.code)) })
}

// unexplained counts the numbers of column j outside the study's range that may not stand for a
// missing value.
func (s *sight) unexplained(j int) int {
	c := s.columns[j]
	n := c.outside
	for _, d := range s.doubts(j) {
		if c.out(codes[d.code]) {
			n -= c.coded[d.code].count
		}
	}
	return n
}

// ordinary finds the columns that have a code as a value like others.
func (s *sight) ordinary() {
	for j, c := range s.columns {
		if c == nil || s.label[j] == "" || c.coded == [len(codes)]tally{} {
			continue
		}
		doubts := s.doubts(j)
		for i, t := range c.coded {
			if t.count > 0 && !slices.ContainsFunc(doubts, func(d doubt) bool { return d.code == i }) {
				s.plainly[i] = append(s.plainly[i], j)
			}
		}
	}
}

// elsewhere names the columns that have a code as a value like others, with their cells; empty if
// none has.
func (s *sight) elsewhere(i int) string {
	const most = 3
	var names []string
	for n, j := range s.plainly[i] {
		if n == most {
			names = append(names, fmt.Sprintf("and %d more columns", len(s.plainly[i])-most))
			break
		}
		cells := fmt.Sprintf("%d cells", s.columns[j].coded[i].count)
		if s.columns[j].coded[i].count < leastUnits {
			cells = fmt.Sprintf("fewer than %d cells", leastUnits)
		}
		names = append(names, fmt.Sprintf("%s (%s)", key(s.label[j]), cells))
	}
	return strings.Join(names, ", ")
}

// codes reports the numbers of column j that may stand for a missing value, and proposes those for
// missing_values that no column has as a value like others. alone are the texts of the rest.
func (s *sight) codes(j int, c *column, p *paste) (alone []string) {
	for _, d := range s.doubts(j) {
		i := d.code
		code, t := codeText(i), c.coded[i]
		text := fmt.Sprintf("%s %s, the first at %s %d: does it stand for a missing value? missing_values holds in every column", plural(t.count, "value is "+code+",", "values are "+code+","), d.why, placed(s.r.Lines), t.first)
		also := s.elsewhere(i)
		if also == "" {
			p.code(code)
		} else { // names hold for a number of a typed source, too
			text += ": it is also a value in " + also
			texts := c.written[i]
			if len(texts) == 0 {
				texts = []string{code}
			}
			alone = append(alone, texts...)
		}
		s.look(s.label[j], AboutCode, text)
	}
	return alone
}

package profile

import (
	"fmt"
	"strings"
)

// groups count how a column's numbers of text have the decimal mark.
type groups struct {
	three     int // once, before the last three digits, as a mark between thousands
	fractions int // otherwise
	large     int // not at all, at 1000 or above
}

func (g *groups) add(field, mark string) {
	whole, _, marked := strings.Cut(strings.TrimLeft(field, "+-"), mark)
	switch {
	case !marked && (len(whole) > 3 || !digit(whole)):
		g.large++
	case !marked:
	case isGroup(field, mark):
		g.three++
	default:
		g.fractions++
	}
}

// isGroup reports whether a number has the mark once, as one between thousands: before three last
// digits, behind one to three that do not begin with 0.
func isGroup(field, mark string) bool {
	whole, part, _ := strings.Cut(strings.TrimLeft(field, "+-"), mark)
	return len(part) == 3 && digit(part) && len(whole) <= 3 && digit(whole) && whole != "" && whole[0] != '0'
}

// marks reports columns whose decimal mark may be one between thousands: 4.295 beside 987. Where no
// number is without it, the file must have no other fractions, and the study no other idea of the
// values.
func (s *sight) marks(p *paste) {
	if s.mapping.Thousands != "" {
		return
	}
	mark, other, fractions, found := ".", ",", false, false
	if s.mapping.Decimal == "," {
		mark, other = other, mark
	}
	for _, c := range s.columns {
		fractions = fractions || c != nil && c.grouped.fractions > 0
	}
	for j, c := range s.columns {
		if c == nil || s.label[j] == "" || s.reads[j] != nil || c.grouped.three < leastUnits || c.grouped.fractions+c.grouped.large > 0 {
			continue
		}
		all := c.values
		for _, t := range c.coded {
			all -= t.count
		}
		w := s.wanted(s.label[j])
		if w != nil && (w.constants || w.plausible != nil) && w.has(c.order(), 2, 0.2) || c.grouped.three >= all && fractions {
			continue
		}
		do := fmt.Sprintf("decimal = %q and thousands = %q", other, mark)
		if fractions {
			do = "write them without it in the export, for other columns have fractions after it"
		} else if found = true; mark == "," {
			do += ", for the whole file"
		}
		s.look(s.label[j], AboutMark, fmt.Sprintf("every %q comes before the last three digits, and numbers without it are whole and below 1000: is it a mark between thousands? It was read as the decimal mark. If so: %s", mark, do))
	}
	if found {
		p.lines = append(p.lines, fmt.Sprintf("# decimal = %q", other), fmt.Sprintf("# thousands = %q  # both, if %q is a mark between thousands", mark, mark))
	}
}

// mixing makes a column's hash depend on the cells' order.
const mixing = 0x9e3779b97f4a7c15

// leastTwins is how many rows two columns must share.
const leastTwins = 20

// twins reports columns that have the cells of another, each once.
func (s *sight) twins() {
	first := map[uint64]int{}
	for j, c := range s.columns {
		if c == nil || s.label[j] == "" || c.unused != "" && !c.fits || s.r.Rows < leastTwins || c.least >= c.most && len(c.levels) < 2 {
			continue
		}
		if at, ok := first[c.hash]; ok {
			s.look(s.label[j], AboutTwin, fmt.Sprintf("has the same cells as %s in every row: the same information would count twice", key(s.label[at])))
		} else {
			first[c.hash] = j
		}
	}
}

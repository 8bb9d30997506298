package proposal

import (
	"math"
	"strconv"
	"unicode/utf8"

	"covey/internal/name"
)

// About is what a proposer writes for the people who decide on a study. It is in the digest and
// decides nothing.
type About struct {
	// Purpose is what the study is for.
	Purpose string `toml:"purpose,omitempty" json:"purpose,omitempty"`
	// Contact is who answers questions about it.
	Contact string `toml:"contact,omitempty" json:"contact,omitempty"`
	// Ethics is the reference of an ethics board's or data protection officer's decision.
	Ethics string `toml:"ethics,omitempty" json:"ethics,omitempty"`
}

// Limits of what a proposer writes, in characters.
const (
	maxAbout   = 500
	MaxMeasure = 40
)

// StatementsTitle is what Statements are shown under, after everything that was computed.
const StatementsTitle = "Written by the proposer, not checked"

// Statements returns the proposer's own words, each quoted, so that none looks like a line of the
// program that shows it. Pages show them as text and never as links.
func (s Spec) Statements() []string {
	var out []string
	for _, f := range s.About.fields() {
		if f.text != "" {
			out = append(out, f.name+": "+strconv.Quote(f.text))
		}
	}
	return out
}

// Asker names who proposes a study.
func (p Proposal) Asker() string {
	if p.Proposer == nil {
		return "the coordinator's operator"
	}
	return "analyst " + strconv.Quote(p.Proposer.Name)
}

// Stated returns what the proposer wrote for people, each text quoted, and its title. Screen and
// page show it after everything that was computed.
func (p Proposal) Stated() (title string, lines []string) {
	return "Written by " + p.Asker() + ", not checked", p.Spec.Statements()
}

type aboutField struct{ name, text string }

func (a About) fields() []aboutField {
	return []aboutField{{"purpose", a.Purpose}, {"contact", a.Contact}, {"ethics", a.Ethics}}
}

// checkAbout holds what a proposer writes for people to what people can read. It refuses characters
// that turn the direction of writing, and stacks of marks, which would be drawn over the program's
// own lines.
func (s *Spec) checkAbout() error {
	for _, f := range s.About.fields() {
		if err := validWords("about."+f.name, f.text, maxAbout); err != nil {
			return err
		}
	}
	return nil
}

// check checks what a column says for people.
func (c Column) check(field string) error {
	if err := validWords(field+".measure", c.Measure, MaxMeasure); err != nil {
		return err
	}
	if c.Range == nil {
		return nil
	}
	if len(c.Range) != 2 || !(math.Abs(c.Range[0]) <= 1e100 && math.Abs(c.Range[1]) <= 1e100) || !(c.Range[0] < c.Range[1]) {
		return FieldErrorf(field+".range", "must be the lowest and the highest plausible value, such as [18, 110], each at most 1e100")
	}
	return nil
}

// validWords checks a text that may be empty.
func validWords(field, text string, most int) error {
	if n := utf8.RuneCountInString(text); n > most {
		return FieldErrorf(field, "at most %d characters, got %d", most, n)
	}
	if why := name.Fault(text); why != "" {
		return FieldErrorf(field, "%s", why)
	}
	return nil
}

package sitepage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"covey/internal/agent"
	"covey/internal/egress"
	"covey/internal/frame"
	"covey/internal/ledger"
	"covey/internal/limits"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
)

// studyPage is a study's page, as a person reads it before deciding: first what was computed here,
// then what its proposer wrote.
type studyPage struct {
	agent.StudyDetail
	Status      status
	When        string
	Alert       string // why what was sent was not taken
	Short       []string
	Cost        *cost
	Columns     []column
	MoreColumns int
	Stated      bool // some column has a unit or a range of the proposer's
	NoFigures   string
	OwnWarnings []string
	Unchecked   string // what no warning of those can be about
	Leaves      []egress.Alike
	Messages    int
	LeavesBytes string
	Sent        []kindRow // what left so far, as StudyDetail has it
	SentBytes   string
	SentAll     int
	Over        bool
	Outside     int // of the site's rules
	Epsilon     string
	Proposer    party   // the analyst who proposes; empty for the coordinator's operator
	Readers     []party // of the result, besides
	Statements  []string
	StatedTitle string
	Open        bool
}

// party is another one with its key's fingerprint.
type party struct{ Name, Key string }

func partyOf(p proposal.Party) party {
	return party{frame.Word(p.Name), pki.Fingerprint([]byte(p.Identity))}
}

// cost is what a study takes of its population's budget.
type cost struct {
	limits.Budget
	Parts                    []part
	This, Spent, Held, After string
}

// column is one column as the study reads it, and this site's own figures of it.
type column struct {
	Name, Used, Median, Spread string
	Measure, Range             string // the proposer's
	Warning                    bool
}

// openColumns is how many columns are listed outside a fold: warnings and the decision stay near.
const openColumns = 100

// listing is a table of columns.
type listing struct {
	Label   string
	Columns []column
	Stated  bool
}

// More says how many columns a further table has.
func (l listing) More() string {
	return frame.Count(len(l.Columns), "more column", "more columns")
}

// First is the table that everybody sees.
func (m studyPage) First() listing {
	return listing{"Columns", m.Columns[:min(len(m.Columns), openColumns)], m.Stated}
}

// Further is the folded table; nil if it would be empty.
func (m studyPage) Further() *listing {
	if len(m.Columns) <= openColumns {
		return nil
	}
	return &listing{"Further columns", m.Columns[openColumns:], m.Stated}
}

// maxColumns is how many columns are listed, those with a warning first; the command has all.
const maxColumns = 500

// study is the page of one study.
func (p *Page) study(w http.ResponseWriter, r *http.Request, s *session) {
	id, err := proposal.ParseDigest(r.PathValue("digest"))
	if err != nil {
		p.refuse(w, http.StatusNotFound, "There is no such page.")
		return
	}
	p.show(w, r, s, id, http.StatusOK, "")
}

// show writes a study's page. For one that can be decided on, the terminal prints letters, once
// until they are used: they are read there or not at all.
func (p *Page) show(w http.ResponseWriter, r *http.Request, s *session, id proposal.Digest, code int, alert string) {
	m, err := p.load(r.Context(), id, true)
	if err != nil {
		p.fail(w, s, err)
		return
	}
	m.Alert = alert
	if m.Open {
		if letters, fresh := p.door.letters(s, id); fresh {
			p.tell("To approve or reject study " + name(id, m.Name) + " on the page, type these letters there:  " + letters)
		}
	}
	title := frame.Word(m.Name)
	if alert != "" && m.Open {
		title = "Not taken: " + title
	}
	p.render(w, code, "study", page{Title: title, Form: s.form, Body: m})
}

// load asks the agent for a study and, if figures are asked for, this site's own.
func (p *Page) load(ctx context.Context, id proposal.Digest, figures bool) (studyPage, error) {
	d, err := p.source.Study(ctx, id)
	if err == nil && d.Digest != id {
		err = errors.New("the agent answers about another study")
	}
	if err != nil {
		return studyPage{}, err
	}
	if figures && d.Plan != nil && d.Budget != nil {
		if f, err := p.source.Figures(ctx, id); err != nil {
			d.FiguresError = err.Error()
		} else {
			f = f.Shown()
			d.Figures = &f
		}
	}
	return pageOf(d), nil
}

// Seen is the hash of what a person reads of this site's own: its rows, budget and rules, which may
// change before the decision, unlike the proposal, which the digest names.
func (m studyPage) Seen() (string, error) {
	var after string
	if m.Cost != nil {
		after = m.Cost.After
	}
	text, err := json.Marshal([]any{m.Columns, m.OwnWarnings, m.Unchecked, m.NoFigures, m.Warnings, m.Policy, m.Roster, after})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

func pageOf(d agent.StudyDetail) studyPage {
	one := rowOf(d.StudyView)
	m := studyPage{StudyDetail: d, Status: one.Status, When: one.When, Open: open(d)}
	m.Over = d.State != statePending && d.State != string(ledger.Approved)
	left := egress.Total(d.Sent)
	m.Sent, m.SentAll, m.SentBytes = kinds(d.Sent), left.Messages, size(left.Bytes)
	if d.Plan == nil {
		return m
	}
	spec := d.Plan.Proposal.Spec
	m.Epsilon = fmt.Sprintf("ε = %g, δ = %g", spec.Epsilon, spec.Delta)
	groups, total := egress.Group(d.Leaves)
	m.Leaves, m.Messages, m.LeavesBytes = groups, len(d.Leaves), size(total)
	for _, r := range siteconfig.Outside(d.Policy) {
		m.Outside += least(!r.Asks())
	}
	m.StatedTitle, m.Statements = d.Plan.Proposal.Stated()
	if b := d.Budget; b != nil {
		m.Cost = &cost{Budget: *b, Parts: parts(b.CapRho, b.SpentRho, b.ReservedRho, b.StudyRho),
			This: share(b.StudyRho, b.CapRho), Spent: share(b.SpentRho, b.CapRho), Held: share(b.ReservedRho, b.CapRho), After: share(b.LeftRho, b.CapRho)}
	}
	if by := d.Plan.Proposal.Proposer; by != nil {
		m.Proposer = partyOf(*by)
	}
	for _, r := range d.Plan.Proposal.Readers {
		m.Readers = append(m.Readers, partyOf(r))
	}
	m.NoFigures = d.FiguresError
	if d.Figures != nil {
		m.OwnWarnings, m.Unchecked = d.Figures.Warnings(), d.Figures.Unchecked()
	}
	m.Columns = columnsOf(spec.Columns, d.Figures)
	for _, c := range m.Columns {
		m.Stated = m.Stated || c.Measure != "" || c.Range != ""
	}
	slices.SortStableFunc(m.Columns, func(a, b column) int { return least(b.Warning) - least(a.Warning) })
	m.MoreColumns = max(0, len(m.Columns)-maxColumns)
	m.Columns = m.Columns[:len(m.Columns)-m.MoreColumns]
	m.Short = shortly(m)
	return m
}

func least(b bool) int {
	if b {
		return 1
	}
	return 0
}

// shortly says in a few sentences what is asked, what it costs and what to look at.
func shortly(m studyPage) []string {
	spec := m.Plan.Proposal.Spec
	patterns := fmt.Sprintf("the %d strongest patterns (principal components)", spec.Components)
	switch spec.Components {
	case 1:
		patterns = "the strongest pattern (principal component)"
	case proposal.ComponentsAuto:
		patterns = fmt.Sprintf("up to %d of the strongest patterns (principal components)", m.Plan.K)
	}
	asker := m.Plan.Proposal.Asker()
	out := []string{fmt.Sprintf("%s asks for %s in %s of your data set %s, together over %d sites.",
		strings.ToUpper(asker[:1])+asker[1:], patterns, proposal.ColumnsText(len(spec.Columns), m.Plan.D), frame.Quoted(spec.Dataset), len(m.Roster))}
	switch {
	case !m.Over:
		out = append(out, fmt.Sprintf("No row leaves this site. %d messages do, %s in all: sums over all of your rows, each under a mask, and keys and signatures.", m.Messages, m.LeavesBytes))
	case m.SentAll > 0:
		out = append(out, fmt.Sprintf("It is over here. No row left this site. %s did, %s in all; %d of them sums over all of your rows, each under a mask.", frame.Count(m.SentAll, "message", "messages"), m.SentBytes, m.StudyDetail.Sent["upload"].Messages))
	default:
		out = append(out, "It is over here.")
	}
	if c := m.Cost; c != nil {
		part := c.This
		if c.CapRho > 0 {
			part = percent(c.StudyRho, c.CapRho) + "%"
		}
		text := fmt.Sprintf("It takes %s of the budget of %s, for good. ", part, frame.Quoted(c.Population))
		switch {
		case !c.Fits:
			text += "It does not fit: the agent refuses to approve it. What helps: " + c.Remedy + "."
		case c.More == 0:
			text += "No other such study would fit after it."
		case c.More == 1:
			text += "One more such study would fit after it."
		default:
			text += c.Others() + " more such studies would fit after it."
		}
		out = append(out, text)
	}
	if n := len(m.Warnings) + len(m.OwnWarnings); n > 0 {
		out = append(out, frame.Count(n, "warning is below.", "warnings are below."))
	}
	if m.Outside > 0 {
		out = append(out, "It does not meet "+frame.Count(m.Outside, "of this site's own rules.", "of this site's own rules."))
	}
	return out
}

// size words a number of bytes.
func size(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// maxUsed bounds the characters of a column's levels; the command has all.
const maxUsed = 500

// used says what a study makes of a column's cells. The levels are the proposer's texts, quoted.
func used(c proposal.Column) string {
	text := fmt.Sprintf("(value − %g) / %g", c.Offset, c.Scale)
	switch {
	case len(c.Levels) > 0:
		text = fmt.Sprintf("%d levels: %q", len(c.Levels), c.Levels)
		if r := []rune(text); len(r) > maxUsed {
			text = string(r[:maxUsed]) + "…"
		}
	case c.Standardize == proposal.StandardizePrivate:
		text = "scaled as the study learns"
	}
	if c.As != proposal.AsNumber {
		text = "as " + c.As + ", " + text
	}
	if c.Indicator {
		text += "; and whether it is missing"
	}
	return text
}

// columnsOf returns a study's columns with this site's figures, which may be nil.
func columnsOf(columns []proposal.Column, f *sitedata.Figures) []column {
	out := make([]column, len(columns))
	for j, c := range columns {
		one := column{Name: frame.Word(c.Name), Used: used(c), Median: "–", Spread: "–"}
		if c.Measure != "" {
			one.Measure = frame.Quoted(c.Measure)
		}
		var own sitedata.ColumnFigure
		if f != nil {
			own = f.Columns[j]
			one.Warning = len(own.Warnings) > 0
			switch {
			case own.Unread:
				one.Median = "not shown"
			case own.Levels > 0:
				one.Median = fmt.Sprintf("%.3g%% other", 100*own.Other)
			default:
				one.Median, one.Spread = own.Text(own.Median), own.LengthText(own.Spread)
			}
		}
		one.Range = own.RangeText(c.Range)
		out[j] = one
	}
	return out
}

package sheet

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"covey/internal/frame"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/worth"
)

//go:embed sheet.html sheet.css
var files embed.FS

var templates = template.Must(template.ParseFS(files, "sheet.html"))

// Subject is the study that a sheet is about.
type Subject struct {
	Plan *study.Plan
	// Result and Worth are nil where there is no result, and Worth where it is not computed.
	Result *result.Result
	Worth  *worth.Report
	// State is where the study stands, in words, and Ending why it has no result; empty for
	// neither.
	State, Ending string
	// Proposed and Ended are when; zero where that is not known.
	Proposed, Ended time.Time
	// Approvals are the sites' decisions, in the roster's order.
	Approvals []Approval
	// Asked are the queries that were released, in the plan's indices; Rho is what they charged,
	// and Open what a query that is not released may have charged besides.
	Asked     []int
	Rho, Open float64
	// Key is the fingerprint of the key that signs the study's results.
	Key string
}

// Approval is one site's.
type Approval struct {
	// Verdict is in words, and Good reports whether it is an approval that was checked.
	Verdict string
	Good    bool
	// In is in how many of the released sums the site was.
	In int
}

// Of returns the subject of a result that [result.Verify] found good: it shows every site's signed
// approval, since no other verifies.
func Of(p *study.Plan, r *result.Result, of *worth.Report) Subject {
	s := Subject{Plan: p, Result: r, Worth: of, State: "completed", Rho: r.Rho, Approvals: make([]Approval, len(p.Proposal.Roster))}
	for i := range s.Approvals {
		s.Approvals[i] = Approval{Verdict: "approved, signed", Good: true}
	}
	for _, rel := range r.Releases {
		s.Asked = append(s.Asked, rel.Query)
		for _, i := range rel.Survivors {
			if i >= 0 && i < len(s.Approvals) {
				s.Approvals[i].In++
			}
		}
	}
	return s
}

// Style returns the sheet's style, for a server that sends it as a file of its own.
func Style() []byte {
	css, err := files.ReadFile("sheet.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return css
}

// Write writes the sheet as HTML. Its style is in it, or at link where that is not empty.
func Write(w io.Writer, s Subject, link string) error {
	m := newModel(s)
	if m.Link = link; link == "" {
		m.Style = template.CSS(Style())
	}
	return templates.ExecuteTemplate(w, "sheet.html", m)
}

// What one sheet has room for; what is left out is counted.
const (
	mostSites      = 10
	mostColumns    = 48
	mostComponents = 6
	mostSent       = 9
)

type model struct {
	Link  string
	Style template.CSS

	Name, Digest, State, Ending string
	Proposed, Ended             string

	Asked      []fact
	Statements []string
	Stated     string // their title

	Sites     []siteRow
	MoreSites int
	Approved  int
	Roster    int
	Released  int

	Columns     []string
	MoreColumns int
	Numbers     string // how many numbers a row is, where that is not its columns

	Sent     []sentRow
	MoreSent int
	Unsent   string // which of the queries listed were not sent, or what else was sent
	Sends    []string

	Privacy []string

	Verdict    *worth.Verdict
	Components []componentRow
	More       int      // components
	Notes      []string // on their shares

	Limits []string
	Key    string
}

type fact struct{ Name, Value string }

type siteRow struct {
	Name, Units, Verdict string
	Good                 bool
	In                   string
}

type sentRow struct {
	What  string
	Times int
}

type componentRow struct {
	Number       int
	Share, Angle string
	Heaviest     []weight
	Caveat       string
}

// weight is a column's loading.
type weight struct{ Column, Loading string }

func newModel(s Subject) model {
	p, spec := s.Plan, s.Plan.Proposal.Spec
	m := model{
		Name: frame.Printable(spec.Name), Digest: p.Digest.String(), State: s.State, Ending: s.Ending,
		Proposed: date(s.Proposed), Ended: date(s.Ended), Roster: len(p.Proposal.Roster), Released: len(s.Asked), Key: s.Key,
		Stated: proposal.StatementsTitle, Statements: spec.Statements(),
	}
	m.asked(s)
	for i, site := range p.Proposal.Roster {
		a := Approval{Verdict: "not yet"}
		if i < len(s.Approvals) {
			a = s.Approvals[i]
		}
		if a.Good {
			m.Approved++
		}
		if i < mostSites {
			m.Sites = append(m.Sites, siteRow{Name: frame.Word(site.Name), Units: Grouped(site.Units), Verdict: a.Verdict, Good: a.Good, In: fmt.Sprintf("%d of %d", a.In, m.Released)})
		} else {
			m.MoreSites++
		}
	}
	for _, c := range spec.Columns {
		if len(m.Columns) == mostColumns {
			m.MoreColumns++
			continue
		}
		m.Columns = append(m.Columns, frame.Word(c.Name))
	}
	if p.D != len(spec.Columns) {
		m.Numbers = fmt.Sprintf("%s numbers of each row, one for each level and for each gap that is asked for", Grouped(p.D))
	}
	m.sent(s)
	m.privacy(s)
	m.worth(s)
	m.limits(s)
	return m
}

func (m *model) asked(s Subject) {
	p, spec := s.Plan, s.Plan.Proposal.Spec
	unit := "one row of a site's table"
	if spec.Unit != "" {
		unit = "all rows of a site that have one value of " + frame.Quoted(spec.Unit)
	}
	count, directions := "the "+Grouped(p.K)+" principal components", "directions"
	switch auto := spec.Components == proposal.ComponentsAuto; {
	case auto && s.Result != nil:
		count = fmt.Sprintf("the %s (found by the study, of at most %s) principal components", Grouped(s.Result.K), Grouped(p.K))
	case auto:
		count = fmt.Sprintf("up to %s, as many as the study finds, principal components", Grouped(p.K))
	case p.K == 1:
		count, directions = "the principal component", "direction"
	}
	columns := "one column"
	if n := len(spec.Columns); n > 1 {
		columns = Grouped(n) + " columns"
	}
	m.Asked = []fact{
		{"Question", fmt.Sprintf("%s of %s: the %s in which %s units differ most", count, columns, directions, Grouped(p.N))},
		{"Data", fmt.Sprintf("data set %s at %d sites, pooled by nobody", frame.Word(spec.Dataset), m.Roster)},
		{"A unit is", unit},
	}
}

// sent lists what the plan's queries make each site send, or what those that were released did.
func (m *model) sent(s Subject) {
	p := s.Plan
	asked := s.Asked
	m.Sends = append(m.Sends, "No row, no file and no name left a site. For each query, and each time it is asked again, a site sends one list of numbers: a sum over all of its units, under a mask that makes it random to everybody; only the total over sites can be opened. Besides, a site sends its signed decision, one-time keys and their shares, and signatures, in which there is nothing of its data.")
	if len(asked) == 0 {
		m.Sends[0] = strings.NewReplacer("No row, no file and no name left a site.", "No row, no file and no name leaves a site.").Replace(m.Sends[0])
		for q := range p.Queries {
			asked = append(asked, q)
		}
	}
	for _, at := range asked {
		if at < 0 || at >= len(p.Queries) {
			continue
		}
		q := p.Queries[at]
		what := q.Kind.SendsOf("its", Grouped(q.Values))
		if q.Branch != "" && len(s.Asked) == 0 {
			what += " (only if the method calls for it)"
		}
		row := sentRow{What: what}
		if i := slices.IndexFunc(m.Sent, func(r sentRow) bool { return r.What == row.What }); i >= 0 {
			m.Sent[i].Times++
			continue
		}
		row.Times = 1
		m.Sent = append(m.Sent, row)
	}
	switch over := s.Result == nil && !s.Ended.IsZero(); {
	case s.Open > 0 && len(s.Asked) > 0:
		m.Unsent = "One more query was asked and is not released: sites may have sent it."
	case s.Open > 0 && over:
		m.Unsent = "The study ended before any of these was released. Sites may have sent the first."
	case over && len(s.Asked) == 0:
		m.Unsent = "The study ended before any of these was sent."
	}
	if len(m.Sent) > mostSent {
		for _, r := range m.Sent[mostSent:] {
			m.MoreSent += r.Times
		}
		m.Sent = m.Sent[:mostSent]
	}
}

// privacy says what ε and δ mean without a formula.
func (m *model) privacy(s Subject) {
	p, spec := s.Plan, s.Plan.Proposal.Spec
	m.Privacy = []string{fmt.Sprintf("ε = %g and δ = %s, of all that this study releases together: whatever anybody could conclude from it is at most e^ε = %s times as likely with one unit's true values as with any others in their place, but for an additional probability of δ = %s.",
		spec.Epsilon, Number(spec.Delta), Number(math.Exp(spec.Epsilon)), oneIn(spec.Delta))}
	if p.Honest > 0 {
		m.Privacy = append(m.Privacy, "Each site adds its share of the noise before it masks: nobody sees an exact sum, the coordinator included.")
	} else {
		m.Privacy = append(m.Privacy, "The coordinator adds the noise: the person who runs it could read the exact total over sites, and is trusted with that; sites and readers see noised totals alone.")
	}
	m.Privacy = append(m.Privacy, fmt.Sprintf("A total is opened only over %s. Collusion: %s.", sites(p.Thresholds.MinSurvivors, p.Thresholds.Sites), p.Thresholds.Collusion()))
	charged := "Nothing has been charged to the sites' privacy budgets."
	if all := s.Rho + s.Open; all > 0 {
		most, why := "", ""
		if s.Open > 0 {
			most, why = "at most ", " A site charges a query before its first answer, also of one that was never released."
		}
		charged = fmt.Sprintf("Charged to each site's privacy budget: %s%s of the study's ρ = %s.%s", most, frame.Percent(all/p.Rho, 1), Number(p.Rho), why)
	}
	m.Privacy = append(m.Privacy, charged)
}

func sites(least, all int) string {
	if least == all {
		return fmt.Sprintf("all %d sites", all)
	}
	return fmt.Sprintf("at least %d of the %d sites", least, all)
}

// worth is the verdict and what is known of each component.
func (m *model) worth(s Subject) {
	if s.Result == nil {
		return
	}
	r := s.Worth.Shown(s.Result)
	if s.Worth != nil {
		v := s.Worth.Verdict(r)
		m.Verdict = &v
	}
	m.Notes = r.ShareNotes(mostComponents)
	for i, c := range r.Components {
		if i == mostComponents {
			m.More = len(r.Components) - i
			break
		}
		row := componentRow{Number: i + 1, Share: "–", Angle: "not known"}
		if i < len(r.VarianceRatio) {
			row.Share = r.ShareText(i)
		}
		apart := false
		if s.Worth != nil && i < len(s.Worth.Components) {
			row.Angle = s.Worth.Components[i].Note()
			apart = s.Worth.Components[i].Separated
		}
		if apart {
			row.Heaviest = heaviest(r.Columns, c, s.Worth.Components[i].Loadings)
		} else {
			row.Caveat = "do not interpret"
		}
		m.Components = append(m.Components, row)
	}
}

// heaviest names the columns that weigh most in a component, three at most, and none whose interval
// holds zero.
func heaviest(columns []string, c []float64, intervals [][2]float64) (out []weight) {
	order := make([]int, min(len(c), len(columns)))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(c[b]), math.Abs(c[a])) })
	for _, j := range order[:min(3, len(order))] {
		if c[j] == 0 || j < len(intervals) && intervals[j][0] <= 0 && intervals[j][1] >= 0 {
			continue
		}
		out = append(out, weight{frame.Word(columns[j]), Signed(c[j])})
	}
	return out
}

// limits is what nothing on the sheet covers.
func (m *model) limits(s Subject) {
	p := s.Plan
	if p.Proposal.Spec.PictureBy == proposal.PictureBySite {
		m.Limits = append(m.Limits, "pictures are by site, so that each shows an institution: ε and δ protect units, not sites, and blocks are not authenticated, so that a corrupt site can fill another's")
	}
	m.Limits = append(m.Limits, p.Warnings()...)
	m.Limits = append(m.Limits,
		"Of one person at several sites: "+study.AtSites(p.SitesPerUnit)+". Other studies on the same units add to what can be learned of them; each site's ledger counts those.",
		"Nothing here shows that a site's rows are true or that they describe the right people. The number of units at each site is public.")
	if s.Result != nil && s.Result.ComponentsText() != "" { // it may say that none stands out
		m.Limits = append(m.Limits, s.Result.ComponentsText())
	}
	if s.Result != nil {
		m.Limits = append(m.Limits, "A row beyond the clip counts as a shorter one: no bound covers what that hides. Components are those of the units that took part, and no cause follows from them.")
	}
	for i, l := range m.Limits {
		m.Limits[i] = strings.ToUpper(l[:1]) + strings.TrimSuffix(l[1:], ".") + "."
	}
}

func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 January 2006")
}

// oneIn writes a small probability as people read it, never smaller than it is.
func oneIn(v float64) string {
	if !(v > 0) || v > 0.1 {
		return Number(v)
	}
	return "1 in " + Grouped(int(math.Floor(min(1/v, 1e15))))
}

// Number writes what people compare: four digits are enough.
func Number(v float64) string {
	return strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e").Replace(strconv.FormatFloat(v, 'g', 4, 64))
}

// Signed writes a loading with its sign: a minus that is as wide as the plus.
func Signed(v float64) string {
	text := strconv.FormatFloat(math.Abs(v), 'f', 2, 64)
	switch {
	case text == "0.00":
		return text
	case v < 0:
		return "\u2212" + text
	}
	return "+" + text
}

// Grouped prints a count with thin spaces between thousands.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "\u202f" + text[at:]
	}
	return text
}

package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"covey/internal/coordinator"
	"covey/internal/noise"
	"covey/internal/pki"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/worth"
)

// studyModel is one study as shown.
type studyModel struct {
	Name, Path string
	Digest     study.Digest
	Status     status
	Sentence   string // what goes on, or how it ended
	Deadline   *moment
	Overdue    bool
	Waiting    []string
	Expires    *moment // of a proposal that waits for approvals; nil where it does not expire
	// Endless reports whether no deadline ends the wait: only the sites do, or an operator.
	Endless bool
	Code    study.Code
	Meaning Meaning
	Culprit string
	// Accuser and Accused are who refused, and whom it named: a word that nobody could check.
	Accuser, Accused string

	Released, Queries int
	Facts             []fact
	Stated            string   // the title of what the proposer wrote
	Statements        []string // which are text, and no links
	Approvals         []approvalRow
	Approved          int

	Cells   []cell
	Hidden  int // rounds before the first cell
	Retried int
	Tags    string // what the cells' letters mean
	Table   []roundRow

	Privacy privacyModel
	Charts  []chart
	Result  *resultModel
	Key     string // fingerprint of the key that signs results
}

type fact struct{ Name, Value string }

type approvalRow struct {
	Name   string
	Units  int
	State  status
	Match  string // what binds the site to this digest
	Missed int    // released queries without it
	Joined bool   // its identity key is the registry's
}

// cell is one query in the strip.
type cell struct {
	Top, Bottom string // kind, and survivors
	Class       string // full, part, open or todo
	Retried     int
	Title       string
}

type roundRow struct {
	Query                  int
	What                   string
	Slot, Retried          int
	Survivors, Missing     string
	Took, Noise, Turn, Rho string
	At                     *moment
}

type privacyModel struct {
	Epsilon, Delta, Charged string
	Rho, RhoCharged         string
	Share                   int // percent of ρ
	Unit, Noise, Collusion  string
}

type resultModel struct {
	Components []heading
	// Share and Worth are what the result is worth; Worth is empty until that is computed.
	Share     string
	Worth     []string
	Rows      []loadingRow
	Left      int // columns that are not shown
	Explained []explainedRow
	Total     string
	Output    string
	Method    string
}

// heading is a component's, with what is known of it.
type heading struct{ Name, Note string }

type loadingRow struct {
	Column string
	Values []loading
}

type loading struct {
	Text string
	// X and Width are of a bar about the middle of 100.
	X, Width float64
	Class    string
}

type explainedRow struct{ Component, Variance, Interval, Ratio string }

const (
	mostCells   = 120
	mostColumns = 16
	mostShown   = 4 // components
)

func (d *Dashboard) study(s coordinator.Story, o coordinator.Overview) *studyModel {
	p := s.Plan
	m := &studyModel{
		Name: s.Name, Path: "/studies/" + s.Digest.String(), Digest: s.Digest, Status: statusOf(s.View), Overdue: s.Overdue,
		Code: s.Code, Meaning: meaning(s.Code), Culprit: s.Culprit, Accuser: s.Accuser, Accused: s.Accused, Released: s.Released, Queries: s.View.Queries, Key: o.Key,
	}
	m.Expires = d.moment(s.Expires, true)
	if o.Leading {
		m.Deadline, m.Waiting = d.moment(s.Deadline, true), waiting(s, o)
		m.Endless = s.Status != round.StatusRunning || s.Overdue || p.Proposal.Spec.OnDropout == study.DropoutWait
	}
	m.Sentence, m.Tags = sentence(s, o.Leading), tags(p)
	m.facts(s)
	m.approvals(s, o)
	d.rounds(m, s, o.Leading)
	m.privacy(s)
	m.Charts = charts(s)
	if s.Status == round.StatusCompleted {
		shown, err := d.shownResult(s.Digest)
		if err != nil {
			d.log.Error("dashboard: a completed study has no result", "study", s.Digest, "error", err)
		}
		m.Result, m.Charts = shown.model, append(m.Charts, shown.charts...)
	}
	return m
}

// shownResult is what a page shows of a result.
type shownResult struct {
	model  *resultModel
	charts []chart
}

// shownResult returns it. A result never changes, and to make one again, and sign it, at every look
// would keep a processor busy for as long as a page of a large study is open. Called with the
// cache's lock held.
func (d *Dashboard) shownResult(digest study.Digest) (shownResult, error) {
	if shown, ok := d.cache.results[digest]; ok {
		return shown, nil
	}
	r, err := d.source.Result(digest)
	if err != nil {
		return shownResult{}, err
	}
	if len(d.cache.results) > keptPages || d.cache.results == nil {
		d.cache.results = map[study.Digest]shownResult{}
	}
	shown := shownResult{newResultModel(r), scree(r)}
	d.cache.results[digest] = shown
	go d.weigh(digest, r)
	return shown, nil
}

// weigh computes what a result is worth, one at a time and away from whoever looks and from the
// coordinator's own work, since it can take seconds. Pages have it from their next look on.
func (d *Dashboard) weigh(digest study.Digest, r *study.Result) {
	d.weighing.Lock()
	defer d.weighing.Unlock()
	of, err := worth.Read(r)
	if err != nil {
		d.log.Error("dashboard: what a result is worth cannot be computed", "study", digest, "error", err)
		of = &worth.Report{Sentences: []string{"What this result is worth cannot be computed; the coordinator's log says why."}}
	}
	d.cache.mu.Lock()
	defer d.cache.mu.Unlock()
	shown, ok := d.cache.results[digest]
	if !ok {
		return // given up for newer ones
	}
	m := *shown.model
	m.weigh(of)
	shown.model = &m
	d.cache.results[digest] = shown
}

// weigh fills in what a result is worth.
func (m *resultModel) weigh(of *worth.Report) {
	m.Worth = of.Sentences
	if of.Share != nil {
		m.Share = fmt.Sprintf("captured: about %s, at least %s (95%%)", worth.Percent(of.Share.Estimate), worth.Percent(of.Share.Lower))
	}
	m.Components = slices.Clone(m.Components)
	for i := range m.Components {
		if i < len(of.Components) {
			m.Components[i].Note = of.Components[i].Note()
		}
	}
}

// waiting names the awaited sites; one that is revoked does not come back.
func waiting(s coordinator.Story, o coordinator.Overview) []string {
	var out []string
	for _, name := range s.Waiting {
		if slices.ContainsFunc(o.Sites, func(site coordinator.SiteStatus) bool { return site.Name == name && site.Revoked }) {
			name += " (revoked)"
		}
		out = append(out, name)
	}
	return out
}

// sentence says in words where a study stands.
func sentence(s coordinator.Story, leading bool) string {
	switch s.Status {
	case round.StatusProposed:
		return "Each site's operator, or its policy, decides. The study begins when all have approved; it waits for that " + map[bool]string{true: "without a deadline.", false: "until the proposal expires."}[s.Expires.IsZero()]
	case round.StatusSetup:
		return "The sites make one-time keys, share them and sign the setup over the digest. Each of them is waited for, without a deadline."
	case round.StatusRunning:
		what := "Query " + strconv.Itoa(s.Released+1) + ": " + describe(s.Kind, s.Of, s.Round, s.Run, s.Plan)
		if !leading {
			return what + "."
		}
		return what + ". " + map[string]string{
			"upload": "Sites upload masked sums.",
			"sign":   "Sites sign the set of those whose uploads are in.",
			"open":   "Sites send the key shares that open the total.",
		}[s.Phase]
	case round.StatusCompleted:
		return "The result is final. Download it and verify it, rather than trust this page."
	}
	return ""
}

func describe(kind, of study.Kind, t, run int, p *study.Plan) string {
	switch {
	case kind == study.KindPower:
		text := fmt.Sprintf("%s %d of %d", kind.Title(""), t+1, p.Rounds)
		if p.Runs() > 1 {
			text += fmt.Sprintf(" for component %d", run+1)
		}
		return text
	case of == study.KindPower:
		return kind.Title("")
	}
	return kind.Title(of)
}

// tag is the kind in a cell's few letters.
func tag(kind study.Kind, t int) string {
	if kind == study.KindPower {
		return kind.Definition().Tag + strconv.Itoa(t+1)
	}
	return kind.Definition().Tag
}

// tags says what the letters mean that the plan's cells have.
func tags(p *study.Plan) string {
	var out []string
	for _, q := range p.Queries {
		d := q.Kind.Definition()
		if text := d.Tag + ": " + d.Title; !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ") + "."
}

func (m *studyModel) facts(s coordinator.Story) {
	spec := s.Plan.Proposal.Spec
	method := spec.Method
	if s.Method != "" && s.Method != spec.Method {
		method += ": " + s.Method
	}
	m.Stated, m.Statements = study.StatementsTitle, spec.Statements()
	m.Facts = []fact{
		{"Data set", spec.Dataset}, {"Units", grouped(s.Plan.N)}, {"Columns", columnsText(s.Plan)},
		{"Components", s.Plan.ComponentsWords()}, {"Method", method}, {"Sites in a sum", fmt.Sprintf("%d to %d", s.Plan.Thresholds.MinSurvivors, s.Plan.Thresholds.Sites)},
		{"A missing site", map[string]string{study.DropoutWait: "is waited for", study.DropoutContinue: "is left out"}[spec.OnDropout]},
	}
}

// grouped prints a count with thin spaces between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "\u202f" + text[at:]
	}
	return text
}

func (m *studyModel) approvals(s coordinator.Story, o coordinator.Overview) {
	prints := map[string]string{}
	for _, site := range o.Sites {
		prints[site.Name] = site.Fingerprint
	}
	for i, site := range s.Sites {
		row := approvalRow{Name: site.Name, Units: site.Units, Joined: prints[site.Name] == pki.Fingerprint([]byte(s.Plan.Proposal.Roster[i].Identity))}
		switch site.Verdict {
		case study.VerdictApproved:
			row.State = status{"approved", "good", "✓"}
			row.Match = "by its decision"
			m.Approved++
		case study.VerdictRejected:
			row.State = status{"rejected", "bad", "✕"}
			if site.Code == study.CodeWithdrawn {
				row.State.Text = "withdrawn"
			}
		default:
			row.State = status{"not yet", "wait", "◔"}
		}
		if site.Signed {
			row.Match = "signed by its key"
		}
		for _, r := range s.Rounds {
			if !slices.Contains(r.Survivors, i) {
				row.Missed++
			}
		}
		m.Approvals = append(m.Approvals, row)
	}
}

// rounds makes the strip and the table: released, open, and still to come.
func (d *Dashboard) rounds(m *studyModel, s coordinator.Story, leading bool) {
	sites := len(s.Plan.Proposal.Roster)
	before := time.Time{}
	for i, r := range s.Rounds {
		c := cell{Top: tag(r.Kind, r.Round), Bottom: fmt.Sprintf("%d/%d", len(r.Survivors), sites), Class: "full", Retried: r.Retried}
		if len(r.Survivors) < sites {
			c.Class = "part"
		}
		row := roundRow{
			Query: r.Query + 1, What: describe(r.Kind, r.Of, r.Round, r.Run, s.Plan), Slot: r.Slot, Retried: r.Retried,
			Survivors: c.Bottom, Missing: missing(r.Survivors, s.Plan), Rho: number(r.Rho), Noise: "–", Turn: "–", Took: "–", At: d.moment(r.At, false),
		}
		if r.NoiseToSignal >= 0 {
			row.Noise = short3(r.NoiseToSignal)
		}
		if r.Turn >= 0 {
			row.Turn = strconv.FormatFloat(r.Turn, 'f', 1, 64) + "°"
		}
		if !before.IsZero() && !r.At.Before(before) { // or another leader's clock is behind
			row.Took = took(r.At.Sub(before))
		}
		before = r.At
		c.Title = fmt.Sprintf("Query %d, %s, slot %d: %d of %d sites", i+1, row.What, r.Slot, len(r.Survivors), sites)
		if row.Missing != "" {
			c.Title += ", without " + row.Missing
		}
		if row.Took != "–" {
			c.Title += ", " + row.Took
		}
		if r.Retried > 0 {
			c.Title += ", " + retries(r.Retried)
			m.Retried++
		}
		m.Cells, m.Table = append(m.Cells, c), append(m.Table, row)
	}
	if s.Status == round.StatusRunning {
		uploaded := 0
		for _, site := range s.Sites {
			if site.Uploaded {
				uploaded++
			}
		}
		c := cell{Top: tag(s.Kind, s.View.Round), Bottom: fmt.Sprintf("%d/%d", uploaded, sites), Class: "open", Retried: s.Slot}
		if !leading {
			c.Bottom = "open" // uploads are the leader's alone
		}
		if n := len(s.Rounds); n > 0 {
			c.Retried = s.Slot - s.Rounds[n-1].Slot - 1
		}
		c.Title = fmt.Sprintf("Query %d, %s, slot %d: open now", len(s.Rounds)+1, describe(s.Kind, s.Of, s.View.Round, s.Run, s.Plan), s.Slot)
		if c.Retried > 0 {
			c.Title += ", " + retries(c.Retried)
			m.Retried++
		}
		m.Cells = append(m.Cells, c)
	}
	m.Hidden = max(0, len(m.Cells)-mostCells)
	m.Cells, m.Table = m.Cells[m.Hidden:], m.Table[max(0, len(m.Table)-mostCells):]
	if s.Status == round.StatusEnded {
		return
	}
	for n := len(m.Cells) + m.Hidden; n < m.Queries && len(m.Cells) < mostCells; n++ {
		m.Cells = append(m.Cells, cell{Top: "·", Class: "todo", Title: fmt.Sprintf("Query %d: to come", n+1)})
	}
}

func retries(n int) string {
	if n == 1 {
		return "retried once"
	}
	return fmt.Sprintf("retried %d times", n)
}

func missing(survivors []int, p *study.Plan) string {
	var out []string
	for i, site := range p.Proposal.Roster {
		if !slices.Contains(survivors, i) {
			out = append(out, site.Name)
		}
	}
	return strings.Join(out, ", ")
}

func took(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
	case d < 2*time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 0, 64) + " s"
	}
	return d.Round(time.Second).String()
}

// short3 prints a noise-to-signal, which can be the largest float.
func short3(v float64) string {
	if v > 1e4 {
		return "all noise"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// privacy is what was planned and what is charged, by the conversion of internal/noise,
// which rounds up; with the paper's accountant ε is the proposal's for the whole.
func (m *studyModel) privacy(s coordinator.Story) {
	spec, t := s.Plan.Proposal.Spec, s.Plan.Thresholds
	m.Privacy = privacyModel{
		Epsilon: number(spec.Epsilon), Delta: number(spec.Delta), Rho: number(s.RhoPlanned), RhoCharged: number(s.Rho), Charged: "0",
		Share: int(math.Round(100 * min(1, s.Rho/s.RhoPlanned))), Unit: "one row", Collusion: t.Collusion(),
		Noise: "central: the coordinator that leads sees exact sums over all sites, nobody else does",
	}
	if e := charged(s.Rho, s.View); e > 0 {
		m.Privacy.Charged = number(e)
	}
	if spec.Unit != "" {
		m.Privacy.Unit = fmt.Sprintf("all rows of one %q at one site", spec.Unit)
	}
	m.Privacy.Unit += "; " + study.AtSites(s.Plan.SitesPerUnit())
	if spec.Noise == study.NoiseDistributed {
		m.Privacy.Noise = "distributed: every site adds its share, nobody sees an exact sum"
	}
}

// charged is the ε of what was charged so far, at the study's δ, and never more than
// was planned.
func charged(rho float64, v coordinator.View) float64 {
	e, err := noise.Curve(v.Curve).Epsilon(rho, v.Delta)
	if err != nil {
		return v.Epsilon
	}
	return min(e, v.Epsilon)
}

func studyNotices(s coordinator.Story) []notice {
	if s.Overdue && len(s.Waiting) > 0 {
		return []notice{{"warn", fmt.Sprintf("%s is past its deadline and waits for %s. At those sites: `agent status`.", s.Name, strings.Join(s.Waiting, ", "))}}
	}
	return nil
}

func newResultModel(r *study.Result) *resultModel {
	m := &resultModel{Output: r.Output, Method: r.Method}
	shown := r.Components[:min(len(r.Components), mostShown)]
	for i := range shown {
		m.Components = append(m.Components, heading{Name: fmt.Sprintf("Component %d", i+1)})
	}
	// The columns that weigh most in any component shown, in their own order.
	order := make([]int, r.D)
	weight := make([]float64, r.D)
	for j := range order {
		order[j] = j
		for _, c := range shown {
			weight[j] = max(weight[j], math.Abs(c[j]))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	m.Left = max(0, r.D-mostColumns)
	order = order[:min(r.D, mostColumns)]
	slices.Sort(order)
	for _, j := range order {
		row := loadingRow{Column: r.Columns[j]}
		for _, c := range shown {
			l := loading{Text: strconv.FormatFloat(c[j], 'f', 3, 64), X: 50, Width: 50 * min(1, math.Abs(c[j])), Class: "plus"}
			if c[j] < 0 {
				l.X, l.Class = 50-l.Width, "minus"
			}
			row.Values = append(row.Values, l)
		}
		m.Rows = append(m.Rows, row)
	}
	for i, v := range r.ExplainedVariance {
		if i == mostShown*3 {
			break
		}
		row := explainedRow{Component: strconv.Itoa(i + 1), Variance: number(v), Ratio: "–"}
		row.Interval = number(r.VarianceInterval[i][0]) + " to " + number(r.VarianceInterval[i][1])
		if i < len(r.VarianceRatio) {
			row.Ratio = strconv.FormatFloat(100*r.VarianceRatio[i], 'f', 1, 64) + "%"
		}
		m.Explained = append(m.Explained, row)
	}
	if r.TotalInterval != nil {
		m.Total = fmt.Sprintf("%s (95%%: %s to %s)", number(r.TotalVariance), number(r.TotalInterval[0]), number(r.TotalInterval[1]))
	}
	return m
}

// columnsText says how many columns a study has, and how many numbers a row where levels make more
// of them.
func columnsText(p *study.Plan) string {
	columns := len(p.Proposal.Spec.Columns)
	if p.D == columns {
		return strconv.Itoa(columns)
	}
	return fmt.Sprintf("%d (%d numbers a row, one for each level)", columns, p.D)
}

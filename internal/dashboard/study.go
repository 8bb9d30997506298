package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"covey/internal/noise"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/sheet"
	"covey/internal/study"
)

// studyModel is one study as shown.
type studyModel struct {
	Name, Path      string
	Digest          proposal.Digest
	Status          status
	Proposed, Ended *moment
	Sentence        string // what goes on
	Over            bool   // it ended without a result
	Deadline        *moment
	Overdue         bool
	Waiting         []string
	Expires         *moment // of a proposal that waits for approvals; nil where it does not expire
	// Endless reports whether no deadline ends the wait: only the sites do, or an operator.
	Endless bool
	Code    study.Code
	Meaning Meaning
	Culprit string
	Accuser string // refused, and named nobody

	Released, Queries int
	Facts             []fact
	Stated            string   // the title of what the proposer wrote
	Statements        []string // which are text, and no links
	Approvals         []approvalRow
	Approved          int

	Progress progress
	Table    []roundRow
	Hidden   int // rounds before the table's first

	Privacy privacyModel
	Charts  []chart
	Result  *resultModel
	Key     string // fingerprint of the key that signs results
	File    string // the name of the result file that the page gives
	Whole   bool   // it is an operator's page
}

type fact struct{ Name, Value string }

type approvalRow struct {
	Name    string
	Units   int
	State   status
	Match   string     // what binds the site to this digest
	Missed  int        // released queries without it
	Joined  bool       // its identity key is the registry's, as far as the visitor is told
	Refused study.Code // why it takes no part in the open query; nothing to a viewer
	Away    bool       // the open query goes on without it; not told to a viewer
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
	Rho, RhoCharged, Curve  string
	Most                    string // "at most " where a query that is not released counts
	Share                   int    // percent of ρ
	Unit, Noise, Collusion  string
}

func (d *Dashboard) study(in sight, s outline.Story, o outline.Overview) *studyModel {
	p := s.Plan
	m := &studyModel{
		Name: s.Name, Path: "/studies/" + s.Digest.String(), Digest: s.Digest, Status: statusOf(s.View), Overdue: s.Overdue,
		Code: s.Code, Meaning: meaning(s.Code), Culprit: s.Culprit, Accuser: s.Accuser, Released: s.Released, Queries: s.View.Queries, Key: o.Key,
		File: resultFile(s.Digest), Whole: in.whole,
	}
	m.Expires = d.moment(s.Expires, true)
	if o.Leading {
		m.Deadline, m.Waiting = d.moment(s.Deadline, true), waiting(in, s.View, o)
		m.Endless = s.Status != round.StatusRunning || s.Overdue || p.Proposal.Spec.OnDropout == proposal.DropoutWait
	}
	m.Proposed, m.Ended = dated(s.View.Proposed, "2 Jan 2006 15:04 UTC"), dated(s.View.Ended, "2 Jan 2006 15:04 UTC")
	m.Sentence, m.Over = sentence(s, o.Leading), s.Status == round.StatusEnded
	m.facts(s)
	m.approvals(in, s, o)
	m.Progress = newProgress(s, in.whole && o.Leading)
	d.table(m, s)
	m.privacy(s)
	m.Charts = charts(s)
	if s.Status == round.StatusCompleted {
		shown, err := d.shownResult(s.Digest)
		if err != nil {
			d.log.Error("dashboard: a completed study has no result", "study", s.Digest, "error", err)
		}
		m.Result = shown.model
	}
	return m
}

// waiting names the awaited sites, and to operators those that cannot answer now: one that is
// barred does not come back.
func waiting(in sight, v outline.View, o outline.Overview) []string {
	if !in.whole {
		return v.Waiting
	}
	var out []string
	here, of := map[string]outline.SiteStatus{}, map[string]outline.SiteView{} // there may be 10,000
	for _, site := range o.Sites {
		here[site.Name] = site
	}
	for _, site := range v.Sites {
		of[site.Name] = site
	}
	for _, name := range v.Waiting {
		now, its := here[name], of[name]
		switch {
		case now.Revoked:
			name += " (revoked)"
		case its.Barred != "":
			name += " (another key now)"
		case !now.Connected:
			name += " (away)"
		}
		if why := cmp.Or(its.Unsigned, its.Refused); why != "" {
			name += " (" + string(why) + ")"
		}
		out = append(out, name)
	}
	return out
}

// barred are the sites that cannot come back to the study.
func barred(v outline.View) map[string]bool {
	out := map[string]bool{}
	for _, site := range v.Sites {
		if site.Barred != "" {
			out[site.Name] = true
		}
	}
	return out
}

// sentence says in words where a study stands.
func sentence(s outline.Story, leading bool) string {
	switch s.Status {
	case round.StatusProposed:
		return "Each site's operator, or its policy, decides. The study begins when all have approved; it waits for that " + map[bool]string{true: "without a deadline.", false: "until the proposal expires."}[s.Expires.IsZero()]
	case round.StatusSetup:
		return "The sites make one-time keys, share them and sign the setup over the digest. Each of them is waited for until the approvals expire: at the proposal's time, or else after 30 days."
	case round.StatusRunning:
		what := "Query " + strconv.Itoa(s.Released+1) + ": " + describe(s.Kind, s.Of, s.Round, s.Run, s.Plan)
		if !leading {
			return what + ". The page of the coordinator that leads says who is awaited."
		}
		return what + ". " + map[string]string{
			"upload": "Sites upload masked sums.",
			"sign":   "Sites sign the set of those whose uploads are in.",
			"open":   "Sites send the key shares that open the total.",
			"prove":  "A site's key shares do not match what it announced. The sites that sent them prove theirs, which shows whose are wrong.",
			"keys":   "What a site that dropped out left behind is not enough to open the total. Other sites send the keys that they share with it.",
		}[s.Phase]
	case round.StatusSigning:
		return "All queries are released. Sites verify the result and sign it; it is complete when enough have, and waits for that without a deadline."
	}
	return ""
}

func describe(kind, of study.Kind, t, run int, p *study.Plan) string {
	switch {
	case kind == study.KindPower:
		text := fmt.Sprintf("%s %d of %d", kind.Title(""), t+1, p.Rounds)
		if p.Runs > 1 {
			text += fmt.Sprintf(" for component %d", run+1)
		}
		return text
	case of == study.KindPower:
		return kind.Title("")
	}
	return kind.Title(of)
}

func (m *studyModel) facts(s outline.Story) {
	spec := s.Plan.Proposal.Spec
	method := spec.Method
	if s.Method != "" && s.Method != spec.Method {
		method += ": " + s.Method
	}
	sums, missing := strconv.Itoa(s.Plan.Thresholds.Sites), "is waited for"
	if !spec.Waits() && !s.Plan.Thresholds.Whole() {
		sums, missing = fmt.Sprintf("%d to %s", s.Plan.Thresholds.MinSurvivors, sums), "is left out"
	}
	m.Stated, m.Statements = proposal.StatementsTitle, spec.Statements()
	m.Facts = []fact{
		{"Data set", spec.Dataset}, {"Units", sheet.Grouped(s.Plan.N)}, {"Columns", columnsText(s.Plan)},
		{"Components", s.Plan.Proposal.Spec.ComponentsWords()}, {"Method", method}, {"Sites in a sum", sums},
		{"Proposed by", cmp.Or(s.Proposer, "the operator")},
		{"A missing site", missing},
	}
}

func (m *studyModel) approvals(in sight, s outline.Story, o outline.Overview) {
	prints, waits := map[string]string{}, map[string]bool{}
	for _, site := range o.Sites {
		prints[site.Name] = site.Fingerprint
	}
	for _, name := range s.Waiting {
		waits[name] = true
	}
	for i, site := range s.Sites {
		row := approvalRow{Name: site.Name, Units: site.Units, Refused: site.Refused, Joined: !in.whole || prints[site.Name] == pki.Fingerprint([]byte(s.Plan.Proposal.Roster[i].Identity))}
		row.Away = in.whole && o.Leading && s.Status == round.StatusRunning && !site.Connected && !site.Uploaded && site.Barred == "" && !waits[site.Name]
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
			if over(s.View) {
				row.State = status{"no answer", "wait", "–"}
			}
		}
		if site.Signed {
			row.Match = "signed by its key"
		}
		for _, r := range s.Rounds {
			if _, in := slices.BinarySearch(r.Survivors, i); !in {
				row.Missed++
			}
		}
		m.Approvals = append(m.Approvals, row)
	}
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
func (m *studyModel) privacy(s outline.Story) {
	spec, t := s.Plan.Proposal.Spec, s.Plan.Thresholds
	rho, most := s.View.Charged()
	m.Privacy = privacyModel{
		Epsilon: number(spec.Epsilon), Delta: number(spec.Delta), Rho: number(s.RhoPlanned), RhoCharged: number(rho), Most: most, Curve: s.Curve, Charged: "0",
		Share: int(math.Round(100 * min(1, rho/s.RhoPlanned))), Unit: "one row", Collusion: t.Collusion(),
		Noise: "central: the coordinator that leads sees exact sums over all sites, nobody else does",
	}
	if e := charged(rho, s.View); e > 0 {
		m.Privacy.Charged = number(e)
	}
	if spec.Unit != "" {
		m.Privacy.Unit = fmt.Sprintf("all rows of one %q at one site", spec.Unit)
	}
	m.Privacy.Unit += "; " + study.AtSites(s.Plan.SitesPerUnit)
	if spec.Noise == proposal.NoiseDistributed {
		m.Privacy.Noise = "distributed: every site adds its share, nobody sees an exact sum"
	}
}

// charged is the ε of what was charged so far, at the study's δ, and never more than
// was planned.
func charged(rho float64, v outline.View) float64 {
	e, err := noise.Curve(v.Curve).Epsilon(rho, v.Delta)
	if err != nil {
		return v.Epsilon
	}
	return min(e, v.Epsilon)
}

func studyNotices(s outline.Story) (out []notice) {
	gone := barred(s.View)
	vain := slices.DeleteFunc(slices.Clone(s.Waiting), func(name string) bool { return !gone[name] })
	if len(vain) > 0 {
		out = append(out, notice{"bad", fmt.Sprintf("%s waits in vain for %s, which is revoked or has another key now and cannot come back to this study. End it, `coordinator study abort %s`, and propose anew.", s.Name, strings.Join(vain, ", "), short(s.Digest))})
	} else if s.Overdue && len(s.Waiting) > 0 {
		out = append(out, notice{"warn", fmt.Sprintf("%s is past its deadline and waits for %s. At those sites: `agent status`.", s.Name, strings.Join(s.Waiting, ", "))})
	}
	return out
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

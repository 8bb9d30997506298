package sitepage

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"covey/internal/agent"
	"covey/internal/egress"
	"covey/internal/frame"
	"covey/internal/ledger"
	"covey/internal/limits"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/style"
)

//go:embed template
var files embed.FS

var templates = template.Must(style.Parts().Funcs(template.FuncMap{"short": short, "word": frame.Word}).ParseFS(files, "template/*.html"))

func short(d proposal.Digest) string { return d.String()[:12] }

// page is what every page of the session has; Body is the view's own.
type page struct {
	Title, Tab, Site, Form string
	Notice                 string
	Body                   any
}

// refusal is a page for somebody who has no session.
type refusal struct{ Text string }

func (p *Page) refuse(w http.ResponseWriter, code int, text string) {
	p.render(w, code, "closed", refusal{text})
}

// fail is the page where the agent does not answer, or answers with an error.
func (p *Page) fail(w http.ResponseWriter, s *session, err error) {
	p.render(w, http.StatusBadGateway, "nothing", page{Title: "Not available", Form: s.form, Notice: frame.Cleaned(err.Error())})
}

// render writes a page whole or not at all. A rune that is not printed as itself is written as an
// escape, in every party's text: none hides a line or turns it around.
func (p *Page) render(w http.ResponseWriter, code int, name string, model any) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, model); err != nil {
		p.tell("A page cannot be made: " + err.Error())
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	w.Write(printed(b.Bytes()))
}

// printed escapes what is not printed as itself.
func printed(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) { // bytes that are not UTF-8 become U+FFFD
		if r == '\n' || strconv.IsPrint(r) {
			out = append(out, string(r)...)
		} else {
			out = append(out, strings.Trim(strconv.QuoteRuneToASCII(r), "'")...)
		}
	}
	return out
}

// statePending is the agent's word for a proposal that awaits a decision.
const statePending = "pending"

// status is how a study stands, in a word.
type status struct{ Text, Class, Mark string }

func statusOf(v agent.StudyView) status {
	switch {
	case v.State == statePending && v.Code != "":
		return status{"cannot be approved", "bad", "!"}
	case v.State == statePending:
		return status{"awaits you", "warn", "◔"}
	case v.State == string(ledger.Approved):
		return status{"approved here", "run", "▶"}
	case v.Code == string(study.CodeCompleted):
		return status{"completed", "good", "✓"}
	}
	text := v.State
	if v.Code != "" {
		text += ": " + v.Code
	}
	return status{text, "", "■"}
}

// open reports whether the operator can decide on a study here.
func open(d agent.StudyDetail) bool {
	return d.State == statePending && d.Plan != nil && d.Code == ""
}

// moment returns a time as shown, in UTC.
func moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// row is a study as listed.
type row struct {
	agent.StudyView
	Status   status
	When     string
	Progress *progress
}

// progress is how many of a study's queries this site was charged for.
type progress struct{ Done, Most int }

func (p progress) String() string { return fmt.Sprintf("%d of at most %d queries", p.Done, p.Most) }

func rowOf(v agent.StudyView) row {
	r := row{StudyView: v, Status: statusOf(v)}
	switch {
	case v.Expires != nil && v.State == statePending:
		r.When = "can be decided until " + moment(v.Expires)
	case v.Expires != nil:
		r.When = "ends " + moment(v.Expires) + " if it has not begun"
	case v.Ended != nil:
		r.When = "ended " + moment(v.Ended)
	case v.Time != nil:
		r.When = moment(v.Time)
	}
	return r
}

// maxOver is how many studies that are over are listed; the command has all.
const maxOver = 50

type listModel struct {
	Pending, Running, Over []row
	MoreOver               int
	Status                 agent.Status
}

// list is the way in: what awaits a decision, what runs, what is over.
func (p *Page) list(w http.ResponseWriter, r *http.Request, s *session) {
	st, err := p.source.Status(r.Context())
	var all []agent.StudyView
	if err == nil {
		all, err = p.source.Studies(r.Context())
	}
	if err != nil {
		p.fail(w, s, err)
		return
	}
	m := listModel{Status: st}
	for _, v := range all {
		one := rowOf(v)
		switch v.State {
		case statePending:
			m.Pending = append(m.Pending, one)
		case string(ledger.Approved):
			if d, err := p.source.Study(r.Context(), v.Digest); err == nil && d.Plan != nil {
				one.Progress = &progress{v.Queries, d.Plan.Queries.Left(0)}
			}
			m.Running = append(m.Running, one)
		default:
			m.Over = append(m.Over, one)
		}
	}
	m.MoreOver = max(0, len(m.Over)-maxOver)
	m.Over = m.Over[:len(m.Over)-m.MoreOver]
	p.render(w, http.StatusOK, "list", page{Title: "Proposals and studies", Tab: "list", Site: st.Site, Form: s.form, Body: m})
}

// budget is a population's budget as a bar: Parts are in thousandths of the cap, one after the
// other.
type budget struct {
	Name              string
	Declared          bool
	Cap, Curve        string
	Spent, Held, Left string // percent, and ρ
	Parts             []part
	Studies           []row
}

type part struct {
	Class       string
	From, Width int
}

// share words a part of a cap.
func share(rho, limit float64) string {
	if !(limit > 0) {
		return fmt.Sprintf("ρ = %.4g", rho)
	}
	return fmt.Sprintf("%s%% (ρ = %.4g)", percent(rho, limit), rho)
}

// percent has three digits; only what leaves nothing of the limit is all of it.
func percent(rho, limit float64) string {
	text := strconv.FormatFloat(100*rho/limit, 'g', 3, 64)
	if text == "100" && rho < (1-1e-9)*limit {
		return "> 99.9"
	}
	return text
}

// parts lays shares of a cap out, cut at its end.
func parts(limit float64, of ...float64) []part {
	classes := [...]string{"full", "open", "part"}
	var out []part
	at := 0
	for i, rho := range of {
		width := 0
		if limit > 0 && rho > 0 {
			width = int(math.Ceil(1000 * min(1, rho/limit)))
		}
		if width = min(width, 1000-at); width > 0 {
			out = append(out, part{classes[i], at, width})
			at += width
		}
	}
	return out
}

// budgets are all populations, each with what it was spent on.
func (p *Page) budgets(w http.ResponseWriter, r *http.Request, s *session) {
	l, err := p.source.Ledger(r.Context())
	if err != nil {
		p.fail(w, s, err)
		return
	}
	var m []budget
	for _, q := range l.Populations {
		b := budget{Name: q.Name, Declared: q.Declared, Cap: fmt.Sprintf("%.4g", q.CapRho), Curve: q.Curve,
			Spent: share(q.SpentRho, q.CapRho), Held: share(q.ReservedRho, q.CapRho), Left: share(q.LeftRho, q.CapRho), Parts: parts(q.CapRho, q.SpentRho, q.ReservedRho)}
		for _, v := range l.Studies {
			if v.Population == q.Name && (v.SpentRho > 0 || v.State == string(ledger.Approved)) {
				one := rowOf(v)
				one.When = share(v.SpentRho, q.CapRho)
				b.Studies = append(b.Studies, one)
			}
		}
		m = append(m, b)
	}
	p.render(w, http.StatusOK, "budgets", page{Title: "Budgets", Tab: "budgets", Form: s.form, Notice: limits.Older(l.Beyond), Body: m})
}

// perPage is how many lines of the record of what left are on a page.
const perPage = 50

type sentLine struct {
	When, Kind, Query string
	Study             *proposal.Digest
	Code              study.Code
	Bytes             int
	SHA256            string
}

type egressModel struct {
	Link    []kindRow
	Studies []egressRow
	Lines   []sentLine
	Older   int64 // where older lines end; 0 if there are none
	Newest  bool
}

type egressRow struct {
	Name            string
	Study           proposal.Digest
	Messages, Bytes int
}

type kindRow struct {
	Kind string
	egress.Count
}

// kinds lists counts by their kind.
func kinds(sent map[string]egress.Count) (out []kindRow) {
	for _, kind := range slices.Sorted(maps.Keys(sent)) {
		out = append(out, kindRow{kind, sent[kind]})
	}
	return out
}

// maxTotals is how many studies' totals are listed; the command has all.
const maxTotals = 50

// egress is what left this site: totals, and the record's lines, the newest first.
func (p *Page) egress(w http.ResponseWriter, r *http.Request, s *session) {
	before, err := strconv.ParseInt(r.URL.Query().Get("before"), 10, 64)
	if err != nil || before < 0 {
		before = 0
	}
	e, err := p.source.Egress(r.Context())
	m := egressModel{Newest: before == 0}
	var lines []egress.Line
	if err == nil {
		lines, m.Older, err = p.source.Sent(before, perPage)
	}
	if err != nil {
		p.fail(w, s, err)
		return
	}
	m.Link = kinds(e.Link)
	for _, of := range e.Studies {
		all := egress.Total(of.Sent)
		m.Studies = append(m.Studies, egressRow{of.Name, of.Study, all.Messages, all.Bytes})
	}
	slices.SortStableFunc(m.Studies, func(a, b egressRow) int { return b.Bytes - a.Bytes })
	m.Studies = m.Studies[:min(len(m.Studies), maxTotals)]
	for _, l := range lines {
		one := sentLine{When: l.Time.UTC().Format("2006-01-02 15:04:05"), Kind: l.Kind, Study: l.Study, Code: l.Code, Bytes: l.Bytes, SHA256: l.SHA256}
		if l.Query != nil {
			one.Query = strconv.Itoa(*l.Query + 1)
		}
		m.Lines = append(m.Lines, one)
	}
	p.render(w, http.StatusOK, "egress", page{Title: "What left this site", Tab: "egress", Form: s.form, Body: m})
}

type checkRow struct {
	Status            status
	Check, Result, Do string
}

// checks is the page with the button; check runs them.
func (p *Page) checks(w http.ResponseWriter, _ *http.Request, s *session) {
	p.render(w, http.StatusOK, "checks", page{Title: "Checks", Tab: "checks", Form: s.form})
}

func (p *Page) check(w http.ResponseWriter, _ *http.Request, s *session) {
	if !p.busy.TryLock() {
		p.fail(w, s, errors.New("the checks are running already: wait, then try again"))
		return
	}
	found, err := p.source.Checks()
	p.busy.Unlock()
	if err != nil {
		p.fail(w, s, err)
		return
	}
	rows := []checkRow{}
	for _, f := range found {
		one := checkRow{status{"in order", "good", "✓"}, f.Check, f.Result, f.Do}
		switch {
		case f.Err != nil || !f.OK:
			one.Status = status{"failed", "bad", "!"}
		case f.Warning:
			one.Status = status{"look at it", "warn", "!"}
		}
		rows = append(rows, one)
	}
	p.render(w, http.StatusOK, "checks", page{Title: "Checks", Tab: "checks", Form: s.form, Body: rows})
}

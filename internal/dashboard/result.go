package dashboard

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strconv"

	"covey/internal/frame"
	"covey/internal/outline"
	"covey/internal/picture"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/sheet"
	"covey/internal/study"
	"covey/internal/worth"
)

// resultModel is a result as shown.
type resultModel struct {
	// Verdict is nil until it is computed.
	Verdict   *worth.Verdict
	Share     *shareBar
	Sentences []string

	Components []component
	More       int  // components that are not shown
	Loose      bool // one of them, or of those not shown, cannot be told apart
	Left       []string
	Pictures   []drawing
	Undrawn    string // why there are none although they were bought
	Scree      *chart
	Explained  []explainedRow
	Notes      []string // on its shares
	Total      string
	Method     string
	Output     string
}

// shareBar is the captured share along a bar of 100: certain up to Lower, likely up to Lower+Rest.
type shareBar struct{ Lower, Rest float64 }

// component is one component: its columns by falling weight.
type component struct {
	Number int
	// Share is its part of the total variance, with an interval; empty where that was not bought.
	Share string
	// Note is what is known about it, and Apart reports whether it can be told apart from all
	// others. If it cannot, the page shows nothing of it as an answer.
	Note  string
	Apart bool
	Rows  []loadingRow
	More  int // columns that are not shown
}

// loadingRow is a column's loading: a bar about the middle of 100, and its interval where one is
// known.
type loadingRow struct {
	Column, Text, Range string
	X, Width            float64
	Low, High           float64
	Whisker             bool
	Nil                 bool   // the interval holds zero
	Class               string // plus or minus
}

type explainedRow struct{ Component, Variance, Interval, Ratio string }

const (
	mostColumns   = 12 // of a component
	mostShown     = 6  // components
	mostExplained = 20
)

// drawing is one of a study's pictures of scores, with the sentences that belong under it.
type drawing struct {
	SVG   template.HTML
	Words []string
}

// shownResult is what a page shows of a result.
type shownResult struct {
	model *resultModel
	worth *worth.Report // nil until it is computed
}

// shownResult returns it. A result never changes, and to make one again, and sign it, at every look
// would keep a processor busy for as long as a page of a large study is open.
func (d *Dashboard) shownResult(digest proposal.Digest) (shownResult, error) {
	if shown, ok := d.cache.shown(digest); ok {
		return shown, nil
	}
	d.cache.reading.Lock()
	defer d.cache.reading.Unlock()
	if shown, ok := d.cache.shown(digest); ok {
		return shown, nil // read meanwhile
	}
	r, err := d.source.Result(digest)
	if err != nil {
		return shownResult{}, err
	}
	made := shownResult{model: newResultModel(r, nil)}
	d.cache.mu.Lock()
	defer d.cache.mu.Unlock()
	if shown, ok := d.cache.results[digest]; ok {
		return shown, nil // weighed meanwhile
	}
	d.cache.show(digest, made)
	if !d.closed {
		d.work.Go(func() { d.weighLater(digest, r) })
	}
	return made, nil
}

// shown returns what is kept of a result.
func (c *cache) shown(digest proposal.Digest) (shownResult, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown, ok := c.results[digest]
	return shown, ok
}

// show keeps what is shown of a result. Called with the cache's lock held.
func (c *cache) show(digest proposal.Digest, shown shownResult) {
	if len(c.results) > keptPages || c.results == nil {
		c.results = map[proposal.Digest]shownResult{}
	}
	c.results[digest] = shown
}

// weighLater is weigh for pages to come. Of those that wait for one another none begins once the
// dashboard is closed: the process would end after all of them.
func (d *Dashboard) weighLater(digest proposal.Digest, r *result.Result) {
	d.weighing.Lock()
	defer d.weighing.Unlock()
	d.cache.mu.Lock()
	closed := d.closed
	d.cache.mu.Unlock()
	if !closed {
		d.weighed(digest, r)
	}
}

// weigh returns what a result is worth, computed once and one at a time, away from the
// coordinator's own work, since it can take seconds. Pages have it from their next look on.
func (d *Dashboard) weigh(digest proposal.Digest, r *result.Result) *worth.Report {
	d.weighing.Lock()
	defer d.weighing.Unlock()
	return d.weighed(digest, r)
}

// weighed is called with the lock of weighing held.
func (d *Dashboard) weighed(digest proposal.Digest, r *result.Result) *worth.Report {
	if shown, _ := d.cache.shown(digest); shown.worth != nil {
		return shown.worth
	}
	of, err := worth.Read(r)
	if err != nil {
		d.log.Error("dashboard: what a result is worth cannot be computed", "study", digest, "error", err)
		of = &worth.Report{Uncalibrated: "it cannot be computed, and the coordinator's log has the reason"}
	}
	model := newResultModel(r, of)
	d.cache.mu.Lock()
	defer d.cache.mu.Unlock()
	d.cache.show(digest, shownResult{model, of})
	return of
}

// newResultModel returns what is shown of a result; of is nil if what it is worth is not known yet.
func newResultModel(r *result.Result, of *worth.Report) *resultModel {
	r = of.Shown(r)
	m := &resultModel{Output: r.Output, Method: r.Method, More: max(0, len(r.Components)-mostShown)}
	out := map[string]bool{} // columns that are left out
	for _, l := range r.LeftOut {
		m.Left = append(m.Left, frame.Word(l.Column)+" ("+l.Words()+")")
		out[l.Column] = true
	}
	if of != nil {
		v := of.Verdict(r)
		m.Verdict, m.Sentences = &v, of.Sentences
		if s := of.Share; s != nil && r.K < r.D-len(r.LeftOut) { // else a full bar says nothing
			m.Share = &shareBar{100 * s.Lower, 100 * max(0, s.Estimate-s.Lower)}
		}
	}
	m.Loose = of == nil || len(of.Components) < len(r.Components) || slices.ContainsFunc(of.Components, func(c worth.Component) bool { return !c.Separated })
	shown := r.Components[:min(len(r.Components), mostShown)]
	top := widest(shown, of)
	for i, c := range shown {
		at := component{Number: i + 1, More: max(0, len(c)-len(out)-mostColumns)}
		var intervals [][2]float64
		if of != nil && i < len(of.Components) {
			known := of.Components[i]
			at.Note, at.Apart, intervals = known.Note(), known.Separated, known.Loadings
		} else if of != nil {
			at.Note = "what it is worth is not known"
		}
		if i < len(r.VarianceRatio) {
			at.Share = r.ShareText(i) + " of the variance"
		}
		order := make([]int, 0, len(c))
		for j := range c {
			if !out[r.Columns[j]] {
				order = append(order, j)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(c[b]), math.Abs(c[a])) })
		for _, j := range order[:min(len(order), mostColumns)] {
			at.Rows = append(at.Rows, newLoading(frame.Word(r.Columns[j]), c[j], j, intervals, top))
		}
		m.Components = append(m.Components, at)
	}
	m.explain(r)
	if m.Scree != nil {
		for i := range m.Scree.Bars { // as solid as the component's loadings
			m.Scree.Bars[i].Hollow = of == nil || i >= len(of.Components) || !of.Components[i].Separated
		}
	}
	m.draw(r)
	return m
}

// draw fills in the pictures of scores, where they were bought. What noise explains is not drawn.
func (m *resultModel) draw(r *result.Result) {
	all, err := picture.Drawings(r)
	if err != nil {
		m.Undrawn = err.Error()
		return
	}
	if len(all) == 0 && len(r.Pictures) > 0 {
		m.Undrawn = r.VarianceNote
	}
	for _, d := range all {
		var b bytes.Buffer
		if d.WriteSVG(&b, false) == nil { // a buffer takes everything
			// shapes and escaped texts alone: TestPicturesAreText
			m.Pictures = append(m.Pictures, drawing{template.HTML(b.String()), d.Words})
		}
	}
}

// widest is the largest loading, or end of an interval, of the components shown: the length of half
// a bar, the same in all of them.
func widest(shown [][]float64, of *worth.Report) float64 {
	top := 0.0
	for i, c := range shown {
		for j, v := range c {
			top = max(top, math.Abs(v))
			if of != nil && i < len(of.Components) && j < len(of.Components[i].Loadings) {
				top = max(top, math.Abs(of.Components[i].Loadings[j][0]), math.Abs(of.Components[i].Loadings[j][1]))
			}
		}
	}
	if !(top > 0) || math.IsInf(top, 0) {
		return 1
	}
	return top
}

func newLoading(column string, v float64, at int, intervals [][2]float64, top float64) loadingRow {
	place := func(v float64) float64 { return math.Round(100*(50+50*max(-1, min(1, v/top)))) / 100 }
	l := loadingRow{Column: column, Text: sheet.Signed(v), X: 50, Width: math.Round(100*(place(v)-50)) / 100, Class: "plus"}
	if v < 0 {
		l.X, l.Width, l.Class = place(v), -l.Width, "minus"
	}
	if at < len(intervals) {
		low, high := intervals[at][0], intervals[at][1]
		l.Low, l.High, l.Whisker, l.Nil = place(low), place(high), true, low <= 0 && high >= 0
		l.Range = sheet.Signed(low) + " to " + sheet.Signed(high)
	}
	return l
}

// explain fills in the explained variance, where it was bought.
func (m *resultModel) explain(r *result.Result) {
	m.Scree = scree(r)
	for i, v := range r.ExplainedVariance[:min(len(r.ExplainedVariance), mostExplained)] {
		row := explainedRow{Component: strconv.Itoa(i + 1), Variance: number(v), Ratio: "–"}
		row.Interval = number(r.VarianceInterval[i][0]) + " to " + number(r.VarianceInterval[i][1])
		if i < len(r.VarianceRatio) {
			row.Ratio = r.ShareText(i)
		}
		m.Explained = append(m.Explained, row)
	}
	m.Notes = r.ShareNotes(mostExplained)
	if r.TotalInterval != nil {
		m.Total = fmt.Sprintf("%s (95%%: %s to %s)", number(r.TotalVariance), number(r.TotalInterval[0]), number(r.TotalInterval[1]))
	}
}

// number prints what people compare: four digits are enough.
func number(v float64) string { return sheet.Number(v) }

// report serves a study's one page for printing.
func (d *Dashboard) report(w http.ResponseWriter, r *http.Request, v visitor) {
	digest, err := proposal.ParseDigest(r.PathValue("digest"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	s, ok := d.sight(v.Person).story(digest)
	if !ok {
		http.NotFound(w, r)
		return
	}
	d.read(v, "report", digest)
	subject, err := d.subject(s)
	if err != nil {
		d.log.Error("dashboard: a study's report cannot be made", "study", digest, "error", err)
		http.Error(w, "the report cannot be made; the coordinator's log has the reason", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := sheet.Write(w, subject, "/report.css"); err != nil {
		d.log.Debug("dashboard: a report was not sent whole", "error", err)
	}
}

// subject is a study as its report sees it.
func (d *Dashboard) subject(s outline.Story) (sheet.Subject, error) {
	subject := sheet.Subject{Plan: s.Plan, State: statusOf(s.View).Text, Proposed: s.View.Proposed, Ended: s.View.Ended, Rho: s.Rho, Open: s.RhoAsked, Key: d.source.Overview(0).Key}
	for i, site := range s.Sites {
		a := sheet.Approval{Verdict: "not yet"}
		if over(s.View) {
			a.Verdict = "no answer"
		}
		switch site.Verdict {
		case study.VerdictApproved:
			a = sheet.Approval{Verdict: "approved, signed", Good: true}
		case study.VerdictRejected:
			a.Verdict = "rejected"
			if site.Code == study.CodeWithdrawn {
				a.Verdict = "withdrawn"
			}
		}
		for _, r := range s.Rounds {
			if _, in := slices.BinarySearch(r.Survivors, i); in {
				a.In++
			}
		}
		subject.Approvals = append(subject.Approvals, a)
	}
	for _, r := range s.Rounds {
		subject.Asked = append(subject.Asked, r.Query)
	}
	switch s.Status {
	case round.StatusEnded:
		subject.Ending = "It ended without a result."
		if s.Code != "" {
			subject.Ending = "It ended without a result (" + string(s.Code) + "): " + meaning(s.Code).Means
		}
	case round.StatusCompleted:
		r, err := d.source.Result(s.Digest)
		if err != nil {
			return subject, err
		}
		if r == nil {
			return subject, errors.New("no result")
		}
		subject.Result, subject.Worth = r, d.weigh(s.Digest, r)
	default:
		subject.Ending = "It has no result yet: " + subject.State + "."
	}
	return subject, nil
}

package dashboard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"covey/internal/outline"
	"covey/internal/round"
	"covey/internal/study"
)

// progress is a study's queries as one bar, however many there are: neighbors of one class are one
// stretch of it.
type progress struct {
	Queries   int
	Stretches []stretch
	// Text says what the bar shows, in numbers.
	Text string
	// Part, Open and Todo report whether the bar has stretches of these classes, and Over that what
	// is to do is not done any more.
	Part, Open, Todo, Over bool
}

// stretch is a run of neighboring queries in one state: full if every site is in the sum, part if
// some are missing, open for the one asked now, todo for those to come.
type stretch struct {
	From, Width int
	Class       string
}

func (p *progress) add(class string, n int) {
	if n <= 0 {
		return
	}
	from := 0
	if last := len(p.Stretches) - 1; last >= 0 {
		if p.Stretches[last].Class == class {
			p.Stretches[last].Width += n
			return
		}
		from = p.Stretches[last].From + p.Stretches[last].Width
	}
	p.Stretches = append(p.Stretches, stretch{from, n, class})
	p.Part, p.Open, p.Todo = p.Part || class == "part", p.Open || class == "open", p.Todo || class == "todo"
}

func newProgress(s outline.Story, leading bool) progress {
	p := progress{Queries: max(s.View.Queries, s.Released, 1), Over: over(s.View)}
	sites, part, retried := len(s.Plan.Proposal.Roster), 0, 0
	for _, r := range s.Rounds {
		if len(r.Survivors) < sites {
			p.add("part", 1)
			part++
		} else {
			p.add("full", 1)
		}
		if r.Retried > 0 {
			retried++
		}
	}
	text := []string{fmt.Sprintf("%d of %d queries released", s.Released, s.View.Queries)}
	left := p.Queries - len(s.Rounds)
	if s.Status == round.StatusRunning && left > 0 {
		p.add("open", 1)
		left--
		before := -1
		if n := len(s.Rounds); n > 0 {
			before = s.Rounds[n-1].Slot
		}
		if s.Slot > before+1 {
			retried++
		}
		if leading { // uploads are the leader's alone
			uploaded := 0
			for _, site := range s.Sites {
				if site.Uploaded {
					uploaded++
				}
			}
			text = append(text, fmt.Sprintf("%d of %d sites have answered the open one", uploaded, sites))
		}
	}
	p.add("todo", left)
	if part > 0 {
		text = append(text, fmt.Sprintf("%d without all sites", part))
	}
	if retried > 0 {
		text = append(text, fmt.Sprintf("%d retried", retried))
	}
	p.Text = strings.Join(text, "; ")
	return p
}

// mostRows bounds the table of rounds: the latest are shown.
const mostRows = 120

// table lists the released rounds in numbers.
func (d *Dashboard) table(m *studyModel, s outline.Story) {
	sites := len(s.Plan.Proposal.Roster)
	before := time.Time{}
	for _, r := range s.Rounds {
		row := roundRow{
			Query: r.Query + 1, What: describe(r.Kind, r.Of, r.Round, r.Run, s.Plan), Slot: r.Slot, Retried: r.Retried,
			Survivors: fmt.Sprintf("%d/%d", len(r.Survivors), sites), Missing: missing(r.Survivors, s.Plan), Rho: number(r.Rho), Noise: "–", Turn: "–", Took: "–", At: d.moment(r.At, false),
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
		m.Table = append(m.Table, row)
	}
	m.Hidden = max(0, len(m.Table)-mostRows)
	m.Table = m.Table[m.Hidden:]
}

func missing(survivors []int, p *study.Plan) string {
	var out []string
	for i, site := range p.Proposal.Roster {
		if _, in := slices.BinarySearch(survivors, i); !in { // they ascend
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

package dashboard

import (
	"crypto/ed25519"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"covey/internal/outline"
	"covey/internal/people"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
)

// told is a coordinator with one study.
type told struct {
	empty
	overview outline.Overview
	story    outline.Story
	result   *result.Result
	asked    int // for it
	reading  func()
}

func (s *told) Overview(int) outline.Overview               { return s.overview }
func (s *told) Story(proposal.Digest) (outline.Story, bool) { return s.story, true }
func (s *told) Result(proposal.Digest) (result *result.Result, err error) {
	s.asked++
	if s.reading != nil {
		s.reading()
	}
	return s.result, nil
}

func (s *told) ResultFile(proposal.Digest) (func(io.Writer) error, error) { return s.result.Write, nil }

func newTold(t *testing.T, dropout string) (*Dashboard, *told, *clock) {
	var roster []proposal.Member
	for i, name := range []string{"north", "south", "west"} {
		key := ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i+1))).Public().(ed25519.PublicKey)
		roster = append(roster, proposal.Member{Name: name, Identity: proposal.Key(key), Units: 1000})
	}
	body, err := proposal.Propose(proposal.Spec{Center: proposal.CenterPublic, Name: "test", Dataset: "rows", Epsilon: 1, Delta: 1e-6, OnDropout: dropout,
		Columns: []proposal.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}}, roster, ed25519.PublicKey(roster[0].Identity), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	d, base, now := newTest(t)
	view := outline.View{Name: "test", Digest: plan.Digest, Delta: 1e-6, Epsilon: 1, RhoPlanned: plan.Rho}
	s := &told{empty: *base, result: &result.Result{}, story: outline.Story{View: view, Plan: plan}, overview: outline.Overview{
		Leading: true, Expires: time.Now().Add(1000 * time.Hour), Sites: []outline.SiteStatus{{Name: "north", Connected: true}, {Name: "south"}, {Name: "west", Revoked: true}}}}
	d.source = s
	return d, s, now
}

// TestMissingSite: where every sum needs all sites, none is left out, whatever on_dropout is.
func TestMissingSite(t *testing.T) {
	for _, c := range []struct {
		dropout      string
		survivors    int
		sums, leaves string
	}{
		{proposal.DropoutWait, 3, "3", "is waited for"},
		{proposal.DropoutContinue, 3, "3", "is waited for"},
		{proposal.DropoutContinue, 2, "2 to 3", "is left out"},
	} {
		_, s, _ := newTold(t, c.dropout)
		s.story.Plan.Thresholds.MinSurvivors = c.survivors
		var m studyModel
		m.facts(s.story)
		for _, want := range []fact{{"Sites in a sum", c.sums}, {"A missing site", c.leaves}} {
			if !slices.Contains(m.Facts, want) {
				t.Errorf("%s with %d of 3: %v, want %v", c.dropout, c.survivors, m.Facts, want)
			}
		}
	}
}

// TestUntilWhen: a page says for whom a study waits and what ends that: a deadline only where one
// does.
func TestUntilWhen(t *testing.T) {
	const endless = ", until they answer or an operator ends the study: <code>coordinator study abort "
	for _, c := range []struct {
		name, dropout string
		view          outline.View
		want          []string
		no            string
	}{
		{"approvals", proposal.DropoutContinue, outline.View{Status: round.StatusProposed}, []string{"Awaiting <strong>north</strong>, <strong>west (revoked)</strong>" + endless, "without a deadline"}, "Until"},
		{"a setup", proposal.DropoutContinue, outline.View{Status: round.StatusSetup}, []string{"Awaiting <strong>north</strong>, <strong>west (revoked)</strong>" + endless, "until the approvals expire"}, "Until"},
		{"uploads", proposal.DropoutContinue, outline.View{Status: round.StatusRunning, Phase: "upload"}, []string{"Until <time", "awaiting <strong>north</strong>"}, endless},
		{"uploads of all", proposal.DropoutWait, outline.View{Status: round.StatusRunning, Phase: "upload"}, []string{"Awaiting <strong>north</strong>", "due by <time", endless}, "Until"},
		{"too few uploads", proposal.DropoutContinue, outline.View{Status: round.StatusRunning, Phase: "upload", Overdue: true}, []string{"Awaiting <strong>north</strong>", "overdue since <time", endless}, "Until"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, s, now := newTold(t, c.dropout)
			view := s.story.View
			view.Status, view.Phase, view.Overdue, view.Waiting = c.view.Status, c.view.Phase, c.view.Overdue, []string{"north", "west"}
			view.Left, view.Kind = 1, study.KindPower
			if view.Status == round.StatusRunning {
				view.Deadline = now.now().Add(time.Minute)
			}
			s.story.View, s.overview.Studies = view, []outline.View{view}
			main, err := d.main(everything(d), view.Digest)
			if err != nil {
				t.Fatal(err)
			}
			text := string(main.main)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("the page lacks %q", want)
				}
			}
			if strings.Contains(text, c.no) {
				t.Errorf("the page says %q", c.no)
			}
			list, err := d.main(everything(d), proposal.Digest{})
			if err != nil {
				t.Fatal(err)
			}
			for words, said := range map[string]bool{"overdue since <time": view.Overdue, ", due by <time": !view.Overdue && !view.Deadline.IsZero(), ", until <time": false} {
				if strings.Contains(string(list.main), words) != said {
					t.Errorf("the list says %q: %v", words, !said)
				}
			}
			if t.Failed() {
				at := strings.Index(text, `class="card now"`)
				t.Log(text[max(0, at):min(len(text), max(0, at)+800)])
			}
		})
	}
}

// TestResultIsMadeOnce: however long a page of a completed study is open.
func TestResultIsMadeOnce(t *testing.T) {
	d, s, now := newTold(t, proposal.DropoutWait)
	s.story.Status = round.StatusCompleted
	for range 100 {
		if c, err := d.main(everything(d), s.story.Digest); err != nil || c.page.Study.Result == nil {
			t.Fatal(err)
		}
		now.add(time.Second)
	}
	if s.asked != 1 {
		t.Errorf("the result was made %d times", s.asked)
	}
}

// TestReadResultHoldsUpNoPage: a result is the whole of a study on disk. While it is read, and
// while a page is made, other pages are.
func TestReadResultHoldsUpNoPage(t *testing.T) {
	d, s, _ := newTold(t, proposal.DropoutWait)
	s.story.Status = round.StatusCompleted
	s.reading = func() {
		if !d.cache.mu.TryLock() {
			t.Error("all pages wait for a result")
			return
		}
		d.cache.mu.Unlock()
		if c, err := d.main(everything(d), proposal.Digest{}); err != nil || len(c.main) == 0 {
			t.Errorf("the list: %v", err)
		}
	}
	if _, err := d.main(everything(d), s.story.Digest); err != nil || s.asked != 1 {
		t.Errorf("asked %d times, %v", s.asked, err)
	}
}

// TestCloseWaitsForWorth: background computations are done when the dashboard is closed, and none
// begins after: neither one that waited for another, nor one for a later look.
func TestCloseWaitsForWorth(t *testing.T) {
	for _, closed := range []bool{false, true} {
		d, s, _ := newTold(t, proposal.DropoutWait)
		s.result, _ = found()
		s.story.Status = round.StatusCompleted
		if closed {
			d.Close()
		}
		d.weighing.Lock()
		if _, err := d.main(everything(d), s.story.Digest); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			d.Close()
			close(done)
		}()
		<-d.stop
		for range 100_000 {
			runtime.Gosched()
		}
		select {
		case <-done:
			if !closed {
				t.Error("it does not wait")
			}
		default:
		}
		d.weighing.Unlock()
		<-done
		if shown, ok := d.cache.shown(s.story.Digest); !ok || shown.worth != nil {
			t.Errorf("closed before: %v; kept: %v, weighed: %v", closed, ok, shown.worth != nil)
		}
	}
}

// TestFormerLeaderWarnsOfNoCertificate: what a coordinator saw while it led, it shows no longer
// than it leads.
func TestFormerLeaderWarnsOfNoCertificate(t *testing.T) {
	d, s, now := newTold(t, proposal.DropoutWait)
	s.overview.Sites[0].Expires = now.now().Add(24 * time.Hour)
	for _, s.overview.Leading = range []bool{true, false} {
		now.add(time.Minute)
		main, err := d.main(everything(d), proposal.Digest{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(main.main), "The certificate of north ends in") != s.overview.Leading {
			t.Errorf("leading %v", s.overview.Leading)
		}
	}
}

// TestEndedCertificate: a site whose certificate has ended does not come back by itself.
func TestEndedCertificate(t *testing.T) {
	d, s, now := newTold(t, proposal.DropoutWait)
	s.overview.Sites[1].Expires = now.now().Add(-time.Hour)
	main, err := d.main(everything(d), proposal.Digest{})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(main.main); !strings.Contains(text, "The certificate of south that this coordinator last saw has ended") || !strings.Contains(text, "coordinator site invite south --again") || strings.Contains(text, "-1 day") {
		t.Error("the page does not say what to do")
	}
}

// TestWaitsInVain: where an awaited site cannot come back, a page says that the study must be
// ended.
func TestWaitsInVain(t *testing.T) {
	d, s, _ := newTold(t, proposal.DropoutWait)
	v := &s.story.View
	v.Status, v.Kind, v.Phase, v.Left, v.Overdue, v.Waiting = round.StatusRunning, study.KindPower, "upload", 1, true, []string{"north", "south"}
	v.Sites = []outline.SiteView{{Name: "north", Barred: "other key"}, {Name: "south"}, {Name: "west", Barred: "revoked"}}
	s.overview.Studies = []outline.View{*v}
	for page, want := range map[proposal.Digest]string{v.Digest: "test waits in vain for north, which", {}: "Awaiting <strong>north (another key now)</strong>, <strong>south (away)</strong>"} {
		main, err := d.main(everything(d), page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(main.main), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestAwayAndNotAwaited: the leader's page tells an operator of a site that has no link and is no
// longer waited for.
func TestAwayAndNotAwaited(t *testing.T) {
	const said = "(away: the query goes on without it)"
	for name, c := range map[string]struct {
		change func(*told, *outline.View)
		want   bool
	}{
		"away":         {func(*told, *outline.View) {}, true},
		"awaited":      {func(_ *told, v *outline.View) { v.Waiting = []string{"south"} }, false},
		"linked":       {func(_ *told, v *outline.View) { v.Sites[1].Connected = true }, false},
		"has answered": {func(_ *told, v *outline.View) { v.Sites[1].Uploaded = true }, false},
		"revoked":      {func(_ *told, v *outline.View) { v.Sites[1].Barred = "revoked" }, false},
		"signing":      {func(_ *told, v *outline.View) { v.Status = round.StatusSigning }, false},
		"viewer":       {func(*told, *outline.View) {}, false},
		"follower":     {func(s *told, _ *outline.View) { s.overview.Leading = false }, false},
	} {
		d, s, _ := newTold(t, proposal.DropoutContinue)
		v := &s.story.View
		v.Status, v.Kind, v.Phase, v.Left = round.StatusRunning, study.KindPower, "upload", 1
		v.Sites = []outline.SiteView{{Name: "north", Connected: true}, {Name: "south"}, {Name: "west", Connected: true}}
		c.change(s, v)
		role := people.Operator
		if name == "viewer" {
			role = people.Viewer
		}
		main, err := d.main(d.sight(people.Person{Role: role}), v.Digest)
		if err != nil {
			t.Fatal(err)
		}
		_, row, _ := strings.Cut(string(main.main), `<th scope="row">south`)
		row, _, _ = strings.Cut(row, "</th>")
		if got := strings.Contains(row, said); got != c.want || strings.Count(string(main.main), said) != strings.Count(row, said) {
			t.Errorf("%s: said %v, want %v", name, got, c.want)
		}
	}
}

// TestNothingToComeOfAnEndedStudy: the bar of a study that is over promises no more queries.
func TestNothingToComeOfAnEndedStudy(t *testing.T) {
	d, s, now := newTold(t, proposal.DropoutWait)
	v := &s.story.View
	v.Released, v.Queries, v.Kind, v.Phase = 1, 9, study.KindPower, "upload"
	s.story.Rounds = []round.View{{Kind: study.KindPower, At: now.now(), NoiseToSignal: -1, Turn: -1, Survivors: []int{0, 1, 2}}}
	for status, want := range map[round.Status]string{round.StatusRunning: "to come</li>", round.StatusEnded: "never asked or not released</li>"} {
		v.Status = status
		now.add(time.Second)
		main, err := d.main(everything(d), v.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(main.main); !strings.Contains(text, want) || status == round.StatusEnded && strings.Contains(text, "to come") {
			t.Errorf("%s: the page lacks %q", status, want)
		}
	}
}

// TestFollowerKnowsNoFaults: what only the leader knows, another coordinator's page does not show
// as nothing: that no message failed a check, or that nobody is awaited.
func TestFollowerKnowsNoFaults(t *testing.T) {
	const none, elsewhere = `<td class="num">0</td><td class="loose"><code>`, "leads says who is awaited"
	for _, leading := range []bool{true, false} {
		d, s, _ := newTold(t, proposal.DropoutWait)
		s.overview.Leading = leading
		s.story.Status, s.story.Kind, s.story.Phase, s.story.Left = round.StatusRunning, study.KindPower, "upload", 1
		for page, said := range map[proposal.Digest]struct {
			text string
			want bool
		}{{}: {none, leading}, s.story.Digest: {elsewhere, !leading}} {
			main, err := d.main(everything(d), page)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(main.main), said.text) != said.want {
				t.Errorf("leading %v: the page says %q: %v", leading, said.text, !said.want)
			}
		}
	}
}

// TestClippedNoiseIsSaid: a step's noise that is above the chart's axis is not drawn as a smaller
// one without a word.
func TestClippedNoiseIsSaid(t *testing.T) {
	_, s, _ := newTold(t, proposal.DropoutWait)
	for _, c := range []struct {
		noise float64
		said  bool
	}{{9, false}, {11, true}, {math.MaxFloat64, true}} {
		s.story.Rounds = []round.View{{Kind: study.KindPower, NoiseToSignal: c.noise, Turn: -1}}
		all := charts(s.story)
		if len(all) != 2 || strings.Contains(all[1].About, "above 10 are drawn at 10") != c.said {
			t.Errorf("%g: %+v", c.noise, all)
		}
	}
}

// TestTookIsNotNegative: the leader of the next round may have a clock that is behind.
func TestTookIsNotNegative(t *testing.T) {
	d, s, now := newTold(t, proposal.DropoutWait)
	for _, minutes := range []time.Duration{0, 1, -60} {
		s.story.Rounds = append(s.story.Rounds, round.View{Kind: study.KindPower, At: now.now().Add(minutes * time.Minute), NoiseToSignal: -1, Turn: -1})
	}
	m := &studyModel{}
	d.table(m, s.story)
	if got := []string{m.Table[0].Took, m.Table[1].Took, m.Table[2].Took}; got[0] != "–" || got[1] != "60 s" || got[2] != "–" {
		t.Errorf("took %q", got)
	}
}

package dashboard

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/standardize"
	"covey/internal/study"
	"covey/internal/worth"
)

// found is a result of three columns and two components that looks as good as one can.
func found() (*result.Result, *worth.Report) {
	no, angle := false, 3.0
	r := &result.Result{Columns: []string{"age", "height", "weight"}, D: 3, K: 2, Method: proposal.MethodCovariance, Output: proposal.OutputCovariance,
		Components: [][]float64{{0.2, 0.1, 0.97}, {-0.3, 0.94, 0.1}}, ExplainedVariance: []float64{2, 1}, VarianceInterval: [][2]float64{{1.95, 2.05}, {0.9, 1.1}}, VarianceRatio: []float64{0.6, 0.3}, TotalVariance: 10. / 3, TotalInterval: &[2]float64{3.2, 3.4}}
	of := &worth.Report{Share: &worth.Share{Estimate: 0.98, Lower: 0.96}, Alarm: &no, Sentences: []string{"It is good."}}
	for i := range 2 {
		of.Components = append(of.Components, worth.Component{Number: i + 1, Angle: &angle, Separated: true, Group: []int{i + 1}, Loadings: [][2]float64{{-0.1, 0.4}, {0.05, 0.15}, {0.9, 1}}})
	}
	return r, of
}

// shown renders what a page shows of a result.
func shown(t *testing.T, m *resultModel) string {
	t.Helper()
	var b bytes.Buffer
	for _, name := range []string{"result", "components"} {
		if err := templates.ExecuteTemplate(&b, name, m); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestUntrustworthyDoesNotLookGood: a result that a reader must not rely on is never in the colors
// of one that holds, and what speaks against it stands before its components.
func TestUntrustworthyDoesNotLookGood(t *testing.T) {
	r, of := found()
	good := shown(t, newResultModel(r, of))
	if !strings.Contains(good, "60.0% of the variance") || strings.Contains(good, "30.0%") || !strings.Contains(good, "30% of the variance") {
		t.Errorf("shares are not as the analyst's program prints them: %s", good)
	}
	if !strings.Contains(good, "verdict sound") || !strings.Contains(good, "At least 96.0%") || strings.Contains(good, "hollow") || strings.Contains(good, `class="doubts"`) {
		t.Fatalf("a good result: %s", good)
	}
	r.VarianceRatio[1] = 0.5
	if above := shown(t, newResultModel(r, of)); strings.Contains(good, "add up to more") || !strings.Contains(above, "these shares add up to more than 100%: ") {
		t.Errorf("shares of 60%% and 50%% are not explained: %s", above)
	}
	of.Apart = true // each share is of another clip
	if bad := shown(t, newResultModel(r, of)); strings.Contains(bad, "60.0%") || strings.Contains(bad, "verdict sound") || !strings.Contains(bad, "1.95 to 2.05") {
		t.Errorf("shares that say nothing are shown: %s", bad)
	}
	for _, c := range []struct {
		name   string
		change func(*result.Result, *worth.Report)
		class  string
		want   string
		hollow int // components
		bar    bool
	}{
		{"the alarm", func(_ *result.Result, o *worth.Report) { yes := true; o.Alarm = &yes }, "doubtful", "do not rely on the bounds", 0, true},
		{"wide bounds", func(_ *result.Result, o *worth.Report) { o.Share.Lower = 0.3 }, "doubtful", "The bound is wide", 0, true},
		{"not finished", func(_ *result.Result, o *worth.Report) { o.Unfinished = true }, "doubtful", "had not finished", 0, true},
		{"one not separated", func(_ *result.Result, o *worth.Report) { o.Components[1] = worth.Component{Number: 2, Group: []int{2}} }, "doubtful", "1 of 2 components", 1, true},
		{"none separated", func(_ *result.Result, o *worth.Report) {
			o.Components = []worth.Component{{Number: 1, Group: []int{1, 2}}, {Number: 2, Group: []int{1, 2}}}
		}, "doubtful", "2 of 2 components", 2, true},
		{"columns left out, and as many components as others", func(r *result.Result, _ *worth.Report) {
			r.LeftOut = []result.LeftOut{{Column: "height", Why: standardize.Weak}}
			r.Components = [][]float64{{0.2, 0, 0.98}, {0.98, 0, -0.2}}
		}, "doubtful", "Left out: height (its counts do not stand out from the noise)", 0, false},
		{"noise alone", func(_ *result.Result, o *worth.Report) { o.Share, o.Components = nil, nil }, "unknown", "Nothing stands out from the noise", 2, false},
		{"not calibrated", func(_ *result.Result, o *worth.Report) {
			o.Share, o.Components, o.Uncalibrated = nil, nil, "units of several rows"
		}, "unknown", "not calibrated for this study: units of several rows", 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, of := found()
			c.change(r, of)
			page := shown(t, newResultModel(r, of))
			if strings.Contains(page, "verdict sound") || !strings.Contains(page, "verdict "+c.class) {
				t.Error("it has the class of another verdict")
			}
			if at := strings.Index(page, c.want); at < 0 || at > strings.Index(page, ">Components<") {
				t.Errorf("%q is at %d", c.want, at)
			}
			if n := strings.Count(page, "component hollow"); n != c.hollow || strings.Count(page, "not to be interpreted") != n {
				t.Errorf("%d components are hollow, want %d", n, c.hollow)
			}
			if strings.Contains(page, `class="share"`) != c.bar {
				t.Error("the bar of the share")
			}
		})
	}
	t.Run("not computed yet", func(t *testing.T) {
		r, _ := found()
		page := shown(t, newResultModel(r, nil))
		if !strings.Contains(page, "Not known yet") || strings.Contains(page, "verdict sound") || strings.Count(page, "component hollow") != 2 {
			t.Error(page)
		}
		const waits = "What these variances are worth is being computed"
		if at := strings.Index(page, waits); at < 0 || at > strings.Index(page, `<svg class="plot`) || strings.Contains(good, waits) {
			t.Errorf("%q is at %d", waits, at)
		}
	})
}

// TestLeftOutColumnsHaveNoBar: a zero that no data gave is not shown as a loading.
func TestLeftOutColumnsHaveNoBar(t *testing.T) {
	r, of := found()
	r.LeftOut = []result.LeftOut{{Column: "height", Why: standardize.Constant}}
	for _, c := range newResultModel(r, of).Components {
		for _, row := range c.Rows {
			if row.Column == "height" {
				t.Errorf("component %d has a loading of a column that was left out", c.Number)
			}
		}
	}
}

// TestPicturesAreText: what a page takes as markup has none of another's, whatever columns and
// studies are called; and arrows that mean nothing are not shown without a word.
func TestPicturesAreText(t *testing.T) {
	r, of := found()
	const hostile = `</text><script>alert(1)</script><a href="x" onload='y'>`
	r.Name, r.Columns = hostile, []string{hostile, "b", "c"}
	p := result.Picture{Pair: [2]int{1, 2}, Groups: []string{hostile, "x"}, By: proposal.PictureBySite, Sigma: 1}
	h := result.ScoreHistogram{Component: 1, Sigma: 1}
	for i := range study.PictureBins + 1 {
		p.X, p.Y = append(p.X, float64(i)/2-4), append(p.Y, float64(i)/2-4)
	}
	for i := range study.ScoreBins + 1 {
		h.Edges = append(h.Edges, float64(i)/4-4)
	}
	for range 2 {
		counts := make([]float64, study.PictureBins*study.PictureBins)
		for i := range 100 {
			counts[80+i] = 1000
		}
		p.Counts = append(p.Counts, counts)
	}
	h.Counts = make([]float64, study.ScoreBins)
	h.Counts[15] = 1000
	r.Pictures, r.Scores = []result.Picture{p}, []result.ScoreHistogram{h}
	show := func(of *worth.Report) string {
		var b bytes.Buffer
		if err := templates.ExecuteTemplate(&b, "pictures", newResultModel(r, of)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	page := show(of)
	if strings.Count(page, "<svg") < 2 || !strings.Contains(page, "hue-1") {
		t.Fatalf("%d drawings", strings.Count(page, "<svg"))
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "<a ") || strings.Contains(page, "<style") || regexp.MustCompile(`<[^>]*\s(style|on[a-z]+|href|src)=`).MatchString(page) {
		t.Error("another's markup, or what the policy forbids")
	}
	const warning = "do not interpret their axes and arrows"
	if strings.Contains(page, warning) || !strings.Contains(show(nil), warning) {
		t.Error("the warning")
	}
	of.Components[1].Separated = false
	if !strings.Contains(show(of), warning) {
		t.Error("arrows of what cannot be told apart stand without a word")
	}
	r.Pictures[0].Counts = r.Pictures[0].Counts[:1]
	if page := show(of); !strings.Contains(page, "They cannot be drawn") || strings.Contains(page, "<svg") {
		t.Error("counts that fit no picture are drawn")
	}
}

// TestHeaviestFirst: columns stand by falling weight, bars of all components on one scale, and each
// interval about its loading.
func TestHeaviestFirst(t *testing.T) {
	r, of := found()
	of.Components[1].Loadings = [][2]float64{{-0.4, -0.2}, {0.9, 1}, {0, 0.2}}
	m := newResultModel(r, of)
	var order []string
	for _, c := range m.Components {
		for _, row := range c.Rows {
			order = append(order, row.Column)
			end := row.X + row.Width
			if row.Class == "minus" {
				end = row.X
			}
			if !row.Whisker || !(row.Low <= end && end <= row.High) || row.Low < 0 || row.High > 100 {
				t.Errorf("component %d, %s: %+v", c.Number, row.Column, row)
			}
		}
	}
	if got := strings.Join(order, " "); got != "weight age height height age weight" {
		t.Error(got)
	}
	if m.Components[0].Rows[0].Width != 48.5 || !m.Components[0].Rows[1].Nil || m.Components[0].Rows[0].Nil {
		t.Errorf("%+v", m.Components[0].Rows)
	}
}

// TestRoundsAreOneBar: 306 rounds are a bar with a stretch for each change, not 306 boxes.
func TestRoundsAreOneBar(t *testing.T) {
	_, s, now := newTold(t, proposal.DropoutContinue)
	story := s.story
	for i := range 200 {
		r := round.View{Query: i, Round: i, Kind: study.KindPower, Slot: i, Survivors: []int{0, 1, 2}, At: now.now(), NoiseToSignal: -1, Turn: -1}
		if i >= 50 && i < 60 {
			r.Survivors = []int{0, 2}
		}
		if i == 70 {
			r.Retried = 1
		}
		story.Rounds = append(story.Rounds, r)
	}
	story.Status, story.Released, story.View.Queries, story.Slot = round.StatusRunning, 200, 306, 200
	p := newProgress(story, false)
	want := []stretch{{0, 50, "full"}, {50, 10, "part"}, {60, 140, "full"}, {200, 1, "open"}, {201, 105, "todo"}}
	if fmt.Sprint(p.Stretches) != fmt.Sprint(want) || p.Queries != 306 {
		t.Errorf("%+v", p)
	}
	if p.Text != "200 of 306 queries released; 10 without all sites; 1 retried" {
		t.Error(p.Text)
	}
}

// TestStoryInItsOrder: who looks while a study runs sees first who is awaited, and after it first
// what the result is worth.
func TestStoryInItsOrder(t *testing.T) {
	order := func(text string, parts ...string) {
		t.Helper()
		before := -1
		for _, part := range parts {
			at := strings.Index(text, part)
			if at <= before {
				t.Errorf("%q is at %d, after %d", part, at, before)
			}
			before = at
		}
	}
	d, s, now := newTold(t, proposal.DropoutContinue)
	s.story.View.Status, s.story.View.Waiting, s.story.View.Deadline = round.StatusRunning, []string{"south"}, now.now().Add(time.Minute)
	main, err := d.main(everything(d), s.story.Digest)
	if err != nil {
		t.Fatal(err)
	}
	order(string(main.main), ">Who is awaited<", "<strong>south (away)</strong>", ">Progress<", ">Privacy<", ">Approvals<")
	if strings.Contains(string(main.main), `id="worth"`) {
		t.Error("a study without a result shows one")
	}
	now.add(time.Minute)
	s.result, _ = found()
	s.story.View.Status, s.story.View.Waiting = round.StatusCompleted, nil
	if main, err = d.main(everything(d), s.story.Digest); err != nil {
		t.Fatal(err)
	}
	order(string(main.main), "<h1", "What the result is worth", ">Components<", ">Explained variance<", ">What was released<", ">Privacy<", ">Approvals<", ">Verify<")
}

// TestEndedSaysHow: a study without a result says how it ended and what was charged, in the list
// and on its page.
func TestEndedSaysHow(t *testing.T) {
	d, s, now := newTold(t, proposal.DropoutContinue)
	v := &s.story.View
	v.Status, v.Code, v.Culprit, v.Rho, v.Released, v.Queries = round.StatusEnded, study.CodeWithdrawn, "south", s.story.Plan.Rho/2, 3, 9
	v.Proposed, v.Ended = now.now().Add(-48*time.Hour), now.now()
	s.overview.Studies = []outline.View{*v}
	list, err := d.main(everything(d), proposal.Digest{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := d.main(everything(d), v.Digest)
	if err != nil {
		t.Fatal(err)
	}
	for text, parts := range map[string][]string{
		string(list.main): {"2 May 2026", "4 May 2026", "south: The site&#39;s operator took its approval back", "<code>withdrawn</code>", "3 of 9 queries"},
		string(page.main): {"2 May 2026 12:00 UTC", "4 May 2026 12:00 UTC", "How it ended", "<code>withdrawn</code> at <strong>south</strong>", "Charged, and spent for good: ε = ", "3 of 9 queries were released"},
	} {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("no %q", part)
			}
		}
	}
	v.Sites = []outline.SiteView{{Name: "north"}}
	v.Rho, v.RhoAsked = 0, s.story.Plan.Rho/2
	now.add(rest)
	early, err := d.main(everything(d), v.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(early.main); !strings.Contains(text, "Charged, and spent for good: at most ε = ") || !strings.Contains(text, "at most charged of") {
		t.Error("a query that was asked and not released is not charged")
	} else if strings.Contains(text, "not yet") || !strings.Contains(text, "</span> no answer</span>") {
		t.Error("a site that did not answer is still waited for")
	}
	v.RhoAsked = 0
	now.add(rest)
	if early, err = d.main(everything(d), v.Digest); err != nil || !strings.Contains(string(early.main), "Nothing was charged.") {
		t.Errorf("no query was asked: %v", err)
	}
	if strings.Contains(string(page.main), "Download the result") || strings.Contains(string(page.main), "When the study is complete") {
		t.Error("the page promises a result")
	}
}

// TestStaleFollower: a follower that does not hear from a leader, or has not read what it knows of,
// says so before everything else; a leader never does.
func TestStaleFollower(t *testing.T) {
	d, s, now := newTold(t, proposal.DropoutWait)
	for _, c := range []struct {
		name    string
		leading bool
		heard   time.Duration // ago; 0 for never
		behind  int
		want    string
	}{
		{"a follower that hears", false, time.Second, 1, ""},
		{"silence", false, 6 * time.Second, 0, "last heard from a leader at "},
		{"never", false, 0, 0, "heard from no leader since it started"},
		{"behind", false, time.Second, 101, "101 entries of the log still to read"},
		{"a leader", true, time.Hour, 500, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			now.add(time.Minute)
			s.overview.Leading = c.leading
			d.cluster = func() Cluster {
				cluster := Cluster{Self: "2", Leader: "1", Behind: c.behind}
				if c.heard > 0 {
					cluster.Heard = now.now().Add(-c.heard)
				}
				return cluster
			}
			for _, digest := range []proposal.Digest{{}, s.story.Digest} {
				main, err := d.main(everything(d), digest)
				if err != nil {
					t.Fatal(err)
				}
				first, _, _ := strings.Cut(string(main.main), "\n")
				if stale := strings.HasPrefix(first, `<p class="stale">`); stale != (c.want != "") || !strings.Contains(first, c.want) {
					t.Errorf("begins with %q", first)
				}
			}
		})
	}
}

// TestReportRoute: the report loads nothing but its style, has no script, and is for those alone
// who may see the page.
func TestReportRoute(t *testing.T) {
	d, s, _ := newTold(t, proposal.DropoutWait)
	path := "/studies/" + s.story.Digest.String() + "/report"
	answer := ask(d, "GET", path, showing(goodToken))
	var b bytes.Buffer
	if _, err := b.ReadFrom(answer.Body); err != nil || answer.StatusCode != 200 {
		t.Fatal(answer.Status, err)
	}
	text := b.String()
	if strings.Contains(text, "<script") || strings.Contains(text, "<style") || strings.Contains(text, "://") || regexp.MustCompile(`style=|\son[a-z]+=`).MatchString(text) {
		t.Error("what the policy forbids")
	}
	for _, want := range []string{"It has no result yet", `href="/report.css"`, "What leaves each site", s.story.Digest.String()} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if css := ask(d, "GET", "/report.css", nil); css.StatusCode != 200 || !strings.HasPrefix(css.Header.Get("Content-Type"), "text/css") {
		t.Errorf("the style: %s, %s", css.Status, css.Header.Get("Content-Type"))
	}
	if to := logIn(d, goodToken, path).Header.Get("Location"); to != path {
		t.Errorf("a login goes on to %s", to)
	}
}

// TestUnreadVarianceSaysWhyThereIsNoPicture: pictures that were bought are not left out silently.
func TestUnreadVarianceSaysWhyThereIsNoPicture(t *testing.T) {
	r := &result.Result{K: 1, D: 1, N: 10, Columns: []string{"a"}, Components: [][]float64{{1}}, Pictures: make([]result.Picture, 1), VarianceNote: result.VarianceUnread}
	if m := newResultModel(r, nil); len(m.Pictures) > 0 || m.Undrawn != result.VarianceUnread {
		t.Errorf("%d pictures, %q", len(m.Pictures), m.Undrawn)
	}
}

// TestScreeSaysWhatItLeavesOut: the last bar of many components is not taken for the last one, nor
// are shares promised that are not drawn.
func TestScreeSaysWhatItLeavesOut(t *testing.T) {
	for _, test := range []struct {
		components, shares int
		about              string
	}{
		{2, 2, "The variance of each component, with the noise's 95% interval (for a component picked before looking) and, above it, its share of the total."},
		{2, 0, "The variance of each component, with the noise's 95% interval (for a component picked before looking)."},
		{20, 20, "The variance of each component, with the noise's 95% interval (for a component picked before looking)."},
		{50, 50, "The file has the variances of all 50 components. Here are those of the first 20, with the noise's 95% interval (for a component picked before looking)."},
	} {
		r := &result.Result{VarianceRatio: make([]float64, test.shares)}
		for range test.components {
			r.ExplainedVariance, r.VarianceInterval = append(r.ExplainedVariance, 1), append(r.VarianceInterval, [2]float64{0.5, 1.5})
		}
		c := scree(r)
		if c.About != test.about {
			t.Errorf("%d components, %d shares: %s", test.components, test.shares, c.About)
		}
		if labeled := c.Bars[0].Label != ""; labeled != strings.Contains(c.About, "above it") {
			t.Errorf("%d components, %d shares: a bar is labeled %t", test.components, test.shares, labeled)
		}
	}
}

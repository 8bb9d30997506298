package sheet

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/worth"
)

// planned is the plan of a study of so many columns at so many sites.
func planned(t *testing.T, columns, sites int, change func(*proposal.Spec)) *study.Plan {
	t.Helper()
	s := proposal.Spec{Center: proposal.CenterPublic, Name: "blood", Dataset: "labs", Epsilon: 1, Delta: 1e-6, Method: proposal.MethodCovariance, Components: 2}
	for i := range columns {
		s.Columns = append(s.Columns, proposal.Column{Name: fmt.Sprintf("measure_%d", i+1), Scale: 1})
	}
	if change != nil {
		change(&s)
	}
	var roster []proposal.Member
	for i := range sites {
		key := ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i+1))).Public().(ed25519.PublicKey)
		roster = append(roster, proposal.Member{Name: fmt.Sprintf("site-%d", i+1), Identity: proposal.Key(key), Units: 12_500})
	}
	body, err := proposal.Propose(s, roster, ed25519.PublicKey(roster[0].Identity), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, s Subject, link string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, s, link); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// plain is a sheet's text without its markup.
func plain(text string) string {
	text = regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`</?bdi>`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " ")
	return strings.Join(strings.Fields(strings.NewReplacer("&#39;", "'", "&#34;", `"`, "&#43;", "+", "\u202f", "").Replace(text)), " ")
}

// TestProposalOnOneSheet: what a board needs to decide before a study begins.
func TestProposalOnOneSheet(t *testing.T) {
	p := planned(t, 3, 4, func(s *proposal.Spec) { s.About.Purpose = "Which values go together" })
	text := plain(write(t, Subject{Plan: p, State: "awaits approval", Ending: "It has no result yet.", Key: "abcd", Approvals: []Approval{{Verdict: "approved, signed", Good: true}, {Verdict: "rejected"}}}, ""))
	for _, want := range []string{
		p.Digest.String(), "awaits approval", "the 2 principal components of 3 columns", "50000 units", "data set labs at 4 sites", "one row of a site's table",
		`Written by the proposer, not checked: purpose: "Which values go together"`, "site-1 12500 approved, signed", "site-2 12500 rejected", "site-3 12500 not yet",
		"1 of 4 sites approved exactly this digest", "measure_1, measure_2, measure_3", "What leaves each site", "No row, no file and no name leaves a site", "the sum of its clipped second-moment matrices of 6 numbers 1",
		"ε = 1 and δ = 1e-6", "at most e^ε = 2.718 times", "δ = 1 in 1000000", "only over all 4 sites", "Nothing has been charged", "What none of this covers", "Of one person at several sites",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the sheet lacks %q", want)
		}
	}
	for _, no := range []string{"What the result is worth", "What was found", "proves its releases"} {
		if strings.Contains(text, no) {
			t.Errorf("a study without a result: %q", no)
		}
	}
}

// TestOpenQueryIsCharged: sites charge a query before their first answer, so that one that was
// never released counts.
func TestOpenQueryIsCharged(t *testing.T) {
	p := planned(t, 3, 4, nil)
	for _, c := range []struct {
		released, open float64
		want           string
	}{
		{0, p.Rho / 4, "at most 25.0% of the study's ρ"},
		{p.Rho / 2, p.Rho / 4, "at most 75.0% of the study's ρ"},
		{p.Rho / 2, 0, "budget: 50.0% of the study's ρ"},
		{0, 0, "Nothing has been charged"},
	} {
		text := plain(write(t, Subject{Plan: p, Rho: c.released, Open: c.open}, ""))
		if !strings.Contains(text, c.want) || c.open > 0 && strings.Contains(text, "Nothing has been charged") {
			t.Errorf("ρ = %g released and %g open: no %q", c.released, c.open, c.want)
		}
	}
}

// TestUnsentIsSaid: the sheet of a study without a result says what was sent besides the released
// queries, and that planned ones were not sent.
func TestUnsentIsSaid(t *testing.T) {
	p, over := planned(t, 3, 4, nil), time.Unix(1e9, 0)
	const more, first, none = "One more query was asked", "Sites may have sent the first", "before any of these was sent"
	for _, c := range []struct {
		subject Subject
		want    string
	}{
		{Subject{Plan: p}, ""},
		{Subject{Plan: p, Open: p.Rho / 4}, ""},
		{Subject{Plan: p, Open: p.Rho / 4, Asked: []int{0}}, more},
		{Subject{Plan: p, Open: p.Rho / 4, Asked: []int{0}, Ended: over}, more},
		{Subject{Plan: p, Asked: []int{0}, Ended: over}, ""},
		{Subject{Plan: p, Open: p.Rho / 4, Ended: over}, first},
		{Subject{Plan: p, Ended: over}, none},
	} {
		text := plain(write(t, c.subject, ""))
		for _, note := range []string{more, first, none} {
			if strings.Contains(text, note) != (note == c.want) {
				t.Errorf("open %g, asked %v, ended %v: %q", c.subject.Open, c.subject.Asked, c.subject.Ended, note)
			}
		}
		if !strings.Contains(text, "and each time it is asked again") {
			t.Error("a query that is asked again is sent again")
		}
	}
}

func released(p *study.Plan) (*result.Result, *worth.Report) {
	r := &result.Result{K: 2, D: p.D, Rho: p.Rho, Components: [][]float64{{0.9, -0.4, 0.001}, {0.1, 0.2, 0.97}}, ExplainedVariance: []float64{2, 1}, VarianceInterval: [][2]float64{{1.95, 2.05}, {0.9, 1.1}}, VarianceRatio: []float64{0.5, 0.25}, TotalVariance: 4, TotalInterval: &[2]float64{3.9, 4.1}, Releases: []study.Release{{Query: 0, Survivors: []int{0, 1, 2}}, {Query: 1, Survivors: []int{0, 2}}}}
	for _, c := range p.Proposal.Spec.Columns {
		r.Columns = append(r.Columns, c.Name)
	}
	angle := 4.0
	of := &worth.Report{Share: &worth.Share{Estimate: 0.97, Lower: 0.95}, Components: []worth.Component{{Number: 1, Angle: &angle, Separated: true, Group: []int{1}, Loadings: [][2]float64{{0.8, 1}, {-0.5, -0.3}, {-0.1, 0.1}}}, {Number: 2, Group: []int{2}, Beyond: true}}}
	return r, of
}

// TestResultOnOneSheet: the verdict with its doubts, and no loading of a component that cannot be
// told apart.
func TestResultOnOneSheet(t *testing.T) {
	p := planned(t, 3, 3, nil)
	r, of := released(p)
	text := write(t, Of(p, r, of), "")
	if !strings.Contains(text, `class="verdict doubtful"`) || strings.Contains(text, `class="verdict sound"`) {
		t.Error("a component that is not separated leaves the verdict sound")
	}
	of.Apart = true
	if text := plain(write(t, Of(p, r, of), "")); strings.Contains(text, "1 50.0%") || !strings.Contains(text, "1 – separated") {
		t.Errorf("a share that says nothing is shown: %s", text)
	}
	of.Apart = false
	words := plain(text)
	for _, want := range []string{
		"At least 95.0% of the variance", "1 of 2 components cannot be told apart", "1 50.0% separated, within 4° measure_1 +0.90, measure_2 \u22120.40 2 25%", "not separated: do not interpret do not interpret",
		"site-1 12500 approved, signed 2 of 2", "site-2 12500 approved, signed 1 of 2", "What left each site", "100.0% of the study's ρ", "A row beyond the clip",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("the sheet lacks %q in %s", want, words)
		}
	}
	if strings.Contains(words, "measure_3 +0.97") {
		t.Error("the sheet shows loadings that are not to be interpreted")
	}
	of.Components[1] = of.Components[0]
	if text := write(t, Of(p, r, of), ""); !strings.Contains(text, `class="verdict sound"`) || strings.Contains(text, "add up to more") {
		t.Error("a sound result is not shown as one")
	}
	r.VarianceRatio[0] = 0.8
	if text := plain(write(t, Of(p, r, of), "")); !strings.Contains(text, "these shares add up to more than 100%: ") {
		t.Errorf("shares of 80%% and 25%% are not explained: %s", text)
	}
}

// TestSheetOfOpenNumberAndSites: a number of components that the study finds is not stated as
// asked for, and what pictures by site show is said.
func TestSheetOfOpenNumberAndSites(t *testing.T) {
	p := planned(t, 3, 4, func(s *proposal.Spec) {
		s.Components, s.ComponentsMax = proposal.ComponentsAuto, 3
		s.Picture, s.PictureBy, s.Noise = true, proposal.PictureBySite, proposal.NoiseDistributed
	})
	text := plain(write(t, Subject{Plan: p, State: "awaits approval"}, ""))
	for _, want := range []string{"up to 3, as many as the study finds, principal components of 3 columns", "Pictures are by site, so that each shows an institution"} {
		if !strings.Contains(text, want) {
			t.Errorf("the sheet lacks %q in %s", want, text)
		}
	}
	r, of := released(p)
	r.ComponentsWhy = "no component stands out"
	if text := plain(write(t, Of(p, r, of), "")); !strings.Contains(text, "found by the study: no component stands out.") {
		t.Errorf("the sheet does not say that nothing stands out: %s", text)
	}
	if text := plain(write(t, Of(p, r, of), "")); !strings.Contains(text, "the 2 (found by the study, of at most 3) principal components") || strings.Contains(text, "the 3 principal") {
		t.Errorf("the sheet does not tell what was found: %s", text)
	}
	if text := plain(write(t, Subject{Plan: planned(t, 3, 4, nil), State: "running"}, "")); strings.Contains(text, "institution") {
		t.Error("a study without pictures by site shows an institution")
	}
}

// TestSheetOfOne: one component, and one column, are no plurals.
func TestSheetOfOne(t *testing.T) {
	p := planned(t, 3, 4, func(s *proposal.Spec) { s.Components = 1 })
	text := plain(write(t, Subject{Plan: p, State: "awaits approval"}, ""))
	if want := "the principal component of 3 columns: the direction in which"; !strings.Contains(text, want) || strings.Contains(text, " 1 components") {
		t.Errorf("the sheet lacks %q in %s", want, text)
	}
}

// TestSheetStandsAlone: a file asks nothing of anybody, has no script, and shows others' words as
// text; what a server sends has its style elsewhere, since a page's policy forbids it here.
func TestSheetStandsAlone(t *testing.T) {
	p := planned(t, 2, 3, func(s *proposal.Spec) {
		s.About.Purpose, s.About.Contact = `<script>alert(1)</script>`, "https://x.example"
		s.Columns[0].Name = `<b onclick="x">`
	})
	file, page := write(t, Subject{Plan: p, State: "running"}, ""), write(t, Subject{Plan: p, State: "running"}, "/report.css")
	for name, text := range map[string]string{"file": file, "page": page} {
		if strings.Contains(text, "<script") || strings.Contains(text, "<b ") || strings.Contains(text, "<a ") || regexp.MustCompile(`<[^>]*(\son[a-z]+=|\sstyle=|src=)`).MatchString(text) {
			t.Errorf("the %s has another's markup", name)
		}
	}
	if strings.Contains(file, "href=") || strings.Contains(file, "url(") || strings.Contains(file, "@import") || !strings.Contains(file, "default-src 'none'") || !strings.Contains(file, "@page") {
		t.Error("the file asks for something")
	}
	if strings.Contains(page, "<style") || !strings.Contains(page, `href="/report.css"`) {
		t.Error("the page has its style in it")
	}
}

// TestSheetIsBounded: however large a study is, the sheet counts what it leaves out.
func TestSheetIsBounded(t *testing.T) {
	p := planned(t, 400, 30, nil)
	text := write(t, Subject{Plan: p, State: "running"}, "/report.css")
	for _, want := range []string{"and 352 more", "20 more sites are not listed"} {
		if !strings.Contains(text, want) {
			t.Errorf("the sheet lacks %q", want)
		}
	}
	if len(text) > 16<<10 {
		t.Errorf("%d bytes", len(text))
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{1e-6: "1 in 1\u202f000\u202f000", 3e-6: "1 in 333\u202f333", 0.3: "0.3", 0: "0"} {
		if got := oneIn(v); got != want {
			t.Errorf("%v: %q", v, got)
		}
	}
	for v, want := range map[float64]string{0.004: "0.00", -0.004: "0.00", 0.5: "+0.50", -0.5: "\u22120.50", math.Copysign(0, -1): "0.00"} {
		if got := Signed(v); got != want {
			t.Errorf("%v: %q", v, got)
		}
	}
	for n, want := range map[int]string{1: "1", 999: "999", 10500: "10\u202f500", -123456: "-123\u202f456"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

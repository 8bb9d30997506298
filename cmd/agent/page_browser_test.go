//go:build browser

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/control"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/test/browser"
	"covey/test/fed"
)

// measures are the columns of the sites' rows: mean, deviation, unit and plausible range.
var measures = []struct {
	name     string
	mean, sd float64
	unit     string
	low, top float64
}{
	{"age", 50, 15, "years", 18, 110}, {"weight", 75, 15, "kg", 30, 200}, {"pressure", 120, 12, "mmHg", 60, 250},
	{"glucose", 95, 18, "mg/dL", 50, 400}, {"hba1c", 38, 6, "mmol/mol", 20, 140}, {"creatinine", 80, 16, "µmol/L", 20, 900},
}

// pageRows are a site's: glucose in another unit than the study's, for the warning.
func pageRows(i int) string {
	random := rand.New(rand.NewPCG(uint64(i), 1))
	var rows strings.Builder
	for j, m := range measures {
		rows.WriteString(m.name + ",\n"[j/(len(measures)-1):][:1])
	}
	for range 400 + 100*i {
		common := random.NormFloat64()
		for j, m := range measures {
			v := m.mean + m.sd*(0.8*common+0.6*random.NormFloat64())
			if m.name == "glucose" && i == 0 {
				v /= 18
			}
			rows.WriteString(strconv.FormatFloat(v, 'g', 5, 64) + ",\n"[j/(len(measures)-1):][:1])
		}
	}
	return rows.String()
}

func pageStudy(name, more string) proposal.Spec {
	var columns strings.Builder
	for _, m := range measures {
		fmt.Fprintf(&columns, "  { name = %q, offset = %g, scale = %g, measure = %q, range = [%g, %g] },\n", m.name, m.mean, m.sd, m.unit, m.low, m.top)
	}
	s, err := proposal.ParseSpec([]byte(fmt.Sprintf("name = %q\ndataset = \"vitals\"\nepsilon = 0.5\ndelta = 1e-6\ncomponents = 2\ncenter = \"public\"\nnoise = \"distributed\"\ndeadlines = { round = \"3s\", tick = \"5ms\" }\n%s\ncolumns = [\n%s]\n",
		name, more, columns.String())))
	if err != nil {
		panic(err)
	}
	return s
}

// TestBrowser: a data manager reads and decides, by keyboard alone, in a browser without script,
// at the usual widths and in both schemes; a page of another port gets nothing.
func TestBrowser(t *testing.T) {
	sites := []string{"amber-clinic", "bay", "cove"}
	f := fed.Start(t, t.TempDir(), fed.Options{
		Sites: sites, Rows: pageRows,
		Agent: func(_ *fed.Part, o *agent.Options) { o.Control = control.Serve },
		Config: func(p *fed.Part, c *siteconfig.Config) {
			c.Populations = []siteconfig.Population{{Name: "patients", Budget: &siteconfig.Budget{Epsilon: 3, Delta: 1e-6, Accountant: "gdp"}}}
			c.Datasets = []siteconfig.Dataset{{Name: "vitals", Path: "../" + p.Name + ".csv", Population: "patients"}}
			if p.Index == 0 {
				c.Policy = siteconfig.Policy{MinSites: 4, Peers: c.Policy.Peers}
			}
		},
	})
	f.Must(f.Connected(proposal.Spec{Dataset: "vitals", Sites: sites}))
	dir := f.Sites[0].Dir
	screen, _ := pageAt(t, dir)
	link := screen.Last(t, linkOf, 0)
	base := link[:strings.Index(link, "/enter/")]

	chromium := browser.Open(t)
	light := browser.NewTab(t, chromium, 1280, 900, false, false)
	light.Do(chromedp.Navigate(link), browser.See("header.top"))
	if at := browser.Value[string](light, "location.href"); at != base+"/" {
		t.Errorf("the link leads to %s", at)
	}
	light.FitsAt("an empty list")

	// fresh offers a study that waits here, and returns its page.
	fresh := func(name, more string) (proposal.Digest, string) {
		t.Helper()
		id := f.Propose(pageStudy(name, more))
		f.When(id, func(v outline.View) bool { return len(v.Waiting) == 1 })
		f.Await("the proposal", func() bool {
			v, err := ask[agent.StudyDetail](&terminal{&shared.Terminal{Ctx: t.Context()}, dir}, "GET", "studies", id.String())
			return err == nil && v.State == "pending"
		})
		return id, base + "/studies/" + id.String()
	}
	letters := func(id proposal.Digest) string {
		return screen.Last(t, `\(`+id.String()[:12]+`\) on the page, type these letters there:  ([A-Z]{4})`, 0)
	}
	// decide sends the form by keyboard alone.
	decide := func(b *browser.Tab, word, name, typed string) {
		t.Helper()
		b.Reach(`input[value=approve]`)
		if word == "reject" {
			b.Keys(kb.ArrowDown)
		} else {
			b.Keys(" ")
		}
		b.Reach("#name")
		b.Keys(name)
		b.Reach("#letters")
		b.Keys(typed)
		b.Reach(".decide button")
		b.Keys(kb.Enter)
	}

	first, at := fresh("vitals-pilot", "")
	light.Do(chromedp.Navigate(at), browser.See("#decide"))
	typed := letters(first)
	decide(light, "approve", "vitals-pilot", "iiii")
	light.Do(browser.See("#alert"))
	if text := light.Text("#alert"); !strings.Contains(text, "not the letters") {
		t.Errorf("wrong letters: %q", text)
	}
	light.FitsAt("a refused decision")
	light.Do(light.Size(1280, 900))
	light.Forget() // the status
	decide(light, "approve", "vitals-pilot", strings.ToLower(typed))
	screen.Last(t, `(vitals-pilot \([0-9a-f]{12}\) is approved, from the page)`, 0)
	light.Do(browser.See("article.approved, article.finished"))
	f.Finish(first)

	second, at := fresh("vitals-2026", "about = { purpose = \"Which measures of a first visit go together\", contact = \"registry office\", ethics = \"2026-017\" }")
	light.Do(chromedp.Navigate(base+"/"), browser.See("#pending ~ .studies li"), light.Size(1280, 620))
	light.Figure("site-page-list", "")
	_, rejected := fresh(strings.Repeat("הצעה <b>", 12), "about = { purpose = \""+strings.Repeat("approved by your data protection officer ", 8)+strings.Repeat("x", 100)+"\" }")
	light.Do(chromedp.Navigate(base+"/"), browser.See("#pending ~ .studies li:nth-child(2)"))
	light.FitsAt("the list")
	light.Do(light.Size(1280, 900))

	light.Do(chromedp.Navigate(at), browser.See("#decide"))
	page := light.Text("main")
	for _, part := range []string{"patients", "more such studies", "WARNING", "glucose", "What has changed since last time", "vitals-pilot", "the proposer's description for people changed", "min_sites", "Written by the coordinator's operator, not checked", "go together"} {
		if !strings.Contains(strings.ToUpper(page), strings.ToUpper(part)) {
			t.Errorf("no %q in\n%s", part, page)
		}
	}
	light.FitsAt("a proposal")
	light.Do(light.Size(1280, 900))
	light.Figure("site-page-proposal", "#roster")
	light.Do(light.Size(320, 900))
	light.Figure("site-page-narrow", "#leaves")
	light.Do(light.Size(1280, 900))
	if n := browser.Value[int](light, `document.scripts.length`); n != 0 {
		t.Errorf("%d scripts", n)
	}
	// what a screen reader says of the fields
	for field, want := range map[string]string{"#name": "Type the study's name", "#letters": "Four letters from the terminal", "input[value=approve]": "Approve", "input[value=reject]": "Reject"} {
		if got := browser.Value[string](light, `document.querySelector("`+field+`").labels[0].innerText`); !strings.HasPrefix(strings.TrimSpace(got), want) {
			t.Errorf("%s is called %q", field, got)
		}
	}

	// The same browser shows a page of another port of this machine. It has the cookie, and gets
	// neither a frame nor an answer to its form.
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("covey-site-" + base[strings.LastIndexByte(base, ':')+1:]); err != nil || c.Value == "" {
			t.Error("the cookie does not go to other ports: the test tests nothing")
		}
		fmt.Fprintf(w, `<title>other</title><iframe src="%s/"></iframe><img src="%s"><form method="post" action="%s"><input name="decision" value="approve"><input name="name" value="vitals-2026"><input name="digest" value="%s"><input name="letters" value="%s"><button id="go">go</button></form>`,
			base, at, at, second, letters(second))
	}))
	defer other.Close()
	light.Quiet()
	light.StaysAt(base)
	light.Do(chromedp.Navigate(other.URL), browser.See("#go"), browser.Click("#go"), browser.See(".login"))
	if text := light.Text("main"); !strings.Contains(text, "Another page led here") {
		t.Errorf("a form of another port: %q", text)
	}
	light.Forget()
	if v, err := ask[agent.StudyView](&terminal{&shared.Terminal{Ctx: t.Context()}, dir}, "GET", "studies", second.String()); err != nil || v.State != "pending" {
		t.Errorf("%+v, %v", v, err)
	}

	// In the dark, in a new browser with a new link: rejecting, and the other pages.
	dark := browser.NewTab(t, chromium, 1280, 900, true, true)
	screen2, _ := pageAt(t, dir)
	link2 := screen2.Last(t, linkOf, 0)
	base2 := link2[:strings.Index(link2, "/enter/")]
	dark.Do(chromedp.Navigate(link2), browser.See("header.top"), chromedp.Navigate(base2+strings.TrimPrefix(at, base)), browser.See("#decide"))
	dark.FitsAt("a proposal in the dark")
	dark.Do(dark.Size(1280, 900))
	dark.Figure("site-page-dark", "#leaves")
	dark.Do(chromedp.Navigate(base2+strings.TrimPrefix(rejected, base)), browser.See("#decide"))
	dark.FitsAt("a proposal with a long name")
	dark.Do(dark.Size(320, 900))
	for row, name := range map[string]string{".names": `"x".repeat(120)`, "section[aria-labelledby=roster] table": `"university-hospital-of-the-region-01"`} {
		if left := browser.Value[int](dark, fmt.Sprintf(`(document.querySelector("%s th[scope=row] bdi").textContent = %s, Math.round(document.querySelector("%[1]s td").getBoundingClientRect().left))`, row, name)); left > 280 {
			t.Errorf("%s: behind a long name the next cell begins at pixel %d of 320", row, left)
		}
	}
	dark.Do(dark.Size(1280, 900))
	for _, path := range []string{"/", "/budgets", "/egress", "/checks"} {
		dark.Do(chromedp.Navigate(base2+path), browser.See("nav.tabs"))
		dark.FitsAt(path + " in the dark")
		dark.Do(dark.Size(1280, 900))
	}
	dark.Reach(".card button")
	dark.Keys(kb.Enter)
	dark.Do(browser.See("#found"))
	dark.FitsAt("checks")
	dark.Do(dark.Size(1280, 900))
	dark.Reach("header form button")
	dark.Keys(kb.Enter)
	dark.Do(browser.See(".login"))
	dark.FitsAt("a closed page")
	dark.Quiet()
	dark.StaysAt(base2)

	// Back at the first page, the second study is rejected by keyboard.
	light.Do(chromedp.Navigate(at), browser.See("#decide"))
	decide(light, "reject", "vitals-2026", letters(second))
	screen.Last(t, `(vitals-2026 \([0-9a-f]{12}\) is rejected, from the page)`, 0)
	light.Do(browser.See("article.rejected"))
	if text := light.Text(".title"); !strings.Contains(text, "rejected") {
		t.Errorf("after the rejection: %q", text)
	}
	light.Quiet()
}

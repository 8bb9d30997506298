//go:build browser

package dashboard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"covey/internal/node"
	"covey/internal/outline"
	"covey/internal/people"
	"covey/internal/proposal"
	"covey/test/browser"
)

func login(b *browser.Tab, url, token string) {
	b.T.Helper()
	b.Do(chromedp.Navigate(url), browser.See("#token"), chromedp.SendKeys(chromedp.CSS("#token"), token), browser.Click("button[type=submit]"), browser.See("header.top"))
}

// TestBrowser: real studies, watched by a browser on the leader's page and a follower's, with
// script and without, in light and dark, at the usual widths, and by keyboard alone.
func TestBrowser(t *testing.T) {
	f := newFederation(t, 3)
	chromium := browser.Open(t)
	leader, follower := f.Leading(), f.follower()

	b := browser.NewTab(t, chromium, 1280, 900, false, true)
	b.Do(chromedp.Navigate(url(leader)), browser.See("#token"))
	b.FitsAt("the login")
	b.Shot("01-login")
	b.Do(chromedp.SendKeys(chromedp.CSS("#token"), "not the token"), browser.Click("button[type=submit]"), browser.See("[role=alert]"))
	if text := b.Text("[role=alert]"); !strings.Contains(text, "That token is not valid here") {
		t.Errorf("a wrong token: %q", text)
	}
	b.Forget() // the browser notes the 401
	login(b, url(leader), f.token())
	b.Do(browser.See("#live.on"))
	if text := b.Text("#main"); !strings.Contains(text, "No study yet") || !strings.Contains(text, "5 of 5") {
		t.Errorf("before the study: %q", text)
	}
	b.Shot("02-before")

	// A study that is stopped, one with a result, and one that appears in the list and runs under
	// the reader's eyes.
	stopped := f.Propose(func() proposal.Spec { s := spec("lipids-pilot", time.Second); s.Epsilon = 5; return s }())
	f.Await("a refusal", func() bool { return len(leader.Node().Coordinator.View(stopped).Waiting) == len(siteNames) })
	f.Must(leader.Node().Coordinator.Abort(stopped))
	found := f.Propose(covariance("first-visits"))
	f.Finish(found)
	b.Do(browser.Run(`window.here = true`))
	digest := f.Propose(spec("vitals-2026", 700*time.Millisecond))
	b.Do(browser.Wait(`document.querySelectorAll(".studies li").length === 3`))
	b.Figure("page-list", "")
	// Without two sites the study waits, however long what follows takes.
	f.When(digest, func(v outline.View) bool { return v.Released >= 4 })
	away := f.Sites[2:4]
	for _, site := range away {
		site.Cancel()
	}
	for _, site := range away {
		f.Must(site.Wait())
	}
	b.FitsAt("the list")
	if !browser.Value[bool](b, `window.here === true`) {
		t.Error("the list was loaded again")
	}

	// To the study by keyboard alone: past the navigation, then to its link.
	b.Do(b.Size(1280, 900), browser.Run(`document.activeElement.blur(); window.getSelection().empty()`))
	b.Reach(".skip")
	b.Keys(kb.Enter)
	b.Reach(`a[href="/studies/` + digest.String() + `"]`)
	b.Keys(kb.Enter)
	b.Do(browser.See("h1#study"), browser.See("#live.on"), browser.Run(`window.here = true`))
	b.Do(browser.Wait(`document.querySelector(".stretches .full")?.width.baseVal.value >= 3`))
	b.Reach("#table summary")
	b.Keys(kb.Enter)
	b.Do(browser.See("#table table"))
	// on_dropout = "continue": with one of them back it goes on without the other
	f.Must(f.Sites[2].Start())
	b.Do(browser.See(".stretches .part"))
	b.Shot("03-running")
	if !browser.Value[bool](b, `document.querySelector("#table").open`) {
		t.Error("a renewal closed what the reader had opened")
	}
	b.Do(browser.Run(`document.querySelector("#table").open = false`))
	b.Do(browser.Wait(`document.querySelector(".now") !== null && document.querySelector(".now").innerText.includes("delta (away)")`))
	b.Figure("page-running", "")

	f.Must(f.Sites[2].Stop()) // and it waits again
	b.FitsAt("a study under way")
	b.Do(b.Size(1280, 900))
	dark := browser.NewTab(t, chromium, 1280, 900, true, true)
	login(dark, url(follower), f.token())
	dark.Do(browser.See(".studies li"))
	if text := dark.Text("#main"); !strings.Contains(text, "leads; this is coordinator") {
		t.Errorf("a follower does not say who leads: %q", text)
	}
	dark.FitsAt("a follower's list in the dark")
	dark.Do(dark.Size(1280, 900))
	dark.Shot("04-follower-dark")
	dark.Quiet()

	plain := browser.NewTab(t, chromium, 1280, 900, false, false)
	login(plain, url(leader)+"/studies/"+digest.String(), f.token())
	if text := plain.Text("h1#study"); text != "vitals-2026" {
		t.Errorf("without script: %q", text)
	}
	if !browser.Value[bool](plain, `document.querySelector("meta[http-equiv=refresh]") !== null`) {
		t.Error("without script the page of a study under way does not renew itself")
	}
	plain.Shot("05-without-script")
	plain.Quiet()

	f.Must(f.Sites[2].Start())
	f.Must(f.Sites[3].Start())
	f.Finish(digest)
	b.Do(browser.See(`a[download]`), browser.Wait(`document.querySelector(".verdict .headline").innerText.length > 20`))
	if !browser.Value[bool](b, `window.here === true`) {
		t.Error("the page was loaded again")
	}
	b.Shot("06-completed")
	b.Quiet()

	// What was found, light and dark, wide and narrow; and its report.
	b.Do(chromedp.Navigate(url(leader)+"/studies/"+found.String()), browser.See(".verdict.sound, .verdict.doubtful"))
	b.Figure("page-result", "#progress")
	b.FitsAt("a result")
	b.Do(b.Size(320, 900))
	b.Figure("page-narrow", "#progress")
	dark.Do(chromedp.Navigate(url(follower)+"/studies/"+found.String()), browser.See(".verdict.sound, .verdict.doubtful"))
	dark.Figure("page-result-dark", "#progress")
	dark.FitsAt("a result in the dark")
	dark.Do(dark.Size(1280, 900))
	dark.Quiet()
	b.Do(b.Size(1280, 900), chromedp.Navigate(url(leader)+"/studies/"+stopped.String()), browser.See(".ending"))
	b.FitsAt("a study that ended")
	b.Shot("07-ended")
	b.Do(b.Size(1280, 900), chromedp.Navigate(url(leader)+"/studies/"+found.String()+"/report"), browser.See("main.sheet"))
	b.FitsAt("a report")
	b.Print("page-report")
	b.Quiet()

	// Somebody with a long name sees one study, and then none: the page leaves by itself.
	long := strings.Repeat("long-name-", 6) + "end"
	viewer := browser.NewTab(t, chromium, 1280, 900, false, true)
	login(viewer, url(follower), f.invite(node.PersonRequest{Name: long, Role: people.Viewer, Studies: []string{found.String()}}))
	viewer.Do(browser.See(".studies li"), browser.See("#live.on"))
	if text := viewer.Text("body"); !strings.Contains(text, "first-visits") || strings.Contains(text, "vitals-2026") || strings.Contains(text, "amber-clinic") || !strings.Contains(text, long) {
		t.Errorf("a viewer's list: %q", text)
	}
	viewer.FitsAt("a viewer's list")
	viewer.Do(viewer.Size(1280, 900), browser.Click(`a[href="/studies/`+found.String()+`"]`), browser.See(".verdict.sound, .verdict.doubtful"))
	viewer.FitsAt("a viewer's study")
	viewer.Do(viewer.Size(1280, 900), browser.See("#live.on"))
	viewer.Shot("10-viewer")
	viewer.Quiet()
	f.revoke(long)
	viewer.Do(browser.See("#token"))

	// The leader stops; a follower's page says who leads now, and what may still fail; a page of
	// the leader says over everything that it is old.
	b.Do(b.Size(1280, 900), chromedp.Navigate(url(leader)), browser.See("#live.on"))
	dark.Do(chromedp.Navigate(url(follower)), browser.See("#live.on"))
	f.Must(leader.Stop())
	b.Do(browser.See("#live.off"), browser.See("#stale"))
	if text := b.Text("#stale"); !strings.Contains(text, "Not connected since") {
		t.Errorf("an old page says %q", text)
	}
	b.Shot("08-stale")
	f.Await("another leader", func() bool { return f.Leading() != nil })
	dark.Do(browser.Wait(`document.querySelector("#main").innerText.includes("not reached")`), browser.Wait(`/^(leads|follows [23])$/.test([...document.querySelectorAll(".tile .value")].pop().innerText)`))
	dark.FitsAt("a page of a federation in need")
	dark.Do(dark.Size(1280, 900))
	dark.Shot("09-leader-lost-dark")
	dark.Quiet()
}

//go:build browser

package dashboard_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"covey/internal/node"
	"covey/internal/people"
	"covey/internal/proposal"
)

var shots = flag.String("screenshots", "", "a folder for screenshots; none are kept without it")

// tab is a page in a headless Chromium, with what it complained of.
type tab struct {
	t   *testing.T
	ctx context.Context
	mu  sync.Mutex
	bad []string
}

func newBrowser(t *testing.T) context.Context {
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.Flag("no-sandbox", os.Getuid() == 0), chromedp.Flag("hide-scrollbars", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("no Chromium (apt-get install chromium): %v", err)
	}
	return ctx
}

// newTab opens one in a browser, with cookies of its own.
func newTab(t *testing.T, browser context.Context, width, height int64, dark, script bool) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	b.do()
	b.ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	err := chromedp.Listen(b.ctx, func(e any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := e.(type) {
		case *log.EventEntryAdded: // violations of the policy come here
			b.bad = append(b.bad, e.Entry.Text+" "+e.Entry.URL)
		case *runtime.EventExceptionThrown:
			b.bad = append(b.bad, e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			b.bad = append(b.bad, "console."+string(e.Type))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.do(
		call(log.Enable, cdp.Empty{}), call(runtime.Enable, cdp.Empty{}),
		call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600}),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}),
		call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !script}),
	)
	return b
}

type step = chromedp.Action[chromedp.Void]

// call is a protocol command as a step.
func call[P, R any](command cdp.Command[P, R], params P) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

func see(selector string) step   { return chromedp.WaitVisible(chromedp.CSS(selector)) }
func click(selector string) step { return chromedp.Click(chromedp.CSS(selector)) }
func run(script string) step     { return chromedp.Evaluate[chromedp.Void](script) }
func wait(script string) step {
	return chromedp.Poll[chromedp.Void](script, chromedp.WithPollingTimeout(time.Minute))
}

func (b *tab) do(steps ...step) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// value of an expression.
func value[T any](b *tab, script string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Text(chromedp.CSS(selector)))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

func (b *tab) login(url, token string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url), see("#token"), chromedp.SendKeys(chromedp.CSS("#token"), token), click("button[type=submit]"), see("header.top"))
}

// shot keeps the whole page as a picture.
func (b *tab) shot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(*shots, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// quiet fails for whatever the browser complained of.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.bad {
		b.t.Errorf("the browser says: %s", text)
	}
	b.bad = nil
}

// fitsAt fails if the page is wider than a window of any of the usual widths.
func (b *tab) fitsAt(what string) {
	b.t.Helper()
	for _, width := range []int64{320, 390, 768, 1280} {
		b.do(b.size(width, 900))
		if over := value[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			b.t.Errorf("%s is %d pixels wider than a window of %d", what, over, width)
		}
		b.accessible(fmt.Sprintf("%s at %d pixels", what, width))
	}
}

func (b *tab) size(width, height int64) step {
	return call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
}

var axe = flag.String("axe", "", "axe.min.js of axe-core; pages are not tested with it without")

// accessible fails for each violation that axe-core finds in what is shown.
func (b *tab) accessible(what string) {
	b.t.Helper()
	if *axe == "" {
		return
	}
	script, err := os.ReadFile(*axe)
	if err != nil {
		b.t.Fatal(err)
	}
	// as the browser's own tools run, which the page's policy does not hold up
	b.do(run(string(script) + "; undefined"))
	found, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](`axe.run(document).then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + n.any.map(a => a.message).join(" ")).join(" | ")))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, violation := range found {
		b.t.Errorf("%s: %s", what, violation)
	}
}

// keys types on the keyboard.
func (b *tab) keys(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// reach moves the focus forward to what selector names, and fails if the keyboard does not get
// there.
func (b *tab) reach(selector string) {
	b.t.Helper()
	for range 80 {
		if value[bool](b, "document.activeElement.matches("+strconv.Quote(selector)+")") {
			return
		}
		b.keys(kb.Tab)
	}
	b.t.Fatalf("the keyboard does not reach %s", selector)
}

// TestBrowser: real studies, watched by a browser on the leader's page and a follower's, with
// script and without, in light and dark, at the usual widths, and by keyboard alone.
func TestBrowser(t *testing.T) {
	f := newFederation(t, 3)
	browser := newBrowser(t)
	leader, follower := f.Leading(), f.follower()

	b := newTab(t, browser, 1280, 900, false, true)
	b.do(chromedp.Navigate(url(leader)), see("#token"))
	b.fitsAt("the login")
	b.shot("01-login")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), "not the token"), click("button[type=submit]"), see("[role=alert]"))
	if text := b.text("[role=alert]"); !strings.Contains(text, "That token is not good here") {
		t.Errorf("a wrong token: %q", text)
	}
	b.mu.Lock()
	b.bad = nil // the browser notes the 401
	b.mu.Unlock()
	b.login(url(leader), f.token())
	b.do(see("#live.on"))
	if text := b.text("#main"); !strings.Contains(text, "No study yet") || !strings.Contains(text, "5 of 5") {
		t.Errorf("before the study: %q", text)
	}
	b.shot("02-before")

	// A study that is stopped, one with a result, and one that appears in the list and runs under
	// the reader's eyes.
	stopped := f.Propose(func() proposal.Spec { s := spec("lipids-pilot", time.Second); s.Epsilon = 5; return s }())
	f.Await("a refusal", func() bool { return len(leader.Node().Coordinator.View(stopped).Waiting) == len(siteNames) })
	f.Must(leader.Node().Coordinator.Abort(stopped))
	found := f.Propose(covariance("first-visits"))
	f.Finish(found)
	b.do(run(`window.here = true`))
	digest := f.Propose(spec("vitals-2026", 700*time.Millisecond))
	b.do(wait(`document.querySelectorAll(".studies li").length === 3`))
	b.figure("page-list", "")
	b.fitsAt("the list")
	if !value[bool](b, `window.here === true`) {
		t.Error("the list was loaded again")
	}

	// To the study by keyboard alone: past the navigation, then to its link.
	b.do(b.size(1280, 900), run(`document.activeElement.blur(); window.getSelection().empty()`))
	b.reach(".skip")
	b.keys(kb.Enter)
	b.reach(`a[href="/studies/` + digest.String() + `"]`)
	b.keys(kb.Enter)
	b.do(see("h1#study"), see("#live.on"), run(`window.here = true`))
	b.do(wait(`document.querySelector(".stretches .full")?.width.baseVal.value >= 3`))
	b.reach("#table summary")
	b.keys(kb.Enter)
	b.do(see("#table table"))
	// on_dropout = "continue": the deadline passes, the study goes on without it
	f.Must(f.Sites[3].Stop())
	b.do(see(".stretches .part"))
	b.shot("03-running")
	if !value[bool](b, `document.querySelector("#table").open`) {
		t.Error("a renewal closed what the reader had opened")
	}
	b.do(run(`document.querySelector("#table").open = false`))
	b.do(wait(`document.querySelector(".now") !== null && document.querySelector(".now").innerText.includes("delta (away)")`))
	b.figure("page-running", "")
	b.fitsAt("a study under way")
	b.do(b.size(1280, 900))

	dark := newTab(t, browser, 1280, 900, true, true)
	dark.login(url(follower), f.token())
	dark.do(see(".studies li"))
	if text := dark.text("#main"); !strings.Contains(text, "leads; this is coordinator") {
		t.Errorf("a follower does not say who leads: %q", text)
	}
	dark.fitsAt("a follower's list in the dark")
	dark.do(dark.size(1280, 900))
	dark.shot("04-follower-dark")
	dark.quiet()

	plain := newTab(t, browser, 1280, 900, false, false)
	plain.login(url(leader)+"/studies/"+digest.String(), f.token())
	if text := plain.text("h1#study"); text != "vitals-2026" {
		t.Errorf("without script: %q", text)
	}
	if !value[bool](plain, `document.querySelector("meta[http-equiv=refresh]") !== null`) {
		t.Error("without script the page of a study under way does not renew itself")
	}
	plain.shot("05-without-script")
	plain.quiet()

	f.Must(f.Sites[3].Start())
	f.Finish(digest)
	b.do(see(`a[download]`), wait(`document.querySelector(".verdict .headline").innerText.length > 20`))
	if !value[bool](b, `window.here === true`) {
		t.Error("the page was loaded again")
	}
	b.shot("06-completed")
	b.quiet()

	// What was found, light and dark, wide and narrow; and its report.
	b.do(chromedp.Navigate(url(leader)+"/studies/"+found.String()), see(".verdict.sound, .verdict.doubtful"))
	b.figure("page-result", "#progress")
	b.fitsAt("a result")
	b.do(b.size(320, 900))
	b.figure("page-narrow", "#progress")
	dark.do(chromedp.Navigate(url(follower)+"/studies/"+found.String()), see(".verdict.sound, .verdict.doubtful"))
	dark.figure("page-result-dark", "#progress")
	dark.fitsAt("a result in the dark")
	dark.do(dark.size(1280, 900))
	dark.quiet()
	b.do(b.size(1280, 900), chromedp.Navigate(url(leader)+"/studies/"+stopped.String()), see(".ending"))
	b.fitsAt("a study that ended")
	b.shot("07-ended")
	b.do(b.size(1280, 900), chromedp.Navigate(url(leader)+"/studies/"+found.String()+"/report"), see("main.sheet"))
	b.fitsAt("a report")
	b.print("page-report")
	b.quiet()

	// Somebody with a long name sees one study, and then none: the page leaves by itself.
	long := strings.Repeat("long-name-", 6) + "end"
	viewer := newTab(t, browser, 1280, 900, false, true)
	viewer.login(url(follower), f.invite(node.PersonRequest{Name: long, Role: people.Viewer, Studies: []string{found.String()}}))
	viewer.do(see(".studies li"), see("#live.on"))
	if text := viewer.text("body"); !strings.Contains(text, "first-visits") || strings.Contains(text, "vitals-2026") || strings.Contains(text, "amber-clinic") || !strings.Contains(text, long) {
		t.Errorf("a viewer's list: %q", text)
	}
	viewer.fitsAt("a viewer's list")
	viewer.do(viewer.size(1280, 900), click(`a[href="/studies/`+found.String()+`"]`), see(".verdict.sound, .verdict.doubtful"))
	viewer.fitsAt("a viewer's study")
	viewer.do(viewer.size(1280, 900), see("#live.on"))
	viewer.shot("10-viewer")
	viewer.quiet()
	f.revoke(long)
	viewer.do(see("#token"))

	// The leader stops; a follower's page says who leads now, and what may still fail; a page of
	// the leader says over everything that it is old.
	b.do(b.size(1280, 900), chromedp.Navigate(url(leader)), see("#live.on"))
	dark.do(chromedp.Navigate(url(follower)), see("#live.on"))
	f.Must(leader.Stop())
	b.do(see("#live.off"), see("#stale"))
	if text := b.text("#stale"); !strings.Contains(text, "Not connected since") {
		t.Errorf("an old page says %q", text)
	}
	b.shot("08-stale")
	f.Await("another leader", func() bool { return f.Leading() != nil })
	dark.do(wait(`document.querySelector("#main").innerText.includes("not reached")`), wait(`/^(leads|follows [23])$/.test([...document.querySelectorAll(".tile .value")].pop().innerText)`))
	dark.fitsAt("a page of a federation in need")
	dark.do(dark.size(1280, 900))
	dark.shot("09-leader-lost-dark")
	dark.quiet()
}

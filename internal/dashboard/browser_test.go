//go:build browser

package dashboard_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
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
	b.ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
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

// fits fails if the page is wider than its window.
func (b *tab) fits() {
	b.t.Helper()
	if over := value[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		b.t.Errorf("the page is %d pixels wider than its window", over)
	}
}

// TestBrowser: a real study, watched by a browser on the leader's page and a follower's,
// with script and without, in light and dark, wide and narrow.
func TestBrowser(t *testing.T) {
	f := newFederation(t, 3)
	browser := newBrowser(t)
	leader, follower := f.Leading(), f.follower()

	b := newTab(t, browser, 1280, 900, false, true)
	b.do(chromedp.Navigate(url(leader)), see("#token"))
	b.shot("01-login")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), "not the token"), click("button[type=submit]"), see("[role=alert]"))
	if text := b.text("[role=alert]"); !strings.Contains(text, "not this coordinator's token") {
		t.Errorf("a wrong token: %q", text)
	}
	b.mu.Lock()
	b.bad = nil // the browser notes the 401
	b.mu.Unlock()
	b.login(url(leader), f.token(leader))
	b.do(see("#live.on"))
	if text := b.text("#main"); !strings.Contains(text, "No study yet") || !strings.Contains(text, "5 of 5") {
		t.Errorf("before the study: %q", text)
	}
	b.shot("02-before")

	// The study appears, runs and ends under the reader's eyes: no reload.
	b.do(run(`window.here = true`))
	digest := f.Propose(spec("vitals-2026", 700*time.Millisecond))
	b.do(see("h1#study"))
	b.do(see(".strip li.full:nth-of-type(3)"), click("#table summary"), see("#table table"))
	// on_dropout = "continue": the deadline passes, the study goes on without it
	f.Must(f.Sites[3].Stop())
	b.do(see(".strip li.part"))
	b.shot("03-running")
	b.fits()
	if !value[bool](b, `document.querySelector("#table").open`) {
		t.Error("a renewal closed what the reader had opened")
	}

	dark := newTab(t, browser, 1280, 900, true, true)
	dark.login(url(follower), f.token(follower))
	dark.do(see(".strip li.part"))
	if text := dark.text("#main"); !strings.Contains(text, "leads; this is coordinator") {
		t.Errorf("a follower does not say who leads: %q", text)
	}
	dark.shot("04-follower-dark")
	dark.quiet()

	plain := newTab(t, browser, 1280, 900, false, false)
	plain.login(url(leader), f.token(leader))
	if text := plain.text("h1#study"); text != "vitals-2026" {
		t.Errorf("without script: %q", text)
	}
	if !value[bool](plain, `document.querySelector("meta[http-equiv=refresh]") !== null`) {
		t.Error("without script the page of a study under way does not renew itself")
	}
	plain.shot("05-without-script")
	plain.quiet()

	narrow := newTab(t, browser, 400, 860, false, true)
	narrow.login(url(leader), f.token(leader))
	narrow.do(see("#live.on"))
	narrow.fits()

	f.Must(f.Sites[3].Start())
	f.Finish(digest)
	b.do(see(`.verify a[download]`), wait(`document.querySelectorAll(".strip .full, .strip .part").length > 10`))
	if !value[bool](b, `window.here === true`) {
		t.Error("the page was loaded again")
	}
	b.do(run(`document.querySelector("#table").open = false`))
	b.shot("06-completed")
	b.fits()
	narrow.do(see(`.verify a[download]`))
	narrow.fits()
	narrow.shot("07-completed-narrow")
	narrow.quiet()
	dark.do(see(`.verify a[download]`))
	dark.shot("08-completed-dark")

	// The leader stops; a follower's page says who leads now, and what may still fail.
	f.Must(leader.Stop())
	f.Await("another leader", func() bool { return f.Leading() != nil })
	dark.do(wait(`document.querySelector("#main").innerText.includes("not reached")`), wait(`/^(leads|follows [23])$/.test(document.querySelector(".tile .value").innerText)`))
	dark.shot("09-leader-lost-dark")
	dark.fits()
	dark.quiet()
	b.do(see("#live.off"))
}

//go:build browser

// Package browser drives a real Chromium over the pages of this repository, for their tests.
package browser

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
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var shots = flag.String("screenshots", "", "a folder for screenshots; none are kept without it")

// Tab is a page in a headless Chromium, with what it complained of.
type Tab struct {
	T   *testing.T
	Ctx context.Context

	script bool // pages may run theirs
	mu     sync.Mutex
	bad    []string
	asked  []string
}

// Open starts a browser, which ends with the test.
func Open(t *testing.T) context.Context {
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

// NewTab opens one in a browser, with cookies of its own.
func NewTab(t *testing.T, browser context.Context, width, height int64, dark, script bool) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &Tab{T: t, Ctx: ctx, script: script}
	b.Do()
	b.Ctx, cancel = context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(cancel)
	err := chromedp.Listen(b.Ctx, func(e any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := e.(type) {
		case *log.EventEntryAdded: // violations of the policy come here
			b.bad = append(b.bad, e.Entry.Text+" "+e.Entry.URL)
		case *runtime.EventExceptionThrown:
			b.bad = append(b.bad, e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			b.bad = append(b.bad, "console."+string(e.Type))
		case *network.EventRequestWillBeSent:
			b.asked = append(b.asked, e.Request.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.Do(
		Call(log.Enable, cdp.Empty{}), Call(runtime.Enable, cdp.Empty{}), Call(network.Enable, network.EnableParams{}),
		Call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600}),
		Call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}),
		b.scripts(script),
	)
	return b
}

func (b *Tab) scripts(on bool) Step {
	return Call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// Step is something to do in a tab.
type Step = chromedp.Action[chromedp.Void]

// Call is a protocol command as a step.
func Call[P, R any](command cdp.Command[P, R], params P) Step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// See waits until something is visible, Click clicks on it, Run runs a script, and Wait waits until
// one is true.
func See(selector string) Step   { return chromedp.WaitVisible(chromedp.CSS(selector)) }
func Click(selector string) Step { return chromedp.Click(chromedp.CSS(selector)) }
func Run(script string) Step     { return chromedp.Evaluate[chromedp.Void](script) }
func Wait(script string) Step {
	return chromedp.Poll[chromedp.Void](script, chromedp.WithPollingTimeout(time.Minute))
}

// Do does steps one after the other; an error is the test's end.
func (b *Tab) Do(steps ...Step) {
	b.T.Helper()
	if err := chromedp.Do(b.Ctx, steps...); err != nil {
		b.T.Fatal(err)
	}
}

// Value returns the value of an expression.
func Value[T any](b *Tab, script string) T {
	b.T.Helper()
	v, err := chromedp.Run(b.Ctx, chromedp.Evaluate[T](script))
	if err != nil {
		b.T.Fatal(err)
	}
	return v
}

// Text returns the text of what selector names.
func (b *Tab) Text(selector string) string {
	b.T.Helper()
	text, err := chromedp.Run(b.Ctx, chromedp.Text(chromedp.CSS(selector)))
	if err != nil {
		b.T.Fatal(err)
	}
	return text
}

// Shot keeps the whole page as a picture.
func (b *Tab) Shot(name string) {
	b.T.Helper()
	if *shots == "" {
		return
	}
	png, err := chromedp.Run(b.Ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.T.Fatal(err)
	}
	if err := os.MkdirAll(*shots, 0o755); err != nil {
		b.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644); err != nil {
		b.T.Fatal(err)
	}
}

// Quiet fails for whatever the browser complained of.
func (b *Tab) Quiet() {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.bad {
		b.T.Errorf("the browser says: %s", text)
	}
	b.bad = nil
}

// Forget drops what the browser complained of so far, such as a status that the test asked for.
func (b *Tab) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = nil
}

// StaysAt fails for each request that went elsewhere than to an origin, and if there was none.
func (b *Tab) StaysAt(origin string) {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.asked {
		if !strings.HasPrefix(url, origin+"/") {
			b.T.Errorf("the browser asks for %s", url)
		}
	}
	if len(b.asked) == 0 {
		b.T.Error("no request was seen")
	}
}

// FitsAt fails if the page is wider than a window of any of the usual widths.
func (b *Tab) FitsAt(what string) {
	b.T.Helper()
	for _, width := range []int64{320, 375, 768, 1280} {
		b.Do(b.Size(width, 900))
		if over := Value[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			b.T.Errorf("%s is %d pixels wider than a window of %d", what, over, width)
		}
		b.Accessible(fmt.Sprintf("%s at %d pixels", what, width))
	}
}

// Size makes the window as large.
func (b *Tab) Size(width, height int64) Step {
	return Call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
}

var axe = flag.String("axe", "", "axe.min.js of axe-core; pages are not tested with it without")

// Accessible fails for each violation that axe-core finds in what is shown.
func (b *Tab) Accessible(what string) {
	b.T.Helper()
	if *axe == "" {
		return
	}
	script, err := os.ReadFile(*axe)
	if err != nil {
		b.T.Fatal(err)
	}
	// as the browser's own tools run, which the page's policy does not hold up
	b.Do(b.scripts(true), Run(string(script)+"; undefined"))
	found, err := chromedp.Run(b.Ctx, chromedp.Evaluate[[]string](`axe.run(document).then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + n.any.map(a => a.message).join(" ")).join(" | ")))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.T.Fatal(err)
	}
	b.Do(b.scripts(b.script))
	for _, violation := range found {
		b.T.Errorf("%s: %s", what, violation)
	}
}

// Keys types on the keyboard.
func (b *Tab) Keys(keys string) {
	b.T.Helper()
	b.Do(chromedp.KeyEvent(keys))
}

// Reach moves the focus forward to what selector names, and fails if the keyboard does not get
// there.
func (b *Tab) Reach(selector string) {
	b.T.Helper()
	for range 80 {
		if Value[bool](b, "document.activeElement.matches("+strconv.Quote(selector)+")") {
			return
		}
		b.Keys(kb.Tab)
	}
	b.T.Fatalf("the keyboard does not reach %s", selector)
}

//go:build browser

package dashboard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"covey/test/browser"
)

// TestBrowserStays: a page behind a proxy comes back by itself after the proxy found no
// coordinator, and only pages in sight hold a stream, so that one more always loads.
func TestBrowserStays(t *testing.T) {
	f := newFederation(t, 1)
	to, err := neturl.Parse(url(f.Leading()))
	f.Must(err)
	var down atomic.Bool
	var streams, refused atomic.Int64
	through := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			refused.Add(1)
			http.Error(w, "no coordinator", http.StatusBadGateway)
			return
		}
		if r.URL.Path == "/events" {
			streams.Add(1)
			defer streams.Add(-1)
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)

	chromium := browser.Open(t)
	b := browser.NewTab(t, chromium, 1280, 900, false, true)
	login(b, proxy.URL, f.token())
	b.Do(browser.See("#live.on"), browser.Run(`window.here = true`))
	down.Store(true)
	proxy.CloseClientConnections()
	b.Do(browser.See("#live.off"), browser.See("#stale"))
	f.Await("the page to ask in vain", func() bool { return refused.Load() > 0 })
	down.Store(false)
	b.Do(browser.See("#live.on"))
	if !browser.Value[bool](b, `window.here === true && document.querySelector("#stale").hidden`) {
		t.Error("the page did not come back by itself")
	}
	b.Forget() // the browser notes the 502

	// As many as a browser has connections to a server, and two more. A headless browser's pages
	// are all in sight.
	hide := func(b *browser.Tab, hidden bool) {
		b.Do(browser.Run(fmt.Sprintf(`Object.defineProperty(document, "hidden", { configurable: true, value: %v }); document.dispatchEvent(new Event("visibilitychange"))`, hidden)))
	}
	for range 8 {
		hide(b, true)
		f.Await("the page out of sight to leave its stream", func() bool { return streams.Load() == 0 })
		ctx, cancel := chromedp.NewContext(b.Ctx)
		t.Cleanup(cancel)
		b = &browser.Tab{T: t, Ctx: ctx}
		b.Do(chromedp.Navigate(proxy.URL), browser.See("#live.on"))
	}
	hide(b, true)
	f.Must(f.Sites[1].Stop())
	hide(b, false)
	b.Do(browser.See("#live.on"), browser.Wait(`document.querySelector("#main").innerText.includes("4 of 5")`))
}

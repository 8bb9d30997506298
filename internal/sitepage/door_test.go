package sitepage

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLinkIsGoodOnce: one browser comes in by a link, within a minute, and none by an older one.
func TestLinkIsGoodOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, _ := unvisited(t)
		come := func(link string, change func(*http.Request)) int {
			return v.do("GET", strings.TrimPrefix(link, "http://"+address), nil, change).Code
		}
		link := v.page.Link()
		if code := come(link, func(r *http.Request) { r.Method = "HEAD" }); code != http.StatusMethodNotAllowed {
			t.Errorf("HEAD: %d", code)
		}
		if code := come(link, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); code != http.StatusForbidden {
			t.Errorf("from another page: %d", code)
		}
		if code := come(link[:len(link)-1], nil); code != http.StatusForbidden {
			t.Errorf("part of a token: %d", code)
		}
		time.Sleep(LinkFor - time.Nanosecond)
		if code := come(link, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }); code != http.StatusSeeOther {
			t.Errorf("within a minute: %d", code)
		}
		told := len(v.told)
		if code := come(link, nil); code != http.StatusForbidden || len(v.told) != told+1 || !strings.Contains(v.told[told], "second time") {
			t.Errorf("twice: %d, told %q", code, v.told)
		}
		link = v.page.Link()
		time.Sleep(LinkFor)
		if code := come(link, nil); code != http.StatusForbidden {
			t.Errorf("after a minute: %d", code)
		}
		older := v.page.Link()
		newer := v.page.Link()
		if code := come(older, nil); code != http.StatusForbidden {
			t.Errorf("an older link: %d", code)
		}
		if code := come(newer, nil); code != http.StatusSeeOther {
			t.Errorf("the newest link: %d", code)
		}
	})
}

// TestNoLinkNoWayIn: before a link was made no token is good, the empty one's hash neither.
func TestNoLinkNoWayIn(t *testing.T) {
	v, _ := unvisited(t)
	for _, token := range []string{"x", strings.Repeat("0", 64), "%20"} {
		if code := v.do("GET", "/enter/"+token, nil, nil).Code; code != http.StatusForbidden {
			t.Errorf("%q: %d", token, code)
		}
	}
}

// TestSessionEnds: after 15 minutes without a request, with the button, and with another link that
// is used; forms of it are worth nothing then.
func TestSessionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, id := visited(t)
		for range 4 {
			time.Sleep(idleFor - time.Nanosecond)
			v.get("/")
		}
		form := v.form(id)
		time.Sleep(idleFor)
		if w := v.do("POST", "/studies/"+id.String(), form, nil); w.Code != http.StatusForbidden || !v.site.untouched() {
			t.Errorf("idle: %d", w.Code)
		}
		if w := v.do("GET", "/", nil, nil); w.Code != http.StatusForbidden {
			t.Errorf("idle, and then again: %d", w.Code)
		}

		v.enter()
		form = v.form(id)
		old := v.cookie
		v.enter()
		v.cookie = old
		if w := v.do("POST", "/studies/"+id.String(), form, nil); w.Code != http.StatusForbidden || !v.site.untouched() {
			t.Errorf("an older session: %d", w.Code)
		}

		v.enter()
		form = v.form(id)
		if w := v.do("POST", "/leave", nil, nil); w.Code != http.StatusForbidden {
			t.Errorf("leaving without the form's token: %d", w.Code)
		}
		v.get("/")
		if w := v.do("POST", "/leave", url.Values{"form": form["form"]}, nil); w.Code != http.StatusOK {
			t.Errorf("leaving: %d", w.Code)
		}
		if w := v.do("GET", "/", nil, nil); w.Code != http.StatusForbidden {
			t.Errorf("after leaving: %d", w.Code)
		}
	})
}

// TestSecretsAreRedacted: the door prints nothing.
func TestSecretsAreRedacted(t *testing.T) {
	v, id := visited(t)
	form := v.form(id)
	for _, text := range []string{fmt.Sprint(&v.page.door), fmt.Sprintf("%#v %+v", &v.page.door, v.page.door.session)} {
		if strings.Contains(text, form.Get("letters")) || strings.Contains(text, form.Get("form")) {
			t.Errorf("%s", text)
		}
	}
}

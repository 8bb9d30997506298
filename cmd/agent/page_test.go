package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/test/lines"
)

const linkOf = `(http://127\.0\.0\.1:\d+/enter/[0-9a-f]{64})\n`

// pageAt serves the page of a site's folder until the test ends, as its command does. enter presses
// Enter.
func pageAt(t testing.TB, dir string) (screen *lines.Log, enter func()) {
	screen = &lines.Log{}
	in, keyboard := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- (&pageCmd{}).serve(&terminal{&shared.Terminal{Ctx: ctx, In: in, Out: io.Discard, Err: screen}, dir})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return screen, func() { io.WriteString(keyboard, "\n") }
}

var hidden = regexp.MustCompile(`name="form" value="([0-9a-f]{64})"`)

// TestPageDecides: from the link to the approval, over a real agent's socket; a new link ends the
// session that was.
func TestPageDecides(t *testing.T) {
	dir, id := serving(t)
	screen, enter := pageAt(t, dir)
	link := screen.Last(t, linkOf, 0)
	base := link[:strings.Index(link, "/enter/")]
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	get := func(address string) (int, string) {
		t.Helper()
		r, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(text)
	}
	if code, page := get(link); code != http.StatusOK || !strings.Contains(page, "blood") || !strings.Contains(page, "awaits you") {
		t.Fatalf("%d, %s", code, page)
	}
	address := base + "/studies/" + id.String()
	code, page := get(address)
	for _, part := range []string{"In short", "of your data set", "ε = 0.5", "What leaves this site", "Who takes part", "Your decision", id.String()} {
		if code != http.StatusOK || !strings.Contains(page, part) {
			t.Errorf("%d: no %q in\n%s", code, part, page)
		}
	}
	letters := screen.Last(t, `type these letters there:  ([A-Z]{4})\n`, 0)
	if strings.Contains(page, letters) {
		t.Error("the letters are on the page")
	}
	post := func(address string, form url.Values) (int, string) {
		t.Helper()
		r, err := http.NewRequest("POST", address, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", base)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		reply, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, string(text)
	}
	seen := regexp.MustCompile(`name="seen" value="([0-9a-f]{64})"`).FindStringSubmatch(page)[1]
	form := url.Values{"form": {hidden.FindStringSubmatch(page)[1]}, "digest": {id.String()}, "seen": {seen}, "decision": {"approve"}, "name": {"blood"}, "letters": {strings.ToLower(letters)}}
	if code, page := post(address, form); code != http.StatusOK || !strings.Contains(page, "approved here") || !strings.Contains(page, "study withdraw") {
		t.Fatalf("%d, %s", code, page)
	}
	screen.Last(t, `(Study blood \([0-9a-f]{12}\) is approved, from the page)`, 0)
	for path, part := range map[string]string{"/budgets": "patients", "/egress": "What left", "/checks": "Check now", "/": "What was approved"} {
		if code, page := get(base + path); code != http.StatusOK || !strings.Contains(page, part) {
			t.Errorf("%s: %d, no %q in\n%s", path, code, part, page)
		}
	}
	var out, said bytes.Buffer
	if code := run(t.Context(), []string{"-C", dir, "study", "list"}, &out, &said); code != 0 || !strings.Contains(out.String(), "approved") {
		t.Errorf("%d, %s%s", code, out.String(), said.String())
	}

	// the checks, which need no key
	for _, key := range []string{"identity.key", "tls.key"} {
		if err := os.Remove(filepath.Join(dir, key)); err != nil {
			t.Fatal(err)
		}
	}
	if code, page := post(base+"/checks", url.Values{"form": form["form"]}); code != http.StatusOK || !strings.Contains(page, "data set rows") || !strings.Contains(page, "in order") || strings.Contains(page, "failed") {
		t.Errorf("checks: %d\n%s", code, page)
	}

	enter()
	next := screen.Last(t, linkOf, 1)
	if code, _ := get(base + "/"); code != http.StatusOK {
		t.Errorf("a new link that nobody used ended the session: %d", code)
	}
	other := &http.Client{}
	r, err := other.Get(next) // which keeps no cookie
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if code, _ := get(base + "/"); code != http.StatusForbidden {
		t.Errorf("a new link leaves the old session: %d", code)
	}
	if code, _ := get(link); code != http.StatusForbidden {
		t.Errorf("an old link: %d", code)
	}
}

// TestPageNeedsATerminal: what it prints would stay in a file or a journal.
func TestPageNeedsATerminal(t *testing.T) {
	dir, _ := joinedSite(t)
	var out, said bytes.Buffer
	if code := run(t.Context(), []string{"-C", dir, "page"}, &out, &said); code != 2 || !strings.Contains(said.String(), "at a terminal") || strings.Contains(said.String(), "enter/") {
		t.Errorf("%d, %s%s", code, out.String(), said.String())
	}
}

// canaryRows are a site's, with a number in each that nothing else has.
func canaryRows(n int, canary string) string {
	var b strings.Builder
	b.WriteString("x,y,note\n")
	for i := range n {
		b.WriteString(strings.Repeat("1", i%3+1) + "." + canary + "," + "2." + canary + ",row" + canary + "\n")
	}
	return b.String()
}

// chance matches times and hashes, whose digits may be those of a value.
var chance = regexp.MustCompile(`[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]+|[0-9a-f]{32,}`)

// TestPageKeepsValues: no value of the rows reaches the terminal, and none reaches the page but the
// figures of 50 values and more.
func TestPageKeepsValues(t *testing.T) {
	const canary = "73100573"
	for _, n := range []int{49, 50} {
		dir, id := servingRows(t, canaryRows(n, canary), n)
		screen, _ := pageAt(t, dir)
		link := screen.Last(t, linkOf, 0)
		base := link[:strings.Index(link, "/enter/")]
		jar, _ := cookiejar.New(nil)
		client := &http.Client{Jar: jar}
		var all strings.Builder
		for _, address := range []string{link, base + "/studies/" + id.String(), base + "/budgets", base + "/egress", base + "/checks"} {
			r, err := client.Get(address)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil || r.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d, %v", address, r.StatusCode, err)
			}
			all.Write(text)
		}
		if got := strings.Contains(all.String(), "11.731"); got != (n >= 50) {
			t.Errorf("of %d rows the median is shown: %t", n, got)
		}
		shown, told := chance.ReplaceAllString(all.String(), ""), chance.ReplaceAllString(screen.String(), "")
		if strings.Contains(shown, canary) || strings.Contains(told, "731005") || strings.Contains(told, "11.73") {
			t.Errorf("of %d rows a value is on the page or the terminal:\n%s", n, screen)
		}
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || filepath.Base(path) == "rows.csv" {
				return err
			}
			text, err := os.ReadFile(path)
			if strings.Contains(chance.ReplaceAllString(string(text), ""), "731005") {
				t.Errorf("%s holds a value", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

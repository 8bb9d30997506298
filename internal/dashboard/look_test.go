package dashboard

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"covey/internal/worth"
)

// luminance is WCAG 2's, of a colour as the style has it.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// TestContrast: every pair of colours that text or a line has, light and dark, by WCAG
// 2's rule for small text: 4.5 to 1.
func TestContrast(t *testing.T) {
	css, err := files.ReadFile("static/style.css")
	if err != nil {
		t.Fatal(err)
	}
	light, rest, ok := strings.Cut(string(css), "@media (prefers-color-scheme: dark)")
	dark, _, also := strings.Cut(rest, "* {")
	if !ok || !also {
		t.Fatal("the style has no dark part where this test looks")
	}
	for name, part := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(part, -1) {
			colours[m[1]] = m[2]
		}
		for _, pair := range []string{
			"ink card", "ink paper", "ink blue-soft", "ink faint", "soft card", "soft paper", "soft faint", "blue card", "blue paper", "blue blue-soft", "card blue", "good card", "good good-soft",
			"blue faint", "card bad", "warn card", "warn warn-soft", "bad card", "bad bad-soft", "s1 card", "s2 card", "s3 card", "s4 card", "s5 card", "s6 card",
		} {
			a, b, _ := strings.Cut(pair, " ")
			if colours[a] == "" || colours[b] == "" {
				t.Fatalf("%s: no colour for %s", name, pair)
			}
			high, low := luminance(t, colours[a]), luminance(t, colours[b])
			if ratio := (max(high, low) + 0.05) / (min(high, low) + 0.05); ratio < 4.5 {
				t.Errorf("%s: %s has %.2f to 1", name, pair, ratio)
			}
		}
	}
}

// TestNamesAreText: what an analyst or a site may call things is no markup, in a page or in
// an event.
func TestNamesAreText(t *testing.T) {
	const hostile = "<script>alert(1)</script>\"'\revent: x"
	p := page{Stale: hostile, Notices: []notice{{"warn", hostile}}, Studies: make([]studyRow, 2), Sites: []siteRow{{Name: hostile, Software: hostile}},
		Study: &studyModel{Name: hostile, Waiting: []string{hostile}, Progress: progress{Text: hostile}, Approvals: []approvalRow{{Name: hostile}},
			Charts: []chart{{ID: "a", Title: hostile, Lines: []line{{Points: "1,2", Dots: []dot{{Title: hostile}}}}}}, Result: &resultModel{Left: []string{hostile}, Verdict: &worth.Verdict{Headline: hostile, Doubts: []string{hostile}}, Components: []component{{Rows: []loadingRow{{Column: hostile}}}}}}}
	var b bytes.Buffer
	list := page{Studies: []studyRow{{Name: hostile, Ending: hostile, Awaited: []string{hostile}}}, Sites: p.Sites, Happenings: []happeningRow{{Text: hostile}}}
	for _, p := range []page{p, list} {
		if err := templates.ExecuteTemplate(&b, "main", p); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(b.String(), "<script") || !strings.Contains(b.String(), "&lt;script&gt;") {
		t.Error("a name became markup")
	}
	for line := range strings.Lines(string(event("page", b.Bytes()))) {
		if strings.Contains(line, "\r") || !strings.HasPrefix(line, "data: ") && line != "event: page\n" && line != "\n" {
			t.Fatalf("a line of an event: %q", line)
		}
	}
	if strings.Contains(b.String(), "style=") || regexp.MustCompile(`\son[a-z]+=`).MatchString(b.String()) {
		t.Error("the policy forbids inline styles and handlers")
	}
}

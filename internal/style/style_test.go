package style

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
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
	sheet, _ := Files.ReadFile("style.css")
	light, rest, ok := strings.Cut(string(sheet), "@media screen and (prefers-color-scheme: dark)")
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

package study

import (
	"slices"
	"strings"
	"testing"

	"covey/test/texts"
)

// TestAgainIsShort: what is said of many completed studies hides no other warning.
func TestAgainIsShort(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{nil, nil},
		{[]string{"a", "b", "c"}, []string{"a", "b", "c"}},
		{[]string{"a", "b", "c", "d", "e"}, []string{"a", "b", "c", "2 more completed studies asked the same"}},
	} {
		in := slices.Clone(c.in)
		if got := Again(c.in); !slices.Equal(got, c.want) || !slices.Equal(c.in, in) {
			t.Errorf("%q became %q, of %q", in, got, c.in)
		}
	}
}

// TestDeltaIsExplained: a δ near 1/n is explained by what it would allow, which is no more than
// certain.
func TestDeltaIsExplained(t *testing.T) {
	for delta, want := range map[string]string{"1e-6": "", "1e-3": "with probability 0.3", "0.9": "with probability 1"} {
		text := strings.Replace(texts.Four, "delta = 1e-6", "delta = "+delta, 1)
		w := strings.Join(mustPlan(t, text, 100, 100, 100).Warnings(), "\n")
		if strings.Contains(w, "is not small against 1/n") != (want != "") || !strings.HasSuffix(w, want) {
			t.Errorf("delta = %s: %q, want %q", delta, w, want)
		}
	}
}

// TestUnusedIsNamed: a study by covariance that asks for what only power iteration has is warned
// of, and one that asks for nothing of it, or for what is the default, is not.
func TestUnusedIsNamed(t *testing.T) {
	for keys, want := range map[string]string{
		`method = "covariance"`: "",
		"method = \"covariance\"\nrounds = 24\nradius = \"private\"\noutput = \"auto\"": "",
		"method = \"covariance\"\nrounds = 30\nradius = 2.5\nradius_share = 0.1":        "rounds, radius, radius_share: no effect",
		"method = \"covariance\"\nalpha = 0.1\nschedule = \"even\"\noutput = \"last\"":  "alpha, schedule, output: no effect",
		"method = \"power\"\nrounds = 30\nradius = 2.5\noutput = \"last\"":              "",
	} {
		w := strings.Join(mustPlan(t, texts.With(texts.Minimal, strings.Split(keys, "\n")...), 100, 100, 100).Warnings(), "\n")
		if strings.Contains(w, `no effect with method = "covariance"`) != (want != "") || !strings.Contains(w, want) {
			t.Errorf("%s: %q, want %q", keys, w, want)
		}
	}
}

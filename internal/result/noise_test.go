package result

import (
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/study"
)

// TestVerifiedNoiseIsWhatStayed: whoever verifies a file is told the noise that its sums have, by
// what the releases say was taken away, not what was planned; a file that names another's noise as
// taken away does not verify.
func TestVerifiedNoiseIsWhatStayed(t *testing.T) {
	text := strings.Replace(private, "spare_slots", "noise = \"distributed\"\non_dropout = \"continue\"\nspare_slots", 1)
	all := []int{0, 1, 2, 3, 4}
	// Query 2 is over four sites, which need all of √(4/3).
	for _, c := range []struct {
		removed func(query int) []int
		factor  float64
		stayed  bool
		words   string
	}{
		{func(int) []int { return all }, math.Sqrt(4. / 3), false, "up to 1.15 times central noise"},
		{func(int) []int { return nil }, math.Sqrt(5. / 3), true, "up to 1.29 times central noise; in "},
		{func(query int) []int { return all[min(query, 2):] }, math.Sqrt(3./4 + 2./3), true, "up to 1.19 times central noise; in "},
	} {
		p, body, signed := course(t, text, func(p *study.Plan, r *study.Release) {
			if len(r.Survivors) == 5 {
				r.Removed = c.removed(r.Query)
			}
		})
		r := made(t, p, body, signed)
		v, err := Verify(file(t, r))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(v.Rows(), func(row [2]string) bool { return row[0] == "noise" && strings.Contains(row[1], c.words) }) {
			t.Errorf("no %q in %q", c.words, v.Rows())
		}
		if math.Abs(v.NoiseFactor/c.factor-1) > 1e-3 || c.stayed != (v.NoiseStayed > 0) {
			t.Errorf("%v times, in %d sums more; want %v", v.NoiseFactor, v.NoiseStayed, c.factor)
		}
	}
	_, body, signed := course(t, text, func(_ *study.Plan, r *study.Release) { r.Removed = []int{2, 1} })
	if _, err := Verify(file(t, signResult(t, body, signed))); err == nil {
		t.Error("a file with survivors out of order verifies")
	}
}

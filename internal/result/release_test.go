package result

import (
	"bytes"
	"reflect"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// FuzzRelease: a release that is read is written in one form, and that form reads as the same.
func FuzzRelease(f *testing.F) {
	encoded, err := study.Release{Study: proposal.Digest{1}, Query: 1, Slot: 2, Kind: study.KindPower, Survivors: []int{0, 2}, Units: 7, X: []float64{0.6, -0.8}, Radius: 0.1, Grid: 0x1p-20, Sigma: 1 << 30, Rho: 1e-3, Noised: []int64{-1, 1 << 60}}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encoded)
	f.Add([]byte("{}"))
	f.Add([]byte(`{"x":null,"noised":[],"sigma":18446744073709551615,"rho":5e-324,"QUERY":-1}`))
	plan := runs.MustPlan(f, texts.Minimal, 500, 600, 700)
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := study.ParseRelease(raw)
		if err != nil {
			return
		}
		written, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		canonical, err := parseCanonical(0, written)
		if err != nil || !reflect.DeepEqual(canonical, r) {
			t.Fatalf("%s: %v", written, err)
		}
		if _, err := parseCanonical(0, raw); (err == nil) != bytes.Equal(raw, written) {
			t.Fatalf("%s and %s: %v", raw, written, err)
		}
		r.Study = plan.Digest
		plan.CheckRelease(r) // whatever it says, nothing panics
	})
}

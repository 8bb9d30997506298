package round

import (
	"math"
	"testing"

	"covey/internal/study"
)

// TestRetried: the slots that a query's release skipped.
func TestRetried(t *testing.T) {
	plan := &study.Plan{Queries: make([]study.Query, 4), D: 2}
	var releases []Released
	for q, slot := range []int{1, 2, 5} { // one given up before the first, two before the third
		raw, err := study.Release{Query: q, Slot: slot, Kind: study.KindMean}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, Released{Encoded: raw})
	}
	var c Views
	of := func(releases []Released) []View {
		got, err := c.Of(plan, len(releases), false, func(see func(Released) error) error {
			for _, r := range releases {
				see(r)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := of(releases[:2]); len(got) != 2 || got[0].Retried != 1 || got[1].Retried != 0 {
		t.Errorf("%+v", got)
	}
	if got := of(releases); len(got) != 3 || got[2].Retried != 2 {
		t.Errorf("%+v", got)
	}
}

func TestTurn(t *testing.T) {
	s := math.Sqrt(0.5)
	for _, c := range []struct {
		before, block []float64
		want          float64
	}{
		{[]float64{1, 0}, []float64{-1, 0}, 0},
		{[]float64{1, 0}, []float64{0, 1}, 90},
		{[]float64{1, 0}, []float64{s, s}, 45},
		{[]float64{1, 0, 0, 0, 1, 0}, []float64{s, s, 0, 0, 0, 1}, 90},
		{[]float64{1, 0, 0, 0, 1, 0}, []float64{s, s, 0, s, -s, 0}, 0}, // the same span
	} {
		d := 2
		if len(c.before) == 6 {
			d = 3
		}
		if got := turn(c.before, c.block, d); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%v to %v: %v, want %v", c.before, c.block, got, c.want)
		}
	}
}

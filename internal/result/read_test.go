package result_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/worth"
)

// TestWideIsReadInPart: what is read of a wide result lacks most vectors of its releases, and all
// that people are told of it is that of the whole. Nobody can write it again.
func TestWideIsReadInPart(t *testing.T) {
	for _, method := range []string{proposal.MethodPower, proposal.MethodCovariance} {
		p, whole := result.Wide(t, method, result.WholeColumns+1)
		file, err := whole.File()
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := result.Read(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		again, err := result.ReadVerified(bytes.NewReader(file))
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%s: what verified is read otherwise: %v", method, err)
		}
		if steps := whole.Steps(); !reflect.DeepEqual(got.Steps(), steps) && len(got.Steps())+len(steps) > 0 {
			t.Errorf("%s: steps are %+v, want %+v", method, got.Steps(), steps)
		}
		want, err := worth.Of(p, whole)
		if err != nil {
			t.Fatal(err)
		}
		if of, err := worth.Of(p, got); err != nil || !reflect.DeepEqual(of, want) {
			t.Errorf("%s: it is worth %+v, want %+v (%v)", method, of, want, err)
		}
		if method == proposal.MethodPower && len(want.Moved) != result.LastSteps {
			t.Errorf("%v: the last steps are not looked at", want.Moved)
		}
		asked := 0
		for _, release := range got.Releases {
			if release.Kind == study.KindPower && release.X != nil {
				asked++
			}
			if release.Kind == study.KindPower && release.Round < min(p.Rounds/2, p.Rounds-result.LastSteps) && release.Noised != nil {
				t.Errorf("%s: the sum of round %d is kept", method, release.Round)
			}
		}
		if asked > result.LastSteps+1 { // and that of the random round
			t.Errorf("%s: what %d rounds asked about is kept", method, asked)
		}
		if text, err := got.File(); got.Whole() || err == nil {
			t.Errorf("%s: it is written as %d bytes", method, len(text))
		}
		if !whole.Whole() {
			t.Errorf("%s: the whole lacks vectors", method)
		}
	}
}

// TestNarrowIsReadWhole: a result of as many columns as figures are calibrated for is what was
// written.
func TestNarrowIsReadWhole(t *testing.T) {
	_, whole := result.Wide(t, proposal.MethodPower, 40)
	file, err := whole.File()
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := result.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := got.File(); err != nil || !bytes.Equal(text, file) {
		t.Errorf("another file is written: %v", err)
	}
}

// TestWideIsReadBeforeItIsVerified: steps are noted while releases are read, when nothing of the
// result was checked. Components of other lengths are refused, as in a narrow result.
func TestWideIsReadBeforeItIsVerified(t *testing.T) {
	for _, d := range []int{40, result.WholeColumns + 1} {
		_, whole := result.Wide(t, proposal.MethodPower, d)
		for name, change := range map[string]func(r *result.Result){
			"no columns":        func(r *result.Result) { r.D = 0 },
			"fewer than none":   func(r *result.Result) { r.D = -1 },
			"one column more":   func(r *result.Result) { r.D++ },
			"a short component": func(r *result.Result) { r.Components = [][]float64{r.Components[0][1:]} },
			"an empty one":      func(r *result.Result) { r.Components = [][]float64{nil} },
			"none":              func(r *result.Result) { r.Components = nil },
		} {
			other := *whole
			change(&other)
			file, err := other.File()
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = result.Read(bytes.NewReader(file))
			if _, ok := errors.AsType[*result.VerifyError](err); !ok {
				t.Errorf("%d columns, %s: %v", d, name, err)
			}
		}
	}
}

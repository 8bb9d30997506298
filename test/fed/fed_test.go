package fed

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/test/network"
	"covey/test/site"
)

func small() Options {
	return Options{Sites: Names(3), Rows: func(i int) string {
		text, _ := site.CSV(site.Names(3), 40, func(r, j int) float64 { return float64((r*(j+1)+i)%7) / 7 })
		return text
	}}
}

func spec(name string) proposal.Spec {
	return proposal.Spec{Name: name, Dataset: site.Dataset, Epsilon: 1, Delta: 1e-6, Rounds: 1, Radius: "3", Center: proposal.CenterPublic,
		Method: proposal.MethodPower, ExplainedVariance: proposal.VarianceNone, Columns: site.Columns(3, 1)}
}

// TestFederation: one study over each network; a part that was stopped and started again is the
// same one, and a name that is used again is another study.
func TestFederation(t *testing.T) {
	run := func(t *testing.T, o Options) {
		f := Start(t, t.TempDir(), o)
		first := f.Propose(spec("study"))
		if v := f.Finish(first); v.Status != round.StatusCompleted {
			t.Errorf("%+v", v)
		}
		f.Must(f.Sites[1].Stop())
		f.Must(f.Sites[1].Start())
		if again := f.Propose(spec("study")); again == first {
			t.Error("the second study is the first")
		}
	}
	t.Run("loopback", func(t *testing.T) { run(t, small()) })
	t.Run("memory", func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			o := small()
			o.Coordinators, o.Network = 3, &network.Pipes{}
			f := Start(t, dir, o)
			if v := f.Finish(f.Propose(spec("study"))); v.Status != round.StatusCompleted {
				t.Errorf("%+v", v)
			}
		})
	})
}

// TestPartThatEnds: a part that ends by itself ends what waits, and is the federation's error.
func TestPartThatEnds(t *testing.T) {
	f := New(t.TempDir(), small())
	if err := f.Form(); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	f.Failed(broken)
	// One that waited would end with what it waited for alone.
	if _, err := RetryFor(f, time.Minute, func() (bool, error) { return false, errNotYet }); !errors.Is(err, broken) {
		t.Errorf("it waits: %v", err)
	}
	if err := f.Stop(); !errors.Is(err, broken) {
		t.Errorf("stopped with %v", err)
	}
	if _, err := f.Create(spec("late")); !errors.Is(err, broken) {
		t.Errorf("a study of a federation that was stopped: %v", err)
	}
}

//go:build failpoint

package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
	"covey/test/history"
	"covey/test/site"
)

// Run is what a run is made of.
type Run struct {
	Options
	Studies int // at least: more are run until all Faults are made
	// Faults is the schedule; nil draws one from the seed.
	Faults []Fault
	// Quiet makes no faults at all.
	Quiet bool
	// Spec changes each study.
	Spec func(k int, s *proposal.Spec)
	// before is called when a study is about to be proposed, and after when it is over
	// or out of time.
	before func(f *Federation, w *faults, k int)
	after  func(f *Federation, k int, d proposal.Digest)
}

// Outcome of a run.
type Outcome struct {
	Report     history.Report
	Violations []string
	Studies    int
	Completed  int
	Ended      map[study.Code]int
	Kills      int
	Leaders    int // leaders killed or cut off
	Trace      []string
	Logs       map[string][]string
}

// patience is how long, of the bubble's time, a study may take once nothing is broken
// any more, and how long it is given while things break.
const (
	patience  = 10 * time.Minute
	underFire = 20 * time.Second
)

// Do makes a federation, runs the studies one after the other under faults, mends
// everything, waits for every study's end and checks the history. It must run in a
// synctest bubble.
func (r Run) Do() (*Outcome, error) {
	f, err := New(r.Options)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(r.Seed, 2))
	next := func() (Fault, bool) { return draw(rng, r.Options), true }
	if r.Faults != nil || r.Quiet {
		left := slices.Clone(r.Faults)
		next = func() (Fault, bool) {
			if len(left) == 0 {
				return Fault{}, false
			}
			t := left[0]
			left = left[1:]
			return t, true
		}
	}
	w := &faults{f: f}
	stop, mended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(mended)
		w.run(next, stop)
	}()
	specs := rand.New(rand.NewPCG(r.Seed, 3))
	var digests []proposal.Digest
	for k := 0; k < r.Studies || r.Faults != nil && !w.made.Load(); k++ {
		spec := randomSpec(specs, k, r.Sites, r.Spec == nil)
		if r.Spec != nil {
			r.Spec(k, &spec)
		}
		if r.before != nil {
			r.before(f, w, k)
		}
		d, err := f.CreateWithin(spec, underFire)
		if err != nil { // not every site was connected at once
			w.calm.Store(true)
			d, err = f.CreateWithin(spec, patience)
			w.calm.Store(false)
		}
		if err != nil {
			f.fault("create", "study %d could not be proposed: %v", k, err)
			break
		}
		digests = append(digests, d)
		if _, _, over := f.Wait(d, underFire); !over {
			w.calm.Store(true)
			f.Wait(d, patience)
			w.calm.Store(false)
		}
		if r.after != nil {
			r.after(f, k, d)
		}
	}
	close(stop)
	<-mended
	out := &Outcome{Studies: len(digests), Ended: map[study.Code]int{}}
	for k, d := range digests {
		status, code, over := f.Wait(d, patience)
		switch {
		case !over:
			f.fault("stuck", "study %d (%s) does not end once everything works again: %s", k, d, f.describe(d))
		case status == round.StatusCompleted:
			out.Completed++
			if err := f.verify(d); err != nil {
				f.fault("result", "study %d (%s): %v", k, d, err)
			}
		default:
			out.Ended[code]++
		}
	}
	f.Stop()
	report, violations := f.checker.Close()
	for _, v := range violations {
		f.fault(v.Rule, "%s", v.Text)
	}
	out.Report, out.Violations, out.Kills, out.Leaders, out.Trace = report, f.faults, f.kills, f.leaders, f.trace
	out.Logs = map[string][]string{}
	for name, t := range f.logs {
		out.Logs[name] = t.kept()
	}
	return out, nil
}

// verify checks the result of a completed study from its file alone.
func (f *Federation) verify(d proposal.Digest) error {
	r, err := f.Leader().Coordinator.Result(d)
	if err != nil {
		return err
	}
	file, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = result.Verify(file)
	return err
}

// describe says where a study stands.
func (f *Federation) describe(d proposal.Digest) string {
	n := f.Leader()
	v := n.Coordinator.View(d)
	return fmt.Sprintf("%s, query %d of %d, slot %d, phase %q, waiting for %v, sites %+v", v.Status, v.Query, v.Queries, v.Slot, v.Phase, v.Waiting, v.Sites)
}

// randomSpec draws a small study: of any kind, or of one component by power steps.
func randomSpec(rng *rand.Rand, k, sites int, any bool) proposal.Spec {
	s := proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   fmt.Sprintf("study-%d", k), Dataset: site.Dataset, Epsilon: 1, Delta: 1e-6, Rounds: 1 + rng.IntN(3),
		OnDropout: proposal.DropoutContinue, Radius: "3", SpareSlots: 3, ExplainedVariance: proposal.VarianceNone,
		Deadlines: proposal.Deadlines{Round: proposal.Duration(2+rng.IntN(6)) * proposal.Duration(time.Second), Tick: proposal.Duration(50 * time.Millisecond)},
	}
	if rng.IntN(3) == 0 {
		s.OnDropout = proposal.DropoutWait
	}
	if rng.IntN(4) == 0 {
		s.Radius = proposal.RadiusPrivate
	}
	kind := 0 // plain
	if any {
		kind = rng.IntN(14)
	}
	switch kind { // what asks more, more seldom
	case 1:
		// so little budget that public sizes leave the method open
		s.Components, s.Method, s.Radius, s.Epsilon = 2, proposal.MethodAuto, proposal.RadiusPrivate, 0.02
	case 7, 8:
		s.Components = 2
	case 2:
		s.Components, s.Subspace = 2, proposal.SubspaceDeflation
	case 3:
		s.Center = proposal.CenterPrivate
	case 4:
		s.Method, s.Radius, s.Epsilon = proposal.MethodAuto, proposal.RadiusPrivate, 0.02
	case 5:
		s.Method = proposal.MethodCovariance
	case 6:
		s.ExplainedVariance = proposal.VariancePrivate
	}
	if any && sites > 2 && rng.IntN(4) == 0 {
		s.Noise = proposal.NoiseDistributed
	}
	s.Columns = site.Columns(columns, scale)
	return s
}

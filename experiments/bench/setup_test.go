package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/test/fed"
)

// BenchmarkApproved measures what an operator waits for between the last approval of a study of 20
// slots and its first query: the setup of whole agents, all in this process, and of a coordinator
// in another. Sites that share the machine's cores wait for each other, so wall-ms covers them all.
// alone-ms is the processor time of the coordinator plus that of one agent, each on one core: the
// time where every site has its own machine, without fsyncs and the network.
func BenchmarkApproved(b *testing.B) {
	sizes := []int{10, 100}
	if testing.Short() {
		sizes = []int{4}
	}
	for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/sites=%d", dropout, n), func(b *testing.B) {
				if err := approved(b, task{Dir: b.TempDir(), Sites: n, D: 4, K: 1, Slots: 20}, dropout); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// approved measures setups of one federation.
func approved(b *testing.B, t task, dropout string) error {
	child, end, err := t.apart(20)
	if err != nil {
		return err
	}
	defer end()
	var sum outcome
	var own time.Duration
	runs := 0
	for b.Loop() {
		runs++
		if err := child.Order(order{Approve: fmt.Sprint("setup ", runs), Dropout: dropout}, nil); err != nil {
			return err
		}
		used := cpu()
		var o outcome
		if err := child.Order(order{SetUp: true}, &o); err != nil {
			return err
		}
		own += cpu() - used
		sum.Wall, sum.CPU = sum.Wall+o.Wall, sum.CPU+o.CPU
	}
	n := float64(runs)
	b.ReportMetric(ms(sum.Wall)/n, "wall-ms")
	b.ReportMetric(ms(sum.CPU)/n, "coordinator-cpu-ms")
	b.ReportMetric(ms(own)/n/float64(t.Sites), "agent-cpu-ms")
	b.ReportMetric((ms(sum.CPU)+ms(own)/float64(t.Sites))/n, "alone-ms")
	return nil
}

// approval is a study whose setup is measured.
type approval struct {
	digest proposal.Digest
	start  time.Time
	used   time.Duration
	done   chan error
	took   outcome
}

// approve proposes a study and returns when its last site has approved.
func (t task) approve(c *fed.Federation, o order) (*approval, error) {
	spec := shape{t.Sites, 0, t.D, t.K, 2}.spec(time.Hour)
	spec.Deadlines.Round = proposal.Duration(2 * time.Hour)
	spec.Name, spec.OnDropout = o.Approve, o.Dropout
	spec.Radius, spec.ExplainedVariance, spec.Output = "1", proposal.VarianceNone, proposal.OutputLast
	spec.SpareSlots, spec.Sites = t.Slots-2, fed.Names(t.Sites)
	d, err := c.Create(spec)
	if err != nil {
		return nil, err
	}
	a, began := &approval{digest: d, done: make(chan error, 1)}, make(chan bool, 1)
	go func() {
		a.done <- c.Leader().Coordinator.Watch(context.Background(), d, func(v outline.View) error {
			switch {
			case v.Status == round.StatusProposed:
				return nil
			case a.start.IsZero():
				a.start, a.used = time.Now(), cpu()
				began <- true
			}
			if v.Status == round.StatusRunning {
				a.took.Wall, a.took.CPU = time.Since(a.start), cpu()-a.used
				return errSetUp
			}
			return nil
		})
	}()
	<-began
	return a, nil
}

var errSetUp = errors.New("the setup is over")

// over waits for the setup's end, and ends the study.
func (a *approval) over(c *fed.Federation) (outcome, error) {
	if err := <-a.done; !errors.Is(err, errSetUp) {
		return outcome{}, fmt.Errorf("the setup does not end: %v", err)
	}
	return a.took, c.Leader().Coordinator.Abort(a.digest)
}

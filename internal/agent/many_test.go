package agent

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/site"
)

// takePart takes the sites through so many more studies, each from its proposal to its end.
func (c *standIn) takePart(studies int) {
	c.t.Helper()
	for range studies {
		spec, roster := c.plan.Proposal.Spec, c.plan.Proposal.Roster
		all, err := c.sites[0].agent.Views.Studies()
		if err != nil {
			c.t.Fatal(err)
		}
		spec.Name = fmt.Sprintf("study-%d", len(all))
		c.courses, c.told = nil, nil
		c.propose(spec, roster)
		c.ready()
		c.released()
		c.tell(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeCompleted})
	}
}

// TestMany has an agent take part in many studies, starts it again, and asks it for every list. The
// cost of each must grow linearly with the number of studies, not with its square. COVEY_MANY=200
// makes so many, and -v prints what each took.
func TestMany(t *testing.T) {
	n, columns := 3, testColumns
	many, _ := strconv.Atoi(os.Getenv("COVEY_MANY"))
	if many > 0 {
		n, columns = many, 64
	}
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.Epsilon, s.Columns = 0.01, site.Columns(columns, 1) })
	s := c.sites[0]
	lists := map[string]func(){
		"status": func() { s.agent.Views.Status() },
		"study list": func() {
			if all, err := s.agent.Views.Studies(); err != nil || len(all) < n {
				t.Errorf("%d studies, %v", len(all), err)
			}
		},
		"ledger show": func() { s.agent.Views.Ledger() },
		"egress":      func() { s.agent.Views.Egress() },
		"hello":       func() { s.agent.hello() },
		"find":        func() { s.agent.Views.Find("study-0") },
	}
	c.takePart(n)
	if many > 0 {
		took := func(what string, do func()) {
			began, used := time.Now(), cpu()
			do()
			t.Logf("%-12s %8.1f ms wall %8.1f ms processor", what, float64(time.Since(began).Microseconds())/1e3, float64((cpu()-used).Microseconds())/1e3)
		}
		took("start", s.restart)
		for range 2 {
			for what, list := range lists {
				took(what, list)
			}
		}
		return
	}
	costs := func() map[string]float64 {
		out := map[string]float64{}
		for what, list := range lists {
			list()
			out[what] = testing.AllocsPerRun(3, list)
		}
		return out
	}
	few := costs()
	c.takePart(n)
	more := costs()
	c.takePart(2 * n)
	for what, most := range costs() {
		// twice as many were added as before: a square would be four times as much
		if grew := more[what] - few[what]; most-more[what] > 2.7*grew+100 {
			t.Errorf("%s allocates %v times with %d studies, %v with %d, %v with %d", what, few[what], n, more[what], 2*n, most, 4*n)
		}
	}
}

// cpu is the process's time so far.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

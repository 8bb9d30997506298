package corrupt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"covey/internal/enroll"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/test/fed"
	"covey/test/must"
	"covey/test/site"
)

// order is what a test tells the coordinator's process: to make a join file, to wait until sites
// are connected, or to run a study to its end.
type order struct {
	Invite string
	Ready  []string
	Study  *proposal.Spec
}

// coordinate is the coordinator's process: the folder's, alone, until its standard input ends.
func coordinate(dir string) error {
	c := fed.New(dir, fed.Options{Patience: 2 * time.Minute, Every: 5 * time.Millisecond})
	if err := c.Form(); err != nil {
		return err
	}
	err := fed.Obey(func(o order) (any, error) {
		switch {
		case o.Invite != "":
			return c.Invite(o.Invite)
		case o.Study != nil:
			return run(c, *o.Study)
		}
		return nil, c.Connected(specOf("probe", o.Ready))
	})
	if stopped := c.Stop(); err == nil {
		err = stopped
	}
	return err
}

// run returns the times of a study's rounds, from one release to the next.
func run(c *fed.Federation, spec proposal.Spec) (rounds []time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	released, at := 0, time.Time{}
	err = c.Study(ctx, spec, func() {}, func(now time.Time, v outline.View) {
		if v.Released <= released {
			return
		}
		if released > 0 { // the first also holds the setup
			for range v.Released - released {
				rounds = append(rounds, now.Sub(at)/time.Duration(v.Released-released))
			}
		}
		released, at = v.Released, now
	})
	return rounds, err
}

const dataset = site.Dataset

func specOf(name string, sites []string) proposal.Spec {
	return proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   name, Dataset: dataset, Epsilon: 1, Delta: 1e-6, Sites: sites, OnDropout: proposal.DropoutContinue,
		Deadlines: proposal.Deadlines{Round: proposal.Duration(20 * time.Second)}, Columns: site.Columns(16, 4),
	}
}

// rowsOf are a site's rows, of 16 columns: a first one so strong that a start nearly across it
// comes to it in eight rounds, and numbers that differ by site.
func rowsOf(seed int) string {
	text, _ := site.CSV(site.Names(16), 2000, func(i, j int) float64 {
		if j == 0 {
			return float64((i*13+seed)%41-20) / 5
		}
		return float64((i*31+j*17+seed*7)%23-11) / 80
	})
	return text
}

// fleet is a coordinator in its own process and honest agents in this one.
type fleet struct {
	*fed.Test
	child   *fed.Child
	names   []string
	studies int
}

func newFleet(t testing.TB, sites int) *fleet {
	t.Helper()
	f, dir := &fleet{}, t.TempDir()
	f.child = must.Get(fed.Spawn(roleVariable+"="+roleCoordinator, filepath.Join(dir, "coordinator")))(t)
	t.Cleanup(func() { f.child.End() })
	f.names = fed.Names(sites)
	f.Test = fed.Start(t, dir, fed.Options{Sites: f.names, Rows: rowsOf, Invite: f.invite})
	f.order(order{Ready: f.names}, nil)
	return f
}

// order has the coordinator's process do something.
func (f *fleet) order(o order, answer any) {
	f.T.Helper()
	if err := f.child.Order(o, answer); err != nil {
		f.T.Fatalf("%+v: %v", o, err)
	}
}

func (f *fleet) invite(name string) (text []byte, err error) {
	err = f.child.Order(order{Invite: name}, &text)
	return text, err
}

// join makes a site's folder and returns it and where the coordinator is.
func (f *fleet) join(name string) (home, address string) {
	f.T.Helper()
	home = filepath.Join(f.Dir, name)
	text, err := f.invite(name)
	f.Must(err)
	f.Must(enroll.Join(f.T.Context(), text, home, time.Now()))
	config, err := siteconfig.Read(home)
	f.Must(err)
	return home, config.Coordinator[0]
}

// study runs one to its result and returns its rounds' times.
func (f *fleet) study() (rounds []time.Duration) {
	f.T.Helper()
	f.studies++
	spec := specOf(fmt.Sprintf("study-%d", f.studies), f.names)
	f.order(order{Study: &spec}, &rounds)
	return rounds
}

// memory returns the coordinator's resident set in MiB: now, and the most since forget.
func (f *fleet) memory() (now, most float64) {
	f.T.Helper()
	a, b, err := fed.Memory(strconv.Itoa(f.child.Command.Process.Pid))
	f.Must(err)
	return float64(a) / (1 << 20), float64(b) / (1 << 20)
}

// forget begins a new maximum of memory.
func (f *fleet) forget() {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", f.child.Command.Process.Pid), []byte("5"), 0); err != nil {
		f.T.Log(err)
	}
}

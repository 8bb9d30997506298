//go:build deploy && linux

package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"covey/test/fed"
	"covey/test/must"
)

type process = fed.Process

// fleet is a federation on this machine, run with the commands that docs/operations.md names.
type fleet struct{ *fed.Fleet }

const rows = 500 // of each site

// newFleet makes and starts everything from the binaries in bin.
func newFleet(t *testing.T, bin string, coordinators, sites int) fleet {
	t.Helper()
	f := fleet{fed.NewFleet(t, bin, coordinators, sites)}
	f.Patience = 90 * time.Second
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range f.Sites {
		p.Rows(rng, rows, 3)
	}
	f.Form(nil)
	f.connected(sites)
	return f
}

// connected waits until n sites are connected with their rows.
func (f fleet) connected(n int) {
	f.T.Helper()
	f.Until(fmt.Sprintf("%d sites", n), func() error {
		out, err := f.First().Operate("site", "list")
		if got := strings.Count(out, fmt.Sprintf("rows (%d)", rows)); err == nil && got != n {
			err = errors.New(out)
		}
		return err
	})
}

// stop is what systemd and Kubernetes do first; the process must end well.
func (f fleet) stop(p *process) {
	f.T.Helper()
	if err := p.Stop(syscall.SIGTERM, time.Minute); err != nil {
		f.T.Error(err)
	}
}

// upgrade restarts a process with another build.
func (f fleet) upgrade(p *process, bin string) {
	f.T.Helper()
	f.stop(p)
	p.Bin = bin
	p.Start()
}

// renew starts a coordinator anew, with another ID and the addresses of a lost one: no site changes
// anything.
func (f fleet) renew(p *process, id string) {
	f.T.Helper()
	p.ID, p.Name = id, "coordinator-"+id
	p.Dir = filepath.Join(f.Dir, p.Name)
	f.Enter(p)
	p.Start()
	f.Entered(len(f.Nodes))
}

type agentStatus struct {
	Linked    bool
	LinkError string `json:"link_error"`
}

func statusOf(site *process) (s agentStatus, err error) {
	text, err := site.Operate("status", "--json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &s)
	}
	return s, err
}

// propose creates a study that the sites' policies approve.
func (f fleet) propose(name string, rounds int) {
	f.T.Helper()
	f.Propose(name, fmt.Sprintf("epsilon = 1.0\ndelta = 1e-6\nrounds = %d\nradius = 3\ncenter = \"public\"\n", rounds), 3, "offset = 0.0\nscale = 4.0\n")
}

// underWay holds a study half-way: it has released something, and a frozen site keeps it
// where it is until it is let go on.
func (f fleet) underWay(name string, frozen *process) {
	f.T.Helper()
	released := func() (v fed.View) {
		return f.When(name, "under way", func(v fed.View) bool { return v.Released >= 2 })
	}
	released()
	must.Do(f.T, frozen.Freeze())
	if v := released(); v.Status == "completed" {
		f.T.Fatalf("study %s was over at once: %+v", name, v)
	}
}

// completed waits for a study's end and gives its result file.
func (f fleet) completed(name string) (result string) {
	f.T.Helper()
	f.When(name, "completed", func(v fed.View) bool { return v.Status == "completed" })
	text := must.Get(f.First().Operate("study", "result", name, "--json"))(f.T)
	result = filepath.Join(f.Dir, name+".json")
	must.Do(f.T, os.WriteFile(result, []byte(text), 0o600))
	f.Must(f.Nodes[0].Run("coordinator", "verify", result))
	return result
}

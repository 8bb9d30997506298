package corrupt

import (
	"context"
	"encoding/json"
	"math"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"covey/internal/agent"
	"covey/internal/node"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
	"covey/test/fed"
	"covey/test/network"
)

// bubble is a coordinator and honest agents in one synctest bubble, over pipes in memory. The last
// site is corrupt: its agent is an honest one's, behind a proxy with the site's keys that may say
// anything in its place.
type bubble struct {
	*fed.Test
	pipes network.Pipes
	node  *node.Node
	sites []string
	proxy *proxy
	ctx   context.Context
}

const (
	// address has no DNS name, so that nobody asks for one.
	address = "10.0.0.1:7443"
	honest  = 4
	mallory = honest // index of the corrupt site in the roster
)

// inBubble runs a test with a federation of five sites: η = 1, q = U_min = 4.
func inBubble(t *testing.T, test func(f *bubble)) {
	t.Parallel()
	dir := fed.InMemory(t) // none of these tests is about what a disk keeps
	synctest.Test(t, func(t *testing.T) {
		f := &bubble{sites: fed.Names(honest + 1), ctx: t.Context()}
		f.Test = fed.Start(t, dir, fed.Options{
			Sites: f.sites, Network: &f.pipes, Rows: rowsOf, Patience: 2 * time.Minute,
			Start: func(p *fed.Part) error {
				if p.IsSite() && p.Index == mallory {
					f.proxy = newProxy(t, f, dir)
				}
				return p.Start()
			},
			Agent: func(p *fed.Part, o *agent.Options) {
				if p.Index == mallory {
					o.DialOptions = []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return f.proxy.port.DialContext(ctx) })}
				}
			},
		})
		f.node = f.Leader()
		f.Must(f.Connected(f.spec("probe")))
		test(f)
	})
}

// dial connects to the coordinator's port.
func (f *bubble) dial(ctx context.Context, _ string) (net.Conn, error) {
	return f.pipes.Dial(ctx, "", address)
}

// spec has so little noise that the right result shows.
func (f *bubble) spec(name string) proposal.Spec {
	s := specOf(name, f.sites)
	s.Epsilon, s.Rounds = 20, 8
	s.Deadlines.Round = proposal.Duration(2 * time.Second)
	return s
}

// study proposes one.
func (f *bubble) study(name string, change func(*proposal.Spec)) proposal.Digest {
	f.T.Helper()
	spec := f.spec(name)
	if change != nil {
		change(&spec)
	}
	return f.Propose(spec)
}

// played proposes a study in which what play returns hears the coordinator before the site's agent
// can. All that the coordinator says is held until it is there.
func (f *bubble) played(name string, change func(*proposal.Spec), play func(proposal.Digest, *study.Plan) func(*covey.CoordinatorMessage) bool) proposal.Digest {
	f.T.Helper()
	var hear func(*covey.CoordinatorMessage) bool
	ready := make(chan struct{})
	f.proxy.act(func(m *covey.CoordinatorMessage) bool {
		<-ready
		return hear(m)
	})
	d := f.study(name, change)
	body, err := f.node.Coordinator.Body(d)
	f.Must(err)
	plan, err := study.NewPlan(body)
	f.Must(err)
	hear = play(d, plan)
	close(ready)
	return d
}

// completed wants a study's end with a result that verifies, within its budget (P3), and is right:
// the rows of all sites have one strong column, and eight rounds make a start within 10^-9 of the
// plane across it right. Below 0.9 noise of 0.002 of the signal is not seen.
func (f *bubble) completed(d proposal.Digest) (outline.View, []study.Release) {
	f.T.Helper()
	v, releases, r := f.private(d)
	if x := r.Components[0]; math.Abs(x[0]) < 0.9 {
		f.T.Errorf("%s: the first column has %.3f of the component", v.Name, x[0])
	}
	return v, releases
}

// private is completed for a study whose values a corrupt site has spoilt.
func (f *bubble) private(d proposal.Digest) (outline.View, []study.Release, *result.Result) {
	f.T.Helper()
	v := f.Finish(d)
	if v.Status != round.StatusCompleted {
		f.T.Fatalf("%s: %s %s %s, waiting for %v", v.Name, v.Status, v.Code, v.Culprit, v.Waiting)
	}
	r, err := f.node.Coordinator.Result(d)
	f.Must(err)
	text, err := json.Marshal(r)
	f.Must(err)
	if _, err := result.Verify(text); err != nil {
		f.T.Errorf("%s: %v", v.Name, err)
	}
	if v.Rho > v.RhoPlanned {
		f.T.Errorf("%s: ρ = %g is charged, %g was planned", v.Name, v.Rho, v.RhoPlanned)
	}
	for _, one := range r.Releases {
		if !slices.IsSorted(one.Survivors) || len(slices.Compact(slices.Clone(one.Survivors))) != len(one.Survivors) || len(one.Survivors) < honest {
			f.T.Errorf("%s: a sum over %v", v.Name, one.Survivors)
		}
	}
	return v, r.Releases, r
}

// ended wants a study to end for a reason that names the corrupt site.
func (f *bubble) ended(d proposal.Digest, code study.Code) {
	f.T.Helper()
	v := f.Finish(d)
	if v.Status != round.StatusEnded || v.Code != code || v.Culprit != f.sites[mallory] {
		f.T.Errorf("%s: %s %q of %q, want the end with %q of %s", v.Name, v.Status, v.Code, v.Culprit, code, f.sites[mallory])
	}
}

// faults are the codes of what the corrupt site was caught at, each once; any other site's is an
// error.
func (f *bubble) faults(v outline.View) []study.Code {
	f.T.Helper()
	var out []study.Code
	for _, fault := range v.Faults {
		if fault.Site != f.sites[mallory] {
			f.T.Errorf("%s: %s is named for %s", v.Name, fault.Site, fault.Code)
		}
		if !slices.Contains(out, fault.Code) {
			out = append(out, fault.Code)
		}
	}
	return out
}

func (f *bubble) siteOf(i int) *pki.Holder {
	site, err := pki.LoadHolder(pki.RoleSite, f.Sites[i].Dir)
	f.Must(err)
	return site
}

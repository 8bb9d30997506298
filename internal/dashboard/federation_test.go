package dashboard_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"covey/internal/coordinator"
	"covey/internal/node"
	"covey/internal/people"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/test/fed"
	"covey/test/lines"
)

// federation is real coordinators and agents over loopback TCP in this process.
type federation struct {
	*fed.Test
	logs lines.Log
	ana  string // an operator's token, once it is made
}

// canary is in every row of every site, and in a column that no study names.
const canary = "73100573100" // long enough to be in no digest by chance

var siteNames = []string{"amber-clinic", "bay", "cove", "delta", "east-hospital"}

// newFederation starts coordinators, each with a dashboard, and the sites.
func newFederation(t *testing.T, coordinators int) *federation {
	f := &federation{}
	log := slog.New(slog.NewTextHandler(&f.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(f.logs.String())
		}
	})
	f.Test = fed.Start(t, t.TempDir(), fed.Options{
		Coordinators: coordinators, Sites: siteNames, Rows: rows,
		Node: func(_ *fed.Part, o *node.Options) {
			o.Logger = log
			if coordinators > 1 {
				o.Election = 10 * time.Second // a busy machine may hold heartbeats up, and who leads stays
			}
			o.Dashboard = &node.Dashboard{Listen: "127.0.0.1:0", Hosts: []string{"covey.example"}}
		},
		Config: func(p *fed.Part, c *siteconfig.Config) {
			c.Populations = []siteconfig.Population{{Name: "patients", Budget: &siteconfig.Budget{Epsilon: 100, Delta: 1e-6}}}
			c.Datasets = []siteconfig.Dataset{{Name: "vitals", Path: "../" + p.Name + ".csv", Population: "patients"}}
			c.Policy.MaxEpsilon, c.Policy.MaxDelta = 3, 1e-6
		},
	})
	f.Must(f.Connected(proposal.Spec{Dataset: "vitals", Sites: siteNames}))
	return f
}

// measures are the columns of the sites' files after the first four: mean, deviation, and how much
// of each of three common causes is in it.
var measures = []struct {
	name     string
	mean, sd float64
	a, b, c  float64
	digits   int
}{
	{"age", 50, 15, 0.7, 0, 0, 3}, {"height", 170, 10, 0.8, 0, 0, 3}, {"weight", 75, 15, 0.9, 0, 0, 3}, {"pressure", 120, 12, -0.5, 0, 0, 3},
	{"glucose", 5.5, 1, 0, 0.85, 0, 4}, {"hba1c", 38, 6, 0, 0.8, 0, 3}, {"triglycerides", 1.6, 0.6, 0.3, 0.6, 0, 4}, {"hdl", 1.4, 0.35, -0.2, -0.55, 0, 4},
	{"creatinine", 80, 16, 0, 0, 0.65, 3}, {"potassium", 4.2, 0.4, 0, 0, 0.5, 4},
}

// rows are site i's.
func rows(i int) string {
	random := rand.New(rand.NewPCG(uint64(i), 1))
	var rows strings.Builder
	for _, m := range measures {
		rows.WriteString(m.name + ",")
	}
	rows.WriteString("note\n")
	for range 1500 + 300*i {
		a, b, c := random.NormFloat64(), random.NormFloat64(), random.NormFloat64()
		for _, m := range measures {
			v := m.a*a + m.b*b + m.c*c + 0.45*random.NormFloat64()
			fmt.Fprintf(&rows, "%.*f%s,", m.digits, m.mean+m.sd*v, canary)
		}
		rows.WriteString("row" + canary + "\n")
	}
	return rows.String()
}

// covariance is a study of all measures by one covariance.
func covariance(name string) proposal.Spec {
	var columns strings.Builder
	for _, m := range measures {
		fmt.Fprintf(&columns, "  { name = %q, offset = %g, scale = %g },\n", m.name, m.mean, m.sd)
	}
	s, err := proposal.ParseSpec([]byte(fmt.Sprintf(`
name = %q
dataset = "vitals"
epsilon = 2.0
delta = 1e-6
components = 3
center = "public"
method = "covariance"
picture = true
deadlines = { round = "1m", tick = "100ms" }
about = { purpose = "Which measures of a first visit go together", contact = "registry office", ethics = "2026-017" }
columns = [
%s]
`, name, columns.String())))
	if err != nil {
		panic(err)
	}
	return s
}

// spec is a study that moves on once a tick.
func spec(name string, tick time.Duration) proposal.Spec {
	text := fmt.Sprintf(`
name = %q
dataset = "vitals"
epsilon = 2.0
delta = 1e-6
components = 2
center = "public"
rounds = 8
on_dropout = "continue"
deadlines = { round = "1m", tick = %q }
columns = [
  { name = "age", offset = 50.0, scale = 15.0 },
  { name = "height", offset = 170.0, scale = 10.0 },
  { name = "weight", offset = 75.0, scale = 15.0 },
  { name = "pressure", offset = 120.0, scale = 12.0 },
]
`, name, tick)
	s, err := proposal.ParseSpec([]byte(text))
	if err != nil {
		panic(err)
	}
	return s
}

// follower returns a coordinator that does not lead.
func (f *federation) follower() *fed.Part {
	f.T.Helper()
	for _, n := range f.Nodes {
		if n != f.Leading() {
			return n
		}
	}
	f.T.Fatal("no coordinator follows")
	return nil
}

func url(p *fed.Part) string {
	address, _ := p.Node().Watching()
	return "http://" + address.String()
}

// token returns an operator's, which every coordinator's page takes.
func (f *federation) token() string {
	f.T.Helper()
	if f.ana == "" {
		f.ana = f.invite(node.PersonRequest{Name: "ana", Role: people.Operator})
	}
	return f.ana
}

// invite makes somebody's token, and waits until all coordinators have heard of it.
func (f *federation) invite(q node.PersonRequest) string {
	f.T.Helper()
	q.Valid = proposal.Duration(time.Hour)
	var token string
	f.atLeader(func(n *node.Node) error {
		_, secret, err := n.InvitePerson(q)
		token = people.Text(secret)
		return err
	})
	f.Await("all pages to know "+q.Name, func() bool {
		for _, n := range f.Nodes {
			if _, known := n.Node().Coordinator.People().Holder(token); !known {
				return false
			}
		}
		return true
	})
	return token
}

// revoke ends somebody's logins.
func (f *federation) revoke(name string) {
	f.T.Helper()
	f.atLeader(func(n *node.Node) error { return n.Coordinator.RevokePerson(name) })
}

// atLeader does something at the coordinator that leads, whichever does by then.
func (f *federation) atLeader(do func(*node.Node) error) {
	f.T.Helper()
	f.Await("a leader that does it", func() bool {
		err := do(f.Leader())
		if errors.Is(err, coordinator.ErrNotLeader) {
			return false
		}
		f.Must(err)
		return true
	})
}

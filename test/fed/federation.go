// Package fed runs whole federations for measurement: a coordinator and agents as their operators
// would start them, over loopback TCP and mTLS, each with its own folder, keys and ledger.
package fed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/agent"
	"covey/internal/coordinator"
	"covey/internal/enroll"
	"covey/internal/node"
	"covey/internal/round"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

// Dataset is the name under which every site offers its rows.
const Dataset = "rows"

// Coordinator is one that runs, alone.
type Coordinator struct {
	*node.Node
	stop  context.CancelFunc
	ended chan error
}

// Coordinate makes a coordinator in dir and runs it until Stop.
func Coordinate(dir string) (*Coordinator, error) {
	if err := node.Init(dir, node.Config{Listen: "127.0.0.1:0", Addresses: []string{"127.0.0.1:1"}}, time.Now()); err != nil {
		return nil, err
	}
	n, err := node.Open(dir, node.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &Coordinator{n, stop, make(chan error, 1)}
	go func() { c.ended <- n.Run(ctx) }()
	return c, nil
}

// Stop ends the coordinator and waits for it.
func (c *Coordinator) Stop() error {
	c.stop()
	return <-c.ended
}

// Invite makes a site's join file. address is where the site will connect: the coordinator's
// own, or a proxy's; "" is the coordinator's own.
func (c *Coordinator) Invite(site, address string) ([]byte, error) {
	if address == "" {
		address = c.Listening().String()
	}
	join, err := c.Coordinator.Invite(site, []string{address}, time.Hour)
	if err != nil {
		return nil, err
	}
	return join.Marshal()
}

// SiteName is the name of site i of a roster.
func SiteName(i int) string { return fmt.Sprintf("site-%04d", i) }

// Sites are agents that run.
type Sites struct {
	ctx  context.Context
	stop context.CancelCauseFunc
	work sync.WaitGroup

	n     int
	peers map[string]string // of all n, which each site's policy lists
}

// NewSites has none of n yet.
func NewSites(n int) *Sites {
	ctx, stop := context.WithCancelCause(context.Background())
	return &Sites{ctx: ctx, stop: stop, n: n}
}

// Start joins site in dir/site with a join file and runs its agent, which offers the CSV file path
// and approves whatever it is asked.
func (s *Sites) Start(dir, site string, join []byte, path string) error {
	home := filepath.Join(dir, site)
	if err := enroll.Join(s.ctx, join, home, time.Now()); err != nil {
		return err
	}
	joined, err := siteconfig.Read(home)
	if err != nil {
		return err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	var sites []string
	for i := range s.n {
		sites = append(sites, SiteName(i))
	}
	if s.peers == nil {
		if s.peers, err = siteconfig.PeersIn(dir, sites...); err != nil {
			return err
		}
	}
	text, err := toml.Marshal(siteconfig.Config{
		Site: site, Coordinator: joined.Coordinator,
		// Measurements, of made-up rows: the budget never ends.
		Populations: []siteconfig.Population{{Name: site, CapRho: 1e9}},
		Datasets:    []siteconfig.Dataset{{Name: Dataset, Path: path, Population: site}},
		Policy: siteconfig.Policy{
			Approve: siteconfig.ApproveWithinLimits, MaxEpsilon: 100, MaxDelta: 1e-3,
			OnDropout: []string{study.DropoutWait, study.DropoutContinue},
			Noise:     []string{study.NoiseCentral, study.NoiseDistributed}, Peers: s.peers,
		},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, siteconfig.File), text, 0o600); err != nil {
		return err
	}
	config, err := siteconfig.Read(home)
	if err != nil {
		return err
	}
	a, err := agent.New(agent.Options{Config: config})
	if err != nil {
		return err
	}
	s.work.Go(func() {
		if err := a.Run(s.ctx); err != nil && s.ctx.Err() == nil {
			s.stop(fmt.Errorf("%s: %w", site, err))
		}
	})
	return nil
}

// Stop ends all agents and waits for them.
func (s *Sites) Stop() {
	s.stop(context.Canceled)
	s.work.Wait()
}

// Connected waits until every site of the spec offers its rows.
func (c *Coordinator) Connected(ctx context.Context, spec study.Spec) error {
	for {
		_, err := c.Roster(spec)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// Federation is a coordinator and its sites in one process.
type Federation struct {
	*Coordinator
	*Sites
	Roster []string
}

// Start runs a coordinator and n sites in dir, all with the rows of path. address, if not nil,
// returns where sites connect, from the coordinator's own address.
func Start(dir string, n int, path string, address func(coordinator string) (string, error)) (_ *Federation, err error) {
	f := &Federation{Sites: NewSites(n)}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Stop())
		}
	}()
	if f.Coordinator, err = Coordinate(filepath.Join(dir, "coordinator")); err != nil {
		return nil, err
	}
	at := f.Listening().String()
	if address != nil {
		if at, err = address(at); err != nil {
			return nil, err
		}
	}
	for i := range n {
		site := SiteName(i)
		join, err := f.Invite(site, at)
		if err == nil {
			err = f.Sites.Start(dir, site, join, path)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", site, err)
		}
		f.Roster = append(f.Roster, site)
	}
	return f, nil
}

// Stop ends all parts.
func (f *Federation) Stop() error {
	f.Sites.Stop()
	if f.Coordinator == nil {
		return nil
	}
	return f.Coordinator.Stop()
}

// Study runs one to its result. began is called when every site has approved, which means that all
// rows are in memory; see, if not nil, with every view from then on and its time.
func (f *Federation) Study(ctx context.Context, spec study.Spec, began func(), see func(time.Time, coordinator.View)) (*study.Plan, error) {
	spec.Sites = f.Roster
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := f.Connected(wait, spec); err != nil {
		return nil, err
	}
	plan, err := f.Create(spec)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(f.ctx, func() { stop(context.Cause(f.ctx)) })()
	var last coordinator.View
	started := false
	err = f.Watch(ctx, plan.Digest, func(v coordinator.View) error {
		now := time.Now()
		last = v
		if v.Status == round.StatusProposed {
			return nil
		}
		if !started {
			started = true
			began()
		}
		if see != nil {
			see(now, v)
		}
		return nil
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err == nil && last.Status != round.StatusCompleted {
		err = fmt.Errorf("the study ended: %s %s", last.Code, last.Culprit)
	}
	return plan, err
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/agent"
	"covey/internal/enroll"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// federation is the coordinators and the demo's agents in one process, over loopback
// TCP and mTLS, each with its own folder, keys and ledger as if it were alone.
type federation struct {
	demo   *demoCmd
	dir    string
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	errs   chan error

	mu     sync.Mutex
	agents map[string]*runningAgent

	nodes     []*runningNode
	addresses []string // of the nodes' sites' ports

	killed, returned bool // the fault was made; Watch's goroutine alone, as all below
	leadersKilled    int
	lostAt           time.Time // when the leader was killed
	lostQuery        int
	resumed          time.Duration
}

type runningAgent struct {
	stop context.CancelFunc
	done chan struct{}
}

// startFederation makes every folder, joins every site and starts every part.
func startFederation(ctx context.Context, dir string, demo *demoCmd, log *slog.Logger) (_ *federation, err error) {
	f := &federation{demo: demo, dir: dir, log: log, errs: make(chan error, 16), agents: map[string]*runningAgent{}}
	f.ctx, f.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			f.stop()
		}
	}()
	if err := f.startNodes(); err != nil {
		return nil, err
	}
	for _, site := range diamondSites() {
		if err := f.join(site); err != nil {
			return nil, fmt.Errorf("site %s: %w", site, err)
		}
		if err := f.start(site); err != nil {
			return nil, fmt.Errorf("site %s: %w", site, err)
		}
	}
	return f, nil
}

func (f *federation) background(work func() error) {
	f.work.Go(func() {
		if err := work(); err != nil && f.ctx.Err() == nil {
			f.errs <- err
		}
	})
}

// failed waits for a part to fail, or for the end.
func (f *federation) failed() error {
	select {
	case err := <-f.errs:
		return err
	case <-f.ctx.Done():
		return nil
	}
}

// join makes a site's folder: join file, keys, certificate, configuration.
func (f *federation) join(site string) error {
	var text []byte
	err := f.until("a leader", func() error {
		join, err := f.leader().Coordinator.Invite(site, f.addresses, time.Hour)
		if err == nil {
			text, err = join.Marshal()
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(f.dir, site+".join"), text, 0o600); err != nil {
		return err
	}
	home := filepath.Join(f.dir, site)
	// The lead may move while a site asks; its file is good until it was answered.
	err = f.until("a leader", func() error { return enroll.Join(f.ctx, text, home, time.Now()) })
	if err != nil {
		return err
	}
	peers, err := siteconfig.PeersIn(f.dir, diamondSites()...)
	if err != nil {
		return err
	}
	config := siteconfig.Config{
		Site: site, Coordinator: f.addresses,
		// Room for a hundred demos with --keep.
		Populations: []siteconfig.Population{{Name: site + "-diamonds", Budget: &siteconfig.Budget{Epsilon: 100 * f.demo.Epsilon, Delta: f.demo.Delta}}},
		Datasets:    []siteconfig.Dataset{{Name: "diamonds", Path: filepath.Join("..", site+".csv"), Population: site + "-diamonds", Unit: f.demo.Unit}},
		// The site's own policy approves the demo's studies and nothing larger.
		Policy: siteconfig.Policy{
			Approve: siteconfig.ApproveWithinLimits, MaxEpsilon: f.demo.Epsilon, MaxDelta: f.demo.Delta,
			OnDropout: []string{proposal.DropoutWait, proposal.DropoutContinue},
			Noise:     []string{proposal.NoiseCentral, proposal.NoiseDistributed}, Peers: peers,
		},
	}
	text, err = toml.Marshal(config)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, siteconfig.File), text, 0o600)
}

// start runs a site's agent from its folder.
func (f *federation) start(site string) error {
	config, err := siteconfig.Read(filepath.Join(f.dir, site))
	if err != nil {
		return err
	}
	a, err := agent.New(agent.Options{Config: config, Logger: f.log.With("part", site)})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(f.ctx)
	running := &runningAgent{stop: stop, done: make(chan struct{})}
	f.mu.Lock()
	f.agents[site] = running
	f.mu.Unlock()
	f.background(func() error {
		defer close(running.done)
		if err := a.Run(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("site %s: %w", site, err)
		}
		return nil
	})
	return nil
}

// kill stops a site's agent where it stands and waits until its ledger is closed.
func (f *federation) kill(site string) {
	f.mu.Lock()
	running := f.agents[site]
	f.mu.Unlock()
	running.stop()
	<-running.done
}

func (f *federation) stop() {
	f.cancel()
	f.work.Wait()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"covey/internal/coordinator"
	"covey/internal/node"
	"covey/internal/outline"
	"covey/internal/proposal"
)

type runningNode struct {
	*node.Node
	stop context.CancelFunc
	done chan struct{}
}

// startNodes makes the first coordinator and lets the others join it, as their
// operators would.
func (f *federation) startNodes() error {
	var first node.Config
	for i := range f.demo.Coordinators {
		dir := f.home(i)
		sites, err := freeAddress()
		if err != nil {
			return err
		}
		config := node.Config{Listen: sites, Addresses: []string{sites}}
		if f.demo.Coordinators > 1 {
			if config.PeerListen, err = freeAddress(); err != nil {
				return err
			}
			config.PeerAddress = config.PeerListen
		}
		f.addresses = append(f.addresses, sites)
		if i == 0 {
			first, err = config, node.Init(dir, config, time.Now())
		} else {
			err = f.joinNode(dir, config, i)
		}
		if err != nil {
			return fmt.Errorf("coordinator %d: %w", i+1, err)
		}
		if err := f.startNode(dir, i); err != nil {
			return fmt.Errorf("coordinator %d: %w", i+1, err)
		}
	}
	if first.PeerListen == "" {
		return nil
	}
	return f.until("the coordinators to form a cluster", func() error {
		peers, err := f.leader().Peers()
		if err == nil && len(peers) < f.demo.Coordinators {
			err = fmt.Errorf("%d of %d have entered", len(peers), f.demo.Coordinators)
		}
		return err
	})
}

func (f *federation) home(i int) string {
	if f.demo.Coordinators == 1 {
		return filepath.Join(f.dir, "coordinator")
	}
	return filepath.Join(f.dir, fmt.Sprintf("coordinator-%d", i+1))
}

func (f *federation) joinNode(dir string, config node.Config, i int) error {
	var file []byte
	err := f.until("a leader", func() (err error) {
		file, err = f.leader().AddNode(fmt.Sprint(i+1), time.Hour)
		return err
	})
	if err != nil {
		return err
	}
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	return node.Join(f.ctx, dir, file, config, dial, time.Now())
}

func (f *federation) startNode(dir string, i int) error {
	n, err := node.Open(dir, node.Options{Logger: f.log.With("part", fmt.Sprint("coordinator ", i+1))})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(f.ctx)
	running := &runningNode{n, stop, make(chan struct{})}
	f.nodes = append(f.nodes, running)
	f.background(func() error {
		defer close(running.done)
		return n.Run(ctx)
	})
	return nil
}

// until tries again until it goes well; a failure is the last try's.
func (f *federation) until(what string, try func() error) error {
	ctx, cancel := context.WithTimeout(f.ctx, 30*time.Second)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, errors.Join(err, ctx.Err()))
		}
	}
}

// leader returns the node that leads, or one that will say that it does not.
func (f *federation) leader() *runningNode {
	for _, n := range f.nodes {
		select {
		case <-n.done:
			continue
		default:
		}
		if n.Coordinator.Leading() {
			return n
		}
	}
	return f.nodes[len(f.nodes)-1]
}

// watch follows the study from leader to leader.
func (f *federation) watch(ctx context.Context, digest proposal.Digest, see func(outline.View) error) error {
	for {
		leader := f.leader()
		err := coordinator.ErrNotLeader
		if leader.Coordinator.Leading() {
			err = leader.Coordinator.Watch(ctx, digest, see)
		}
		if err == nil || ctx.Err() != nil || leader.Coordinator.Leading() {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// faultLeader stops the coordinator that leads at the start of the chosen round, and
// notes when the study went on.
func (f *federation) faultLeader(v outline.View) {
	if f.demo.KillLeaderAtRound != 0 && v.Round+1 >= f.demo.KillLeaderAtRound && f.leadersKilled == 0 {
		leader := f.leader()
		leader.stop()
		<-leader.done
		f.leadersKilled, f.lostAt, f.lostQuery = 1, time.Now(), v.Query
	}
	if f.leadersKilled > 0 && f.resumed == 0 && v.Query > f.lostQuery {
		f.resumed = time.Since(f.lostAt)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

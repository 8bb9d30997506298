package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/sync/errgroup"

	"covey/internal/coordinator"
	"covey/internal/pki"
	"covey/internal/replica"
)

// config is coordinator.toml.
type config struct {
	// Listen is the address of the sites' port.
	Listen string `toml:"listen" comment:"Where agents connect: one TCP port, TLS 1.3."`
	// Addresses go into join files: host:port as agents reach it.
	Addresses []string `toml:"addresses" comment:"What join files tell agents: host:port as they see it. The hosts are in the server's certificate."`
}

const (
	configFile = "coordinator.toml"
	socketFile = "operator.sock"
)

// hosts are those of the addresses: the server certificate's.
func (c config) hosts() ([]string, error) {
	var out []string
	for _, a := range c.Addresses {
		host, _, err := net.SplitHostPort(a)
		if err != nil {
			return nil, bad("address %q: host:port is wanted", a)
		}
		out = append(out, host)
	}
	return out, nil
}

// initDir makes a data folder. A crash half-way leaves a folder that init refuses
// and that holds nothing yet worth keeping.
func initDir(dir string, c config, now time.Time) error {
	if len(c.Addresses) == 0 {
		return bad("at least one --address is needed")
	}
	hosts, err := c.hosts()
	if err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return bad("listen %q: host:port is wanted", c.Listen)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := pki.Init(dir, hosts, now); err != nil {
		return err
	}
	text, err := toml.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, configFile), text, 0o600)
}

func readConfig(dir string) (config, error) {
	f, err := os.Open(filepath.Join(dir, configFile))
	if errors.Is(err, os.ErrNotExist) {
		return config{}, bad("%s is no data folder: it holds no %s; make one with `coordinator init`", dir, configFile)
	}
	if err != nil {
		return config{}, err
	}
	defer f.Close()
	var c config
	if err := toml.NewDecoder(f).DisallowUnknownFields().Decode(&c); err != nil {
		if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
			return config{}, bad("%s: unknown key\n%s", configFile, strict.String())
		}
		return config{}, bad("%s: %w", configFile, err)
	}
	return c, nil
}

// node is one running coordinator.
type node struct {
	*coordinator.Coordinator
	config    config
	authority *pki.Authority
	replica   *replica.Node
	sites     net.Listener
	operator  net.Listener
	log       *slog.Logger
}

// openNode opens a data folder's log and begins to lead; it listens already.
func openNode(dir string, log *slog.Logger) (*node, error) {
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	authority, err := pki.Load(dir)
	if err != nil {
		return nil, err
	}
	n := &node{config: c, log: log, authority: authority}
	if err := n.renew(); err != nil {
		return nil, err
	}
	if n.sites, err = net.Listen("tcp", c.Listen); err != nil {
		return nil, err
	}
	machine := coordinator.NewMachine()
	n.Coordinator = coordinator.New(coordinator.Options{Authority: authority, Machine: machine, Logger: log})
	if n.replica, err = replica.Open(dir, machine, replica.Options{Logger: log}); err != nil {
		n.sites.Close()
		return nil, err
	}
	if n.operator, err = listenUnix(filepath.Join(dir, socketFile)); err == nil {
		err = n.Lead(n.replica)
	}
	if err != nil {
		n.sites.Close()
		n.replica.Close()
		return nil, err
	}
	return n, nil
}

// listenUnix listens on a socket that only this user can open. The log's lock
// already says that no other process serves this folder, so a socket that is
// there is a crash's.
func listenUnix(path string) (net.Listener, error) {
	if len(path) > 100 {
		return nil, bad("the path of the operator's socket is %d bytes long, unix sockets allow about 100: use a shorter --data", len(path))
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(path, 0o600)
}

// renew replaces the server's certificate when it is within 30 days of its end.
// New connections get the new one at once.
func (n *node) renew() error {
	hosts, err := n.config.hosts()
	if err != nil {
		return err
	}
	renewed, err := n.authority.RenewServer(hosts, time.Now())
	if renewed {
		n.log.Info("the server certificate is renewed")
	}
	return err
}

// renewDaily looks once a day. A failure is said, every day until it is mended:
// there are 30 of them.
func (n *node) renewDaily(ctx context.Context) {
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	for {
		select {
		case <-day.C:
			if err := n.renew(); err != nil {
				n.log.Error("the server certificate is not renewed", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// run serves until ctx ends or the store fails. A store's first I/O error ends
// the process: a retry could report success for data that is lost.
func (n *node) run(ctx context.Context) error {
	grpc := n.Server()
	http := &http.Server{Handler: n.Operator(n.config.Addresses), ReadHeaderTimeout: 10 * time.Second}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return grpc.Serve(n.sites) })
	g.Go(func() error { n.renewDaily(ctx); return nil })
	g.Go(func() error { return ignoreClosed(http.Serve(n.operator)) })
	g.Go(func() error {
		var failed error
		select {
		case <-ctx.Done():
		case err := <-n.replica.Failed():
			failed = fmt.Errorf("the coordinator's log failed and the process ends: %w", err)
		}
		n.Close()
		http.Close()
		grpc.Stop()
		return failed
	})
	err := g.Wait()
	return errors.Join(err, n.replica.Close())
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

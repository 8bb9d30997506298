package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"covey/internal/node"
	"covey/internal/pki"
)

type initCmd struct {
	Dir         string   `arg:"" help:"The data folder to make."`
	Listen      string   `default:":7443" help:"Where agents will connect."`
	Address     []string `default:"localhost:7443" help:"host:port as agents see it; goes into join files and the server's certificate."`
	Name        string   `help:"This coordinator's name among several; 1 if not given, the join file's with --join."`
	PeerListen  string   `help:"Where other coordinators will connect; without it this one stays alone."`
	PeerAddress string   `help:"host:port of that port as the others see it."`
	Join        string   `placeholder:"FILE" help:"Join the coordinators that gave out this file (coordinator raft add) and take over their keys."`
}

func (c *initCmd) Run(s *streams) error {
	config := node.Config{Listen: c.Listen, Addresses: c.Address, Name: c.Name, PeerListen: c.PeerListen, PeerAddress: c.PeerAddress}
	if c.Join != "" {
		return c.join(s, config)
	}
	if err := node.Init(c.Dir, config, time.Now()); err != nil {
		return err
	}
	fmt.Fprintf(s.stderr, "made %s: keep ca.key and signing.key safe, everything rests on them\n", c.Dir)
	return c.done(s)
}

// done says what people compare, and what comes next.
func (c *initCmd) done(s *streams) error {
	authority, err := pki.Load(c.Dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.stderr, "CA %s, in every join file\nsigning key %s, for `verify --key`\nnext: coordinator serve --data %s\n",
		authority.Fingerprint(), pki.Fingerprint(authority.SigningKey().Public().(ed25519.PublicKey)), c.Dir)
	return nil
}

// maxJoinFile bounds what is read of a join file; a good one is under 64 KiB.
const maxJoinFile = 1 << 20

func (c *initCmd) join(s *streams, config node.Config) error {
	if c.Name != "" {
		return bad("--name goes without --join: the join file has it")
	}
	f, err := os.Open(c.Join)
	if err != nil {
		return bad("%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxJoinFile))
	if err != nil {
		return err
	}
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	if err := node.Join(s.ctx, c.Dir, text, config, dial, time.Now()); err != nil {
		return err
	}
	fmt.Fprintf(s.stderr, "made %s with the federation's keys: keep ca.key and signing.key safe, everything rests on them\nthe join file is spent; delete it\n", c.Dir)
	return c.done(s)
}

// dataFlag is the data folder of every command that needs one.
type dataFlag struct {
	Data string `default:"." env:"COVEY_DATA" help:"The data folder, as made by init."`
}

type serveCmd struct {
	dataFlag
	Verbose bool `help:"Log more."`
}

func (c *serveCmd) Run(s *streams) error {
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(s.stderr, &slog.HandlerOptions{Level: level}))
	n, err := node.Open(c.Data, node.Options{Logger: log, Control: true, HandOver: true})
	if err != nil {
		return err
	}
	log.Info("serving", "listen", n.Listening(), "addresses", n.Config.Addresses, "name", n.Config.Name, "peers", n.Config.PeerAddress)
	return n.Run(s.ctx)
}

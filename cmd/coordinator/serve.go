package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/memory"
	"covey/internal/node"
	"covey/internal/pki"
	"covey/internal/trace"
)

type initCmd struct {
	Dir         string   `arg:"" help:"The data folder to make."`
	Listen      string   `default:":7443" help:"Where agents will connect."`
	Address     []string `placeholder:"HOST:PORT" help:"host:port as agents see it, localhost and the port of --listen if not given; goes into join files and the server's certificate."`
	Name        string   `help:"This coordinator's name among several; 1 if not given, the join file's with --join."`
	PeerListen  string   `help:"Where other coordinators will connect; without it this one stays alone."`
	PeerAddress string   `help:"host:port of that port as the others see it."`
	CACert      string   `name:"ca-cert" placeholder:"FILE" help:"Bring your own CA: its certificate, PEM. Use this CA for nothing else: it is all that agents trust."`
	CAKey       string   `name:"ca-key" placeholder:"FILE" help:"Its key, PKCS #8 PEM, mode 0600. Both are copied into the folder."`
	Join        string   `placeholder:"FILE" help:"Join the coordinators that gave out this file (coordinator raft add) and take over their keys."`

	unnamed bool // no address was given
}

func (c *initCmd) Run(s *terminal) error {
	if len(c.Address) == 0 {
		_, port, err := net.SplitHostPort(c.Listen)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return shared.Bad("listen %q: must be host:port, such as :7443", c.Listen)
		}
		c.Address, c.unnamed = []string{net.JoinHostPort("localhost", port)}, true
	}
	config := node.Config{Listen: c.Listen, Addresses: c.Address, Name: c.Name, PeerListen: c.PeerListen, PeerAddress: c.PeerAddress}
	switch own := c.CACert != "" || c.CAKey != ""; {
	case own && (c.CACert == "" || c.CAKey == ""):
		return shared.Bad("--ca-cert and --ca-key go together")
	case own && c.Join != "":
		return shared.Bad("--ca-cert cannot be combined with --join: the coordinators that are there have a CA")
	case c.Join != "":
		return c.join(s, config)
	case own:
		if err := node.InitOwn(c.Dir, config, c.CACert, c.CAKey, time.Now()); err != nil {
			return c.halfMade(err)
		}
	default:
		if err := node.Init(c.Dir, config, time.Now()); err != nil {
			return c.halfMade(err)
		}
	}
	fmt.Fprintf(s.Err, "made %s: keep ca.key and signing.key safe, everything rests on them\n", c.Dir)
	return c.done(s)
}

// halfMade adds to err, for a folder with keys but no configuration, how that may have come about.
func (c *initCmd) halfMade(err error) error {
	if _, e := os.Stat(filepath.Join(c.Dir, node.ConfigFile)); shared.Is[*pki.ExistsError](err) && errors.Is(e, os.ErrNotExist) {
		return fmt.Errorf("%w, and there is no %s: if an init failed there, as on a full disk, empty the folder and try again (with --join, by a new `coordinator raft add`); if it was in use, restore that file", err, node.ConfigFile)
	}
	return err
}

// done prints what people compare, and what comes next.
func (c *initCmd) done(s *terminal) error {
	authority, err := pki.Load(c.Dir)
	if err != nil {
		return err
	}
	signing := pki.Fingerprint(authority.SigningKey().Public().(ed25519.PublicKey))
	fmt.Fprintf(s.Err, "CA %s, in every join file\nsigning key %s, for `verify --key`\nnext: coordinator serve --data %s\n",
		authority.Fingerprint(), signing, shared.Shell(c.Dir))
	if c.unnamed {
		fmt.Fprintf(s.Err, "join files will name %s, which only this machine reaches: before you make one, put the sites' name for it into addresses in coordinator.toml\n", c.Address[0])
	}
	return printDone(s, struct {
		Dir         string `json:"dir"`
		Fingerprint string `json:"fingerprint"` // of the CA
		Key         string `json:"key"`         // fingerprint of the signing key: verify --key
	}{c.Dir, authority.Fingerprint(), signing})
}

// maxJoinFile bounds what is read of a join file; a good one is under 64 KiB.
const maxJoinFile = 1 << 20

func (c *initCmd) join(s *terminal, config node.Config) error {
	if c.Name != "" {
		return shared.Bad("--name cannot be combined with --join: the join file has it")
	}
	f, err := os.Open(c.Join)
	if err != nil {
		return shared.Bad("%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxJoinFile))
	if err != nil {
		return err
	}
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	if err := node.Join(s.Ctx, c.Dir, text, config, dial, time.Now()); err != nil {
		return c.halfMade(err)
	}
	fmt.Fprintf(s.Err, "made %s with the federation's keys: keep ca.key and signing.key safe, everything rests on them\nthe join file is used up; delete it\n", c.Dir)
	return c.done(s)
}

type serveCmd struct {
	Verbose       bool          `help:"Log at debug level."`
	Log           string        `default:"auto" enum:"auto,json,text" help:"json, text, or auto: text on a terminal, JSON elsewhere."`
	Dashboard     string        `placeholder:"HOST:PORT" env:"COVEY_DASHBOARD" help:"Serve the read-only page and /metrics here, such as 127.0.0.1:7480; replaces [dashboard] of coordinator.toml."`
	DashboardMore dashboardMore `embed:"" prefix:"dashboard-"`
}

// dashboardMore goes with --dashboard.
type dashboardMore struct {
	Host     []string `placeholder:"NAME" help:"A host name under which the page is reached; localhost and the host of --dashboard always work."`
	Cert     string   `type:"path" placeholder:"FILE" help:"A certificate that browsers trust, PEM; needed beyond loopback."`
	Key      string   `type:"path" placeholder:"FILE" help:"Its key."`
	ClientCA string   `name:"client-ca" type:"path" placeholder:"FILE" help:"A CA other than the federation's, whose client certificates log in the people that they name."`
	Plain    bool     `help:"Plain HTTP beyond loopback, for a proxy in front that speaks TLS."`
}

// dashboard returns the dashboard that the flags ask for, nil if none does.
func (c *serveCmd) dashboard() (*node.Dashboard, error) {
	m := c.DashboardMore
	if c.Dashboard == "" {
		if len(m.Host) > 0 || m.Cert != "" || m.Key != "" || m.ClientCA != "" || m.Plain {
			return nil, shared.Bad("--dashboard-... goes with --dashboard HOST:PORT")
		}
		return nil, nil
	}
	return &node.Dashboard{Listen: c.Dashboard, Hosts: m.Host, Certificate: m.Cert, Key: m.Key, ClientCA: m.ClientCA, PlainHTTP: m.Plain}, nil
}

// notOwned adds to err what to do if a file in the folder may not be used: one start as root leaves
// files that the coordinator's own user cannot open. Another try would not help, so it is bad
// input.
func notOwned(err error, dir string) error {
	if _, network := errors.AsType[*net.OpError](err); network || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		return err
	}
	return shared.Bad("%w: serve as the user who owns %s; let all in it be that user's (chown -R USER %[2]s), on a file system that can be written", err, shared.Shell(dir))
}

// inUse adds to err where an address is set if its port is taken, or this machine no longer has it.
func (c *serveCmd) inUse(err error, config string) error {
	_, board := errors.AsType[*node.DashboardError](err)
	if board && c.Dashboard != "" {
		config = "--dashboard (or COVEY_DASHBOARD)"
	}
	switch {
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w: this machine does not have this address of %s now", err, config)
	case !errors.Is(err, syscall.EADDRINUSE):
		return err
	case board: // the sites' port was free: no coordinator runs here
		return fmt.Errorf("%w: another program has this port of %s", err, config)
	}
	return fmt.Errorf("%w: a coordinator runs here already, or another program has this port of %s", err, config)
}

func (c *serveCmd) Run(s *terminal) error {
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	board, err := c.dashboard()
	if err != nil {
		return err
	}
	if s.JSON {
		c.Log = "json"
	}
	log := shared.NewLogger(s.Err, c.Log, level)
	memory.Keep().Log(log) // before the keys are read
	go memory.GiveBack(s.Ctx)
	if mode, others := pki.OpenToOthers(s.dir); others {
		log.Warn("other users of this machine may change the data folder, and so keys, settings and the log: chmod o-w it", "folder", s.dir, "mode", fmt.Sprintf("%04o", mode))
	}
	n, err := node.Open(s.dir, node.Options{Logger: log, Control: true, HandOver: true, Dashboard: board})
	if err != nil {
		return notOwned(c.inUse(err, filepath.Join(s.dir, node.ConfigFile)), s.dir)
	}
	if address, tls := n.Watching(); address != nil {
		scheme := "http"
		if tls {
			scheme = "https"
		}
		log.Info("serving the dashboard", "url", scheme+"://"+address.String()+"/", "log_in", "coordinator page invite NAME")
	}
	if trace.Wanted() {
		stop, err := trace.Start(s.Ctx, n.Coordinator, n.Config.Name, log)
		if err != nil {
			log.Error("trace export failed to start", "error", err)
		} else {
			defer stop()
			log.Info("exporting traces to the collector named in the environment")
		}
	}
	log.Info("serving", "listen", n.Listening().String(), "addresses", n.Config.Addresses, "name", n.Config.Name, "peers", n.Config.PeerAddress)
	err = n.Run(s.Ctx)
	if err == nil { // or a log would end as after a kill
		log.Info("stopped, as asked")
	}
	return err
}

package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/doctor"
	"covey/internal/egress"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/sitepage"
)

type pageCmd struct {
	Port int `placeholder:"N" help:"The port on 127.0.0.1, any that is free if not given; a tunnel must have the same number at both ends."`
}

// Help is kong's longer text.
func (pageCmd) Help() string {
	return `Serves the page on 127.0.0.1 until Ctrl-C, for the one browser that opens the printed link
within a minute. Press Enter for a new link. Approving or rejecting a
study there takes four letters that are printed here and nowhere else, so keep this terminal
in sight.`
}

func (c *pageCmd) Run(t *terminal) error {
	in, ok := t.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || shared.Width(t.Err) == nil {
		return shared.Bad("this prints a link and letters for the person who approves: run it at a terminal, where nobody collects what it prints")
	}
	return c.serve(t)
}

// serve serves the page until the terminal's context ends.
func (c *pageCmd) serve(t *terminal) error {
	status, err := ask[agent.Status](t, "GET", "status")
	if err != nil {
		return err
	}
	if c.Port < 0 || c.Port > 65535 {
		return shared.Bad("--port: must be at most 65535, got %d", c.Port)
	}
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)))
	if err != nil {
		return shared.Bad("--port: %w", err)
	}
	address := l.Addr().String()
	tell := func(line string) { t.Say("%s", line) }
	p := sitepage.New(sitepage.Options{Source: &running{t}, Address: address, Tell: tell})
	server := &http.Server{Handler: p.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(t.Err, "", 0)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }() // ends with Close
	defer server.Close()

	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "THIS-MACHINE"
	}
	t.Say("The page of site %s, for a browser on this machine. From another one, open a tunnel there first:\n  ssh -N -L %s:127.0.0.1:%s YOU@%s\nEnter prints a new link, Ctrl-C ends the page.",
		status.Site, port, port, host)
	link := func() { t.Say("\nThis link works once, for %.0f seconds:\n  %s", sitepage.LinkFor.Seconds(), p.Link()) }
	link()
	enter := make(chan struct{})
	go func() { // its last read ends with the process
		for lines := bufio.NewScanner(t.In); lines.Scan(); {
			select {
			case enter <- struct{}{}:
			case <-t.Ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-enter:
			link()
		case err := <-ended:
			return err
		case <-t.Ctx.Done():
			t.Say("The page is closed.")
			return nil
		}
	}
}

// running is the agent of the terminal's folder.
type running struct{ t *terminal }

// during is the terminal for one request.
func (r *running) during(ctx context.Context) *terminal {
	one := *r.t.Terminal
	one.Ctx = ctx
	return &terminal{&one, r.t.dir}
}

func (r *running) Status(ctx context.Context) (agent.Status, error) {
	return ask[agent.Status](r.during(ctx), "GET", "status")
}

func (r *running) Studies(ctx context.Context) ([]agent.StudyView, error) {
	return ask[[]agent.StudyView](r.during(ctx), "GET", "studies")
}

func (r *running) Study(ctx context.Context, id proposal.Digest) (agent.StudyDetail, error) {
	return ask[agent.StudyDetail](r.during(ctx), "GET", "studies", id.String())
}

func (r *running) Figures(ctx context.Context, id proposal.Digest) (sitedata.Figures, error) {
	return ask[sitedata.Figures](r.during(ctx), "GET", "studies", id.String(), "figures")
}

func (r *running) Approve(ctx context.Context, id proposal.Digest) error {
	// A browser that hangs up takes no decision back.
	d, err := ask[agent.StudyDetail](r.during(context.WithoutCancel(ctx)), "POST", "studies", id.String(), "approve")
	if err != nil {
		return err
	}
	return same(d.Digest, id)
}

func (r *running) Reject(ctx context.Context, id proposal.Digest) error {
	v, err := ask[agent.StudyView](r.during(context.WithoutCancel(ctx)), "POST", "studies", id.String(), "reject")
	if err != nil {
		return err
	}
	return same(v.Digest, id)
}

func (r *running) Ledger(ctx context.Context) (agent.LedgerReply, error) {
	return ask[agent.LedgerReply](r.during(ctx), "GET", "ledger")
}

func (r *running) Egress(ctx context.Context) (egress.Reply, error) {
	return ask[egress.Reply](r.during(ctx), "GET", "egress")
}

func (r *running) Sent(before int64, most int) ([]egress.Line, int64, error) {
	config, err := siteconfig.Read(r.t.dir)
	if err != nil {
		return nil, 0, err
	}
	return egress.Tail(config.DataDir(), before, most)
}

func (r *running) Checks() ([]doctor.Finding, error) {
	config, err := siteconfig.Read(r.t.dir)
	if err != nil {
		return nil, fmt.Errorf("agent.toml: %w", err)
	}
	return doctor.Local(config), nil
}

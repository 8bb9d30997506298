package agent

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/doctor"
	"covey/internal/egress"
	"covey/internal/enroll"
	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/internal/uplink"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/lines"
	"covey/test/must"
	"covey/test/port"
	"covey/test/site"
)

// joined makes a site with one file, offered as three rows and as two people, ready
// to run.
func joined(t *testing.T, s *port.Server) (*siteconfig.Config, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "alpha")
	must.Do(t, enroll.Join(port.Bounded(t), s.Invite(t, nil), dir, time.Now()))
	c := site.Config("alpha", "rows.csv")
	c.Coordinator = []string{s.Address}
	c.Populations[0], c.Datasets[0].Population = siteconfig.Population{Name: "p", CapRho: 1}, "p"
	people, absent := c.Datasets[0], c.Datasets[0]
	people.Name, people.Unit = "people", "x"
	absent.Name, absent.Path = "absent", "absent.csv"
	c.Datasets, c.Policy = append(c.Datasets, people, absent), siteconfig.Policy{}
	must.Do(t, site.Write(dir, c))
	must.Do(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("x,y\n1,2\n3,4\n3,6\n"), 0o600))
	config := must.Get(siteconfig.Read(dir))(t)
	return config, dir
}

// TestLink runs an agent against a real port: it says hello, answers, comes back
// after its link is cut, and stops when its context ends.
func TestLink(t *testing.T) {
	s := port.New(t)
	config, dir := joined(t, s)
	a := must.Get(New(Options{Config: config}))(t)
	if _, err := New(Options{Config: config}); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("a second agent on the directory: %v", err)
	}
	ctx, cancel := context.WithCancel(port.Bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	for range 2 {
		l := <-s.Links
		h := l.Receive(t).GetHello()
		if h.GetSoftware() != enroll.Software || !h.GetAllOpen() || len(h.GetDatasets()) != 2 || h.GetDatasets()[0].GetName() != "rows" || h.GetDatasets()[0].GetUnits() != 3 ||
			h.GetDatasets()[1].GetName() != "people" || h.GetDatasets()[1].GetUnits() != 2 {
			t.Errorf("hello %v, want data sets of 3 and of 2 units: another cannot be read", h)
		}
		l.Send(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Release{Release: &covey.Release{Study: make([]byte, 32), Slot: 5}}})
		r := l.Receive(t).GetRefusal()
		if r.GetCode() != covey.Code_CODE_UNKNOWN_STUDY || r.GetSlot() != 5 {
			t.Errorf("refusal %v", r)
		}
		l.End <- status.Error(codes.Unavailable, "gone")
	}
	l := <-s.Links
	l.Receive(t)
	// What makes no sense ends the link, and only that.
	if err := l.Stream.Send(&covey.LinkResponse{Frame: &covey.Frame{Data: []byte{0xff}, Last: true}}); err != nil {
		t.Fatal(err)
	}
	(<-s.Links).Receive(t)
	cancel()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	egress, err := os.ReadFile(filepath.Join(dir, egress.File))
	if err != nil || strings.Count(string(egress), `"kind":"hello"`) != 4 || strings.Count(string(egress), `"kind":"refusal"`) != 2 {
		t.Errorf("egress log: %v\n%s", err, egress)
	}
	// Run closed it: the directory is free, and counts go on.
	a = must.Get(New(Options{Config: config}))(t)
	defer a.Close()
	if got := a.Views.Egress().Link["hello"].Messages; got != 4 {
		t.Errorf("%d hellos counted after a restart, want 4", got)
	}
}

// TestLeaderMovedAway: where the leader is at an address that agent.toml does not name, the status
// says so whichever address was tried last, and the log says each address's error once until a link
// stands.
func TestLeaderMovedAway(t *testing.T) {
	s := port.New(t)
	config, _ := joined(t, s)
	config.Coordinator = append(config.Coordinator, "127.0.0.1:1") // nobody
	log, stood := &lines.Log{}, make(chan uplink.Standing, 1)
	var a *Agent
	a = must.Get(New(Options{Config: config, Logger: slog.New(slog.NewTextHandler(writer(func(line []byte) {
		if bytes.Contains(line, []byte("nobody answers there")) {
			select {
			case stood <- a.uplink.Stands(): // before it calls again
			default:
			}
		}
		log.Write(line)
	}), nil))}))(t)
	ctx, cancel := context.WithCancel(port.Bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	for range 4 {
		(<-s.Links).End <- wire.NotLeader([]string{"moved:1"})
	}
	now := <-stood
	if now.Address == "127.0.0.1:1" {
		t.Errorf("%v is said to be at the address where nobody is", now.Err)
	}
	if now.Err == nil || !strings.Contains(now.Err.Error(), `names ["moved:1"], which agent.toml does not name: if the operator tells you so, add it`) {
		t.Errorf("after another address's turn: %v", now.Err)
	}
	cancel()
	<-ran
	// On a busy machine a link may live long enough to stand.
	if n, links := log.Count("no link to the coordinator"), log.Count("linked to the coordinator"); n < 2 || n > 2*(1+links) {
		t.Errorf("%d lines say that there is no link, want one an address until a link stands:\n%s", n, log)
	}
}

// writer is what a log is written to.
type writer func(line []byte)

func (w writer) Write(line []byte) (int, error) { w(line); return len(line), nil }

// TestLinkWrongCA checks that an agent talks to no coordinator of another CA, and
// that check says why.
func TestLinkWrongCA(t *testing.T) {
	s, stranger := port.New(t), port.New(t)
	config, _ := joined(t, s)
	config.Coordinator = []string{stranger.Address}
	log := &lines.Log{}
	a := must.Get(New(Options{Config: config, Logger: slog.New(slog.NewTextHandler(log, nil))}))(t)
	ctx, cancel := context.WithCancel(port.Bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	log.Wait(t, "no link to the coordinator")
	err := a.uplink.Stands().Err
	cancel()
	<-ran
	must.As[*enroll.HandshakeError](t, err)
	must.As[x509.UnknownAuthorityError](t, err)
	found := doctor.Check(port.Bounded(t), config, time.Now())
	must.As[*enroll.HandshakeError](t, found[len(found)-1].Err)
	select {
	case <-stranger.Links:
		t.Error("a link was opened")
	default:
	}
}

// TestRenewal gives the agent a clock at which its certificate has 20 days left.
func TestRenewal(t *testing.T) {
	s, log := port.New(t), &lines.Log{}
	config, _ := joined(t, s)
	late := func() time.Time { return time.Now().Add(70 * 24 * time.Hour) }
	a := must.Get(New(Options{Config: config, Now: late, Logger: slog.New(slog.NewTextHandler(log, nil))}))(t)
	before := a.site.Certificate().NotAfter
	ctx, cancel := context.WithCancel(port.Bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	log.Wait(t, "certificate renewed")
	if !a.site.Certificate().NotAfter.After(before) {
		t.Error("the certificate in use is the old one")
	}
	cancel()
	<-ran
}

// TestEndedCertificate: the log, the status and the check say that the site must join again, and
// the agent that runs goes on once it has.
func TestEndedCertificate(t *testing.T) {
	s, log := port.New(t), &lines.Log{}
	config, dir := joined(t, s)
	holder := must.Get(pki.LoadHolder(pki.RoleSite, dir))(t)
	issue := func(at time.Time) []byte {
		return must.Get(s.Authority.Issue(pki.RoleSite, config.Site, must.Get(holder.CSR(config.Site))(t), at))(t)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "tls.crt"), issue(time.Now().Add(-pki.ClientValidity-30*time.Minute)), 0o600))
	a := must.Get(New(Options{Config: config, Logger: slog.New(slog.NewTextHandler(log, nil))}))(t)
	ctx, cancel := context.WithCancel(port.Bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	log.Wait(t, "no link to the coordinator")
	const says = "the site must join again"
	status := must.Get(a.Views.Status())(t)
	if !strings.Contains(log.String(), says) || !strings.Contains(status.LinkError, says) || status.DaysLeft >= 0 {
		t.Errorf("status %+v, log\n%s", status, log)
	}
	failed := 0
	for _, f := range doctor.Check(port.Bounded(t), config, time.Now()) {
		if f.Err != nil && f.Check != "data set absent" {
			failed++
			if f.Code != doctor.CheckEnded {
				t.Errorf("check: %s: %v", f.Check, f.Err)
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d lines failed", failed)
	}
	must.Do(t, holder.Rejoin(issue(time.Now()), s.Authority.CertificatePEM(), time.Now()))
	(<-s.Links).Receive(t)
	cancel()
	<-ran
}

// TestStoreFailureStops checks that the ledger's end is the agent's: nothing may
// be sent on the strength of a store that failed.
func TestStoreFailureStops(t *testing.T) {
	s := port.New(t)
	config, _ := joined(t, s)
	a := must.Get(New(Options{Config: config}))(t)
	ran := make(chan error, 1)
	go func() { ran <- a.Run(port.Bounded(t)) }()
	(<-s.Links).Receive(t)
	a.failed(fmt.Errorf("somewhere: %w", &ledger.StoreError{Op: "test", Err: errors.New("disk")}))
	must.As[*ledger.StoreError](t, <-ran)
}

package analyst

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/enroll"
	"covey/internal/pki"
	"covey/internal/wire"
	"covey/test/must"
	"covey/test/network"
	"covey/test/port"
)

func TestJoin(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	file, dir := h.Invite(t), filepath.Join(t.TempDir(), "deep", "ada")
	if _, err := Open(dir); err == nil {
		t.Fatal("an empty folder opens")
	} else {
		wantErr[*NotJoinedError](t, err, dir, "analyst join FILE")
	}
	if err := Newcomer(false).Join(ctx, file, dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{".": 0o700, "identity.key": 0o600, "tls.key": 0o600, File: 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	c := opened(t, dir)
	if c.Party().Name != "ada" || c.config.Coordinator[0] != h.Address {
		t.Errorf("%+v, %+v", c.Party(), c.config)
	}
	if _, err := c.List(ctx); err != nil {
		t.Error(err)
	}
	joined := wantErr[*enroll.JoinedError](t, Newcomer(false).Join(ctx, h.Invite(t), dir, time.Now()), "this analyst has joined")
	if joined.Dir != dir {
		t.Error(joined.Dir)
	}
	before := c.Fingerprint()
	if err := Newcomer(true).Join(ctx, h.Invite(t), dir, time.Now()); err != nil {
		t.Error(err)
	}
	if after := opened(t, dir).Fingerprint(); after != before {
		t.Errorf("joined again as %s, was %s", after, before)
	}
	// Who has keys and no certificate has not joined, whatever else is there.
	if err := os.Remove(filepath.Join(dir, "tls.crt")); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir)
	wantErr[*NotJoinedError](t, err)
}

// TestCertificatesName: a folder with the certificate of another name does not open.
func TestCertificatesName(t *testing.T) {
	h := port.NewHub(t)
	c := join(t, h)
	path := filepath.Join(c.dir, File)
	if err := os.WriteFile(path, []byte(strings.Replace(string(read(t, path)), "ada", "eve", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(c.dir)
	wantErr[*ConfigError](t, err, "analyst: the certificate belongs to ada")
}

// TestFindsLeader: followers are passed by, the leader that they name is asked next if analyst.toml
// has it, and no other host is called.
func TestFindsLeader(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	follower, second, unnamed := port.HubOf(t, h.Authority), port.HubOf(t, h.Authority), port.HubOf(t, h.Authority)
	dead := must.Get(network.Free(1))(t)[0]
	follower.Fails = wire.NotLeader([]string{unnamed.Address, h.Address})
	second.Fails = wire.NotLeader(nil)
	c := join(t, h)
	c.config.Coordinator = []string{dead, follower.Address, second.Address, h.Address}
	if _, err := c.List(ctx); err != nil {
		t.Fatal(err)
	}
	if c.first != h.Address || c.open[second.Address] != nil {
		t.Errorf("led by %s, asked %v", c.first, c.open)
	}
	if _, err := c.List(ctx); err != nil || len(c.open) != 2 {
		t.Errorf("%v, %d connections", err, len(c.open))
	}
	// A certificate that the CA did not sign ends nothing while another coordinator answers.
	stranger := port.NewHub(t)
	c.config.Coordinator = []string{stranger.Address, h.Address}
	c.first = ""
	if _, err := c.List(ctx); err != nil {
		t.Error(err)
	}
	c.config.Coordinator = []string{stranger.Address}
	_, err := c.List(ctx)
	wantErr[*enroll.HandshakeError](t, err)
	c.config.Coordinator = []string{dead}
	_, err = c.List(ctx)
	wantErr[*enroll.DialError](t, err, "no coordinator answers at", dead, `"connection refused". Check the address`)
}

// TestErrorsInWords: what a coordinator refuses, and why it is not reached, is told apart.
func TestErrorsInWords(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	c := join(t, h)
	call := func(err error) error {
		h.Set(func() { h.Fails = err })
		_, got := c.List(ctx)
		return got
	}
	wantErr[*ExcludedError](t, call(status.Error(codes.PermissionDenied, "revoked\x1b[2J")), "does not let ada in", `"revoked\x1b[2J"`, "new join file")
	wantErr[*ExcludedError](t, call(status.Error(codes.Unauthenticated, "x")))
	wantErr[*QuotaError](t, call(status.Error(codes.ResourceExhausted, "20 a day")), `"20 a day"`)
	wantErr[*RefusedError](t, call(status.Error(codes.InvalidArgument, "no data set")), `"no data set"`)
	if err := call(status.Error(codes.Internal, "disk\x07")); err == nil || !strings.Contains(err.Error(), `the coordinator failed: Internal: "disk\a"`) {
		t.Error(err)
	}
	wantErr[*LostError](t, call(status.Error(codes.Unavailable, "stops")), h.Address, "was lost")
	h.Set(func() { h.Fails = nil })

	h.Version = wire.Version{Protocol: 1000, Oldest: 1000, Software: "covey-coordinator/9"}.Pairs()
	c.Close()
	_, err := c.List(ctx)
	wantErr[*enroll.VersionError](t, err, "the analyst (covey-analyst/", "upgrade the analyst")

	c.now = func() time.Time { return c.Ends() }
	_, err = c.List(ctx)
	wantErr[*EndedError](t, err, "the certificate of ada ended on", "--again")

	gone, cancel := context.WithCancel(ctx)
	cancel()
	c.now = time.Now
	if _, err := c.List(gone); err != context.Canceled {
		t.Errorf("interrupted: %v", err)
	}
}

// TestRenewal: any command renews a certificate that nears its end, and follows the federation to
// another CA.
func TestRenewal(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	c := join(t, h)
	if _, err := c.List(ctx); err != nil || h.Renewed != 0 {
		t.Fatalf("%v, renewed %d times", err, h.Renewed)
	}
	old := c.Ends()
	near := opened(t, c.dir)
	near.now = func() time.Time { return old.Add(-pki.RenewBefore + time.Minute) }
	if _, err := near.List(ctx); err != nil || h.Renewed != 1 {
		t.Errorf("%v, renewed %d times", err, h.Renewed)
	}
	next, err := h.Authority.NewNext(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	h.Set(func() { h.Vouchers = []pki.Voucher{next, {Certificate: h.Authority.CertificatePEM()}} })
	moved, said := opened(t, c.dir), ""
	moved.Say = func(format string, _ ...any) { said += format }
	if _, err := moved.List(ctx); err != nil || h.Renewed != 2 {
		t.Errorf("%v, renewed %d times", err, h.Renewed)
	}
	if got := pki.CAFingerprint(opened(t, c.dir).holder.Issuer()); got != next.Fingerprint() || !strings.Contains(said, "changes its CA") {
		t.Errorf("the certificate is of %s, not %s; said %q", got, next.Fingerprint(), said)
	}
	// CAs that nobody vouched for are refused, and the command goes on.
	stranger := port.NewHub(t)
	h.Set(func() { h.Vouchers = stranger.Vouchers })
	again := opened(t, c.dir)
	said = ""
	again.Say = func(format string, _ ...any) { said += format }
	if _, err := again.List(ctx); err != nil || !strings.Contains(said, "refused") || h.Renewed != 2 {
		t.Errorf("%v, said %q, renewed %d times", err, said, h.Renewed)
	}
}

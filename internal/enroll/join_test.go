package enroll

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/test/must"
	"covey/test/port"
)

func TestJoin(t *testing.T) {
	s, ctx := port.New(t), port.Bounded(t)
	text, dir := s.Invite(t, nil), filepath.Join(t.TempDir(), "alpha")
	if err := Join(ctx, text, dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	config, err := siteconfig.Read(dir)
	if err != nil || config.Site != "alpha" || config.Coordinator[0] != s.Address {
		t.Fatalf("config %+v, %v", config, err)
	}
	for _, name := range []string{"identity.key", "tls.key", siteconfig.File} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want mode 0600", name, info, err)
		}
	}
	before, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err != nil {
		t.Fatal(err)
	}

	// Used twice: by this site, and by another.
	must.As[*JoinedError](t, Join(ctx, text, dir, time.Now()))
	other := filepath.Join(t.TempDir(), "other")
	refused := must.As[*JoinRefusedError](t, Join(ctx, text, other, time.Now()))
	if !strings.Contains(refused.Error(), "used before") {
		t.Errorf("refused with %v", refused)
	}
	if _, err := os.Stat(filepath.Join(other, siteconfig.File)); err == nil {
		t.Error("a refused join left a configuration")
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "tls.crt")); string(after) != string(before) {
		t.Error("a second join changed the certificate")
	}
	// A join that was refused can be done again in its directory, and keeps the
	// configuration that its operator wrote meanwhile.
	own := filepath.Join(other, siteconfig.File)
	if err := os.WriteFile(own, []byte("# mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Join(ctx, s.Invite(t, nil), other, time.Now()); err != nil {
		t.Errorf("with a new file: %v", err)
	}
	if kept, _ := os.ReadFile(own); string(kept) != "# mine" {
		t.Errorf("the operator's configuration is now %q", kept)
	}
}

// TestJoinWithoutRoomForTheConfiguration: a site that got its certificate and no configuration is
// told so, and the same file writes it later, without another certificate; another site's, or
// another federation's, does not, nor any once the certificate has ended or the keys are revoked.
func TestJoinWithoutRoomForTheConfiguration(t *testing.T) {
	s, ctx := port.New(t), port.Bounded(t)
	text, dir := s.Invite(t, nil), filepath.Join(t.TempDir(), "alpha")
	cramped := Site
	cramped.File = "no/room" // the folder is not there
	if err := cramped.Join(ctx, text, dir, time.Now()); err == nil || !strings.Contains(err.Error(), "this site has joined") || !strings.Contains(err.Error(), "the same command again") {
		t.Fatal(err)
	}
	read := func() string {
		certificate, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
		if err != nil {
			t.Fatal(err)
		}
		return string(certificate)
	}
	before := read()
	must.As[*JoinedError](t, Join(ctx, s.Invite(t, func(j *pki.Join) { j.Site = "beta" }), dir, time.Now()))
	must.As[*JoinedError](t, Join(ctx, port.New(t).Invite(t, nil), dir, time.Now()))
	later := time.Now().AddDate(1, 0, 0)
	must.As[*JoinedError](t, Join(ctx, s.Invite(t, func(j *pki.Join) { j.Expires = later.Add(time.Hour) }), dir, later))
	spent := maps.Clone(s.Spent)
	clear(s.Spent)
	must.As[*JoinRefusedError](t, Join(ctx, text, dir, time.Now()))
	if _, err := siteconfig.Read(dir); err == nil {
		t.Error("a site whose keys are revoked has joined")
	}
	maps.Copy(s.Spent, spent)
	if err := Join(ctx, text, dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	if config, err := siteconfig.Read(dir); err != nil || config.Site != "alpha" || config.Coordinator[0] != s.Address || read() != before {
		t.Errorf("config %+v, %v", config, err)
	}
	must.As[*JoinedError](t, Join(ctx, text, dir, time.Now()))
}

// TestJoinAgainNeedsKeys: who gives --again on a new machine is told what to do, and the file stays
// unused.
func TestJoinAgainNeedsKeys(t *testing.T) {
	s, ctx := port.New(t), port.Bounded(t)
	text, dir, again := s.Invite(t, nil), filepath.Join(t.TempDir(), "alpha"), Site
	again.Again = true
	for _, made := range []bool{false, true} { // with keys that a join which failed has left
		if made {
			if err := pki.NewKeys(dir); err != nil {
				t.Fatal(err)
			}
		}
		if err := must.As[*pki.JoinError](t, again.Join(ctx, text, dir, time.Now())); !strings.Contains(err.Error(), "leave --again out") {
			t.Errorf("with keys %v: %v", made, err)
		}
	}
	if err := Join(ctx, text, dir, time.Now()); err != nil {
		t.Error(err)
	}
}

// TestJoinHandsOutAnotherCA has the right coordinator answer with a certificate
// of a CA that the join file does not pin.
func TestJoinHandsOutAnotherCA(t *testing.T) {
	s, stranger, ctx := port.New(t), port.New(t), port.Bounded(t)
	s.Issues = stranger.Authority
	dir := filepath.Join(t.TempDir(), "alpha")
	must.As[*pki.WrongCAError](t, Join(ctx, s.Invite(t, nil), dir, time.Now()))
	if site, err := pki.LoadHolder(pki.RoleSite, dir); err != nil || site.Name() != "" {
		t.Errorf("the site has joined: %v, %v", site.Name(), err)
	}
}

func TestJoinWrongCA(t *testing.T) {
	s, stranger, ctx := port.New(t), port.New(t), port.Bounded(t)
	spent := len(s.Tokens)
	text := s.Invite(t, func(j *pki.Join) { j.Fingerprint = stranger.Authority.Fingerprint() })
	err := Join(ctx, text, filepath.Join(t.TempDir(), "alpha"), time.Now())
	must.As[*HandshakeError](t, err)
	wrong := must.As[*pki.WrongCAError](t, err)
	if wrong.Want != stranger.Authority.Fingerprint() || wrong.Got != s.Authority.Fingerprint() {
		t.Errorf("%v", wrong)
	}
	if len(s.Tokens) != spent+1 {
		t.Error("the token was shown to a coordinator of the wrong CA")
	}
	must.As[*pki.ExpiredError](t, Join(ctx, text, t.TempDir(), time.Now().Add(2*time.Hour)))
}

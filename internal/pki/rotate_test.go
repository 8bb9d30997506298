package pki

import (
	"bytes"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// vouched returns what a coordinator tells sites while both CAs are in force.
func vouched(t testing.TB, a *Authority) []Voucher {
	t.Helper()
	next, err := a.NewNext(start)
	if err != nil {
		t.Fatal(err)
	}
	return []Voucher{next, {Certificate: a.CertificatePEM()}}
}

// TestTrustIsReadAgain: however often a coordinator names its CAs, and with four of them in force
// beside the one that a site's certificate is of, the site starts again.
func TestTrustIsReadAgain(t *testing.T) {
	a := newAuthority(t)
	s := member(t, a, "north")
	again := func(want int) {
		t.Helper()
		s, err := LoadHolder(RoleSite, s.dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(s.Authorities()); got != want {
			t.Errorf("%d CAs are trusted, want %d", got, want)
		}
	}
	next := vouched(t, a)[0]
	if _, err := s.Trust([]Voucher{next, next, next, next}, start); err != nil {
		t.Fatal(err)
	}
	again(2)
	four := []Voucher{next}
	for range 3 {
		if err := a.Promote(); err != nil {
			t.Fatal(err)
		}
		if err := a.DropOld(); err != nil {
			t.Fatal(err)
		}
		v := vouched(t, a)[0]
		if _, err := s.Trust(append(slices.Clone(four), v), start); err != nil {
			t.Fatal(err)
		}
		four = append(four, v)
	}
	again(5)
}

func connects(t testing.TB, a *Authority, s *Holder) bool {
	t.Helper()
	client, server := dial(t, at(a.ServerTLS(), start), pin(t, s, "localhost"), greet)
	return client == nil && server == nil
}

func greet(c *tls.Conn) error { _, err := c.Write([]byte{1}); return err }

// TestRotation takes a federation from one CA to the next: at every step a site that followed is
// in, and at the last one that did not is out. Each step outlives a restart.
func TestRotation(t *testing.T) {
	a := newAuthority(t)
	again := func() {
		t.Helper()
		var err error
		if a, err = Load(a.dir); err != nil {
			t.Fatal(err)
		}
	}
	follows, stays := member(t, a, "follows"), member(t, a, "stays")
	key := bytes.Clone(follows.Identity())
	first := a.Fingerprint()

	list := vouched(t, a)
	again()
	if more, err := a.NewNext(start); err != nil || more.Fingerprint() != list[0].Fingerprint() {
		t.Fatalf("made twice: %v, %v", more.Fingerprint(), err)
	}
	if changed, err := follows.Trust(list, start); err != nil || !changed {
		t.Fatalf("Trust: %v, %v", changed, err)
	}
	if changed, err := follows.Trust(list, start); err != nil || changed {
		t.Errorf("Trust again: %v, %v", changed, err)
	}
	renewed, err := a.Renew(RoleSite, "follows", request(t, follows, "follows"), start)
	if err != nil {
		t.Fatal(err)
	}
	if err := follows.SaveCertificate(renewed, nil, start); err != nil {
		t.Fatal(err)
	}
	follows = reload(t, follows.dir)
	if a.IssuerOf(follows.Certificate()) != list[0].Fingerprint() || CAFingerprint(follows.Issuer()) != list[0].Fingerprint() {
		t.Error("the renewed certificate is not of the next CA")
	}
	if !connects(t, a, follows) || !connects(t, a, stays) {
		t.Error("while both are trusted, a site is out")
	}

	if err := a.Promote(); err != nil {
		t.Fatal(err)
	}
	again() // the server's certificate is the old CA's still, as after a crash
	if done, err := a.RenewServer(nil, start); err != nil || !done {
		t.Fatalf("RenewServer: %v, %v", done, err)
	}
	again()
	current, next, old := a.Rotation()
	if current != list[0].Fingerprint() || next != "" || old != first {
		t.Errorf("after the promotion: %s, %s, %s", current, next, old)
	}
	if !connects(t, a, follows) {
		t.Error("after the promotion the site that followed is out")
	}
	if connects(t, a, stays) {
		t.Error("a site that knows the old CA alone takes the new one's server")
	}

	if err := a.DropOld(); err != nil {
		t.Fatal(err)
	}
	again()
	if changed, err := follows.Trust([]Voucher{{Certificate: a.CertificatePEM()}}, start); err != nil || !changed || len(follows.Authorities()) != 1 {
		t.Errorf("the old CA stays trusted: %v, %v, %d", changed, err, len(follows.Authorities()))
	}
	if !connects(t, a, follows) {
		t.Error("at the end the site that followed is out")
	}
	// One that learnt of the new CA and kept its old certificate is refused by the server.
	if _, err := stays.Trust(list, start); err != nil {
		t.Fatal(err)
	}
	if connects(t, a, stays) {
		t.Error("a certificate of the dropped CA is let in")
	}
	if !bytes.Equal(key, reload(t, follows.dir).Identity()) {
		t.Error("the identity key changed")
	}
}

// TestTrustNeedsAWord: a CA that no trusted one endorses is not taken, nor one with the word for
// another, nor one that the word's time is over for; and nothing changes.
func TestTrustNeedsAWord(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	s := member(t, a, "north")
	list, foreign := vouched(t, a), vouched(t, other)
	was, err := os.ReadFile(filepath.Join(s.dir, caFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]struct {
		list []Voucher
		now  time.Time
	}{
		"no word":          {[]Voucher{{Certificate: list[0].Certificate}}, start},
		"another's word":   {[]Voucher{{foreign[0].Certificate, foreign[0].Endorsement}}, start},
		"word for another": {[]Voucher{{other.CertificatePEM(), list[0].Endorsement}}, start},
		"word is over":     {list, start.Add(2 * serverValidity)},
		"no CA":            {[]Voucher{{Certificate: certificatePEM(s.Certificate().Raw)}}, start},
		"none":             {nil, start},
		"many":             {append(append([]Voucher{}, list...), list[1], list[1], list[1]), start},
	} {
		_, err := s.Trust(bad.list, bad.now)
		if _, ok := errors.AsType[*CertificateError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now, err := os.ReadFile(filepath.Join(s.dir, caFile)); err != nil || !bytes.Equal(now, was) || len(s.Authorities()) != 1 {
		t.Error("a refused list changed something")
	}
}

// TestNextOfAnother: a coordinator takes the next CA's key from another and then is as able; a
// wrong key it refuses.
func TestNextOfAnother(t *testing.T) {
	a := newAuthority(t)
	dir := t.TempDir()
	if err := InitNode(dir, a.Estate(), a.Fingerprint(), nil, start); err != nil {
		t.Fatal(err)
	}
	b, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	next := vouched(t, a)[0]
	b.Trust(next)
	s := member(t, a, "north")
	if _, err := s.Trust([]Voucher{next}, start); err != nil {
		t.Fatal(err)
	}
	renewed, err := a.Renew(RoleSite, "north", request(t, s, "north"), start)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SaveCertificate(renewed, nil, start); err != nil {
		t.Fatal(err)
	}
	if !connects(t, b, s) {
		t.Error("a coordinator that knows the next CA by the log alone refuses its sites")
	}
	if _, held := b.NextKey(next.Fingerprint()); held {
		t.Error("and claims to hold its key")
	}
	key, held := a.NextKey(next.Fingerprint())
	if !held {
		t.Fatal("the key is not there")
	}
	wrong, err := keyPEM(a.caKey())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.SaveNext(next, wrong); err == nil {
		t.Error("another key is taken")
	}
	if err := b.SaveNext(next, key); err != nil {
		t.Fatal(err)
	}
	if b, err = Load(dir); err != nil {
		t.Fatal(err)
	}
	if err := b.Promote(); err != nil || b.Fingerprint() != next.Fingerprint() {
		t.Errorf("Promote: %v", err)
	}
}

// TestPromotionCrash leaves the folder as a crash between the two renames does.
func TestPromotionCrash(t *testing.T) {
	a := newAuthority(t)
	next := vouched(t, a)[0]
	path := func(name string) string { return filepath.Join(a.dir, name) }
	if err := os.WriteFile(path(oldFile), a.CertificatePEM(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path(nextKeyFile), path(caKeyFile)); err != nil {
		t.Fatal(err)
	}
	b, err := Load(a.dir)
	if err != nil {
		t.Fatal(err)
	}
	if current, left, old := b.Rotation(); current != next.Fingerprint() || left != "" || old != a.Fingerprint() {
		t.Errorf("%s, %s, %s", current, left, old)
	}
}

// TestRejoin: a site whose certificate ended, or whose CA is gone, joins again with its keys, under
// its name.
func TestRejoin(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	s := member(t, a, "north")
	key := bytes.Clone(s.Identity())
	if err := newSite(t).Rejoin(issue(t, other, s, "north", start), other.CertificatePEM(), start); !errors.Is(err, ErrNotJoined) {
		t.Errorf("before it joined: %v", err)
	}
	if err := s.Rejoin(issue(t, other, s, "south", start), other.CertificatePEM(), start); err == nil {
		t.Error("another name is taken")
	}
	if err := s.Rejoin(issue(t, other, s, "north", start), a.CertificatePEM(), start); err == nil {
		t.Error("a certificate of another CA is taken")
	}
	if err := s.Rejoin(issue(t, other, s, "north", start), other.CertificatePEM(), start); err != nil {
		t.Fatal(err)
	}
	s = reload(t, s.dir)
	if !connects(t, other, s) || connects(t, a, s) || !bytes.Equal(key, s.Identity()) {
		t.Error("it is not in where it joined, or still where it was, or with another key")
	}
}

// TestReload: an agent that runs while its site joins again takes the new certificate over.
func TestReload(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	s := member(t, a, "north")
	if s.Reload() || s.Ended(start) != nil {
		t.Error("there is another certificate, or it has ended")
	}
	again := reload(t, s.dir)
	if err := again.Rejoin(issue(t, other, again, "north", start.Add(time.Hour)), other.CertificatePEM(), start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	ended := s.Certificate().NotAfter
	if err := s.Ended(ended); err == nil || !strings.Contains(err.Error(), "`coordinator site invite north --again`") {
		t.Errorf("past its end: %v", err)
	}
	if !s.Reload() || !connects(t, other, s) || connects(t, a, s) || s.Ended(ended) != nil {
		t.Error("it is not in where it joined, or still where it was")
	}
	// What does not load, and another's, changes nothing.
	kept := s.Certificate()
	for _, text := range [][]byte{[]byte("half"), issue(t, other, s, "south", start)} {
		if err := os.WriteFile(filepath.Join(s.dir, tlsFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if s.Reload() || !s.Certificate().Equal(kept) {
			t.Error("it is taken over")
		}
	}
}

// TestTrustKeepsItsOwn: the CA that issued a site's certificate stays until the certificate is
// renewed, or the folder would not load.
func TestTrustKeepsItsOwn(t *testing.T) {
	a := newAuthority(t)
	s := member(t, a, "north")
	if _, err := s.Trust(vouched(t, a)[:1], start); err != nil {
		t.Fatal(err)
	}
	if again := reload(t, s.dir); len(again.Authorities()) != 2 || !again.Issuer().Equal(a.CA()) {
		t.Errorf("%d are trusted", len(again.Authorities()))
	}
}

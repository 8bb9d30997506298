package agent

import (
	"bytes"
	"crypto/x509"
	"strings"
	"testing"

	"covey/internal/study"
)

// TestRefusedProposalsAreShortInTheLog: why a proposal is refused repeats no more of it than a line can hold, however long its words are.
func TestRefusedProposalsAreShortInTheLog(t *testing.T) {
	s := newStandIn(t, 3, "", nil)
	body := strings.Replace(string(s.body), "profile = 'practical'", "profile = '"+strings.Repeat("x\u202e", 1<<20)+"'", 1)
	_, code, why := s.sites[0].agent.makeSession([]byte(body))
	if code != study.CodePlanMismatch || why == nil || len(why.Error()) > 2*maxWhy || strings.ContainsRune(why.Error(), '\u202e') {
		t.Errorf("%s, %.100v", code, why)
	}
}

// TestCertificatesNamesArePrintable: the names in a certificate reach the operator in the words of the handshake's error. Whoever answers
// at the coordinator's address chooses them: they are looked at before the chain is.
func TestCertificatesNamesArePrintable(t *testing.T) {
	foreign := "a\nlinked to b\x1b[2K\u202e"
	err := &HandshakeError{x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{foreign}}, Host: "c"}}
	for _, text := range []string{err.Error(), plain(err)} {
		if strings.ContainsAny(text, "\n\x1b\u202e") || !strings.Contains(text, "linked to b") {
			t.Errorf("%q", text)
		}
	}
}

// TestPendingProposalsAreBounded: by their number, and by their bytes together, which a coordinator chooses.
func TestPendingProposalsAreBounded(t *testing.T) {
	for _, c := range []struct{ bytes, fit int }{{10, maxPending}, {maxPendingBytes / 4, 4}} {
		p, err := openPending(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, c.bytes)
		for i := range c.fit {
			body := bytes.Clone(first)
			body[0] = byte(i)
			if err := p.put(body); err != nil {
				t.Fatalf("%d of %d bytes: %v", i, c.bytes, err)
			}
		}
		one := bytes.Clone(first)
		one[1] = 1
		if err := p.put(one); err != errPendingFull {
			t.Errorf("one more than %d of %d bytes: %v", c.fit, c.bytes, err)
		}
		if err := p.put(first); err != nil {
			t.Errorf("one that is there: %v", err)
		}
		if err := p.remove(study.DigestOf(first)); err != nil {
			t.Fatal(err)
		}
		if err := p.put(one); err != nil {
			t.Errorf("in the place of one that was decided: %v", err)
		}
	}
}

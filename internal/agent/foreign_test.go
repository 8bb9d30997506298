package agent

import (
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

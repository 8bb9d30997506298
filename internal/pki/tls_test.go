package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"covey/test/must"
)

// A whole join over real handshakes: the site knows a join file's content, ends
// with a certificate, and is then known by it.
func TestJoinOverTLS(t *testing.T) {
	for _, host := range []string{"covey.example.org", "127.0.0.1", "::1"} {
		a, s := newAuthority(t, "covey.example.org"), newSite(t)
		j := newJoin(t)
		j.Fingerprint = a.Fingerprint()
		stored := j.Token.Hash() // all that the coordinator keeps

		csr := request(t, s, j.Site)
		proof := s.ProveIdentity(j.Site, j.Token.Hash(), csr)
		var issued []byte
		clientErr, serverErr := dial(t, at(a.ServerTLS(), start), at(JoinTLS(j.Fingerprint, host), start), func(c *tls.Conn) error {
			if state := c.ConnectionState(); state.Version != tls.VersionTLS13 || len(state.VerifiedChains) != 0 {
				t.Error("a site that joins has no certificate")
			}
			token, err := TokenFrom(j.Token.Bytes())
			if err != nil || token.Hash() != stored {
				t.Error("token")
			}
			if err := CheckIdentityProof(identity(s), j.Site, stored, csr, proof); err != nil {
				t.Error(err)
			}
			if issued, err = a.Issue(RoleSite, j.Site, csr, start); err != nil {
				t.Error(err)
			}
			return hello(c)
		})
		if clientErr != nil || serverErr != nil {
			t.Fatal(host, clientErr, serverErr)
		}
		if err := CheckCA(a.CertificatePEM(), j.Fingerprint); err != nil {
			t.Fatal(err)
		}
		if err := s.SaveCertificate(issued, a.CertificatePEM(), start); err != nil {
			t.Fatal(err)
		}

		// The certificate is used by what is read back from the folder too.
		for _, s := range []*Holder{s, reload(t, s.dir)} {
			name := ""
			clientErr, serverErr = dial(t, at(a.ServerTLS(), start), pin(t, s, host), func(c *tls.Conn) error {
				chains := c.ConnectionState().VerifiedChains
				if len(chains) == 0 {
					return errors.New("no certificate")
				}
				var err error
				if name, err = siteName(chains[0][0]); err != nil {
					return err
				}
				return hello(c)
			})
			if clientErr != nil || serverErr != nil || name != "north" || s.Name() != "north" {
				t.Fatal(host, clientErr, serverErr, name)
			}
		}
	}
}

// A coordinator of another CA gets nothing, before joining and after.
func TestWrongCA(t *testing.T) {
	a, other := newAuthority(t, "covey.example.org"), newAuthority(t, "covey.example.org")
	refused := func(c *tls.Conn) error { t.Error("the handshake came through"); return nil }

	clientErr, serverErr := dial(t, at(other.ServerTLS(), start), at(JoinTLS(a.Fingerprint(), "covey.example.org"), start), refused)
	if e := must.As[*WrongCAError](t, clientErr); e.Want != a.Fingerprint() || e.Got != other.Fingerprint() || serverErr == nil {
		t.Fatal(clientErr, serverErr)
	}
	if want := "wrong CA: its fingerprint should be " + a.Fingerprint() + " and is " + other.Fingerprint(); clientErr.Error() != want {
		t.Fatal(clientErr)
	}

	s := member(t, a, "north")
	clientErr, serverErr = dial(t, at(other.ServerTLS(), start), pin(t, s, "covey.example.org"), refused)
	must.As[x509.UnknownAuthorityError](t, clientErr)
	if serverErr == nil {
		t.Fatal("the server saw no error")
	}

	// And a site of another CA is refused by the coordinator.
	stranger := member(t, other, "north")
	c := pin(t, stranger, "covey.example.org")
	c.RootCAs = a.caPool()
	clientErr, serverErr = dial(t, at(a.ServerTLS(), start), c, refused)
	must.As[x509.UnknownAuthorityError](t, serverErr)
	if clientErr == nil {
		t.Fatal("the client saw no error")
	}
}

// chainTLS is a server that shows what it likes.
func chainTLS(key any, chain ...*x509.Certificate) *tls.Config {
	c := tls.Certificate{PrivateKey: key}
	for _, cert := range chain {
		c.Certificate = append(c.Certificate, cert.Raw)
	}
	return at(&tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c}}, start)
}

// Everything that JoinTLS verifies in crypto/tls's place.
func TestJoinTLSVerifies(t *testing.T) {
	const host = "covey.example.org"
	a, other := newAuthority(t, host), newAuthority(t, host)
	leaf := a.ServerCertificate()
	s := member(t, a, "north")
	end := leaf.NotAfter
	client := special(t, a, identity(&Holder{identity: s.key}), func(c *x509.Certificate) {
		c.DNSNames, c.ExtKeyUsage = []string{host}, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	})
	for name, c := range map[string]struct {
		server *tls.Config
		host   string
		now    time.Time
		wrong  bool // WrongCAError, else CertificateError
	}{
		"wrong host":               {at(a.ServerTLS(), start), "other.example.org", start, false},
		"wrong address":            {at(a.ServerTLS(), start), "192.0.2.1", start, false},
		"no host":                  {at(a.ServerTLS(), start), "", start, false},
		"expired":                  {at(a.ServerTLS(), start), host, end.Add(time.Second), false},
		"not yet":                  {at(a.ServerTLS(), start), host, start.Add(-2 * time.Hour), false},
		"no CA in the chain":       {chainTLS(a.serverKey(), leaf), host, start, true},
		"other CA in the chain":    {chainTLS(a.serverKey(), leaf, other.CA()), host, start, true},
		"our CA, not its leaf":     {chainTLS(other.serverKey(), other.ServerCertificate(), a.CA()), host, start, false},
		"our CA, through another":  {chainTLS(other.serverKey(), other.ServerCertificate(), other.CA(), a.CA()), host, start, false},
		"a site as coordinator":    {chainTLS(s.key(), s.Certificate(), a.CA()), host, start, false},
		"a site, by its CN":        {chainTLS(s.key(), s.Certificate(), a.CA()), "north", start, false},
		"a client of this host":    {chainTLS(s.key(), client, a.CA()), host, start, false},
		"the CA itself":            {chainTLS(a.caKey(), a.CA(), a.CA()), host, start, false},
		"the CA alone":             {chainTLS(a.caKey(), a.CA()), host, start, true},
		"self-signed, CA appended": {chainTLS(other.caKey(), other.CA(), a.CA()), host, start, false},
	} {
		clientErr, _ := dial(t, c.server, at(JoinTLS(a.Fingerprint(), c.host), c.now), hello)
		_, wrong := errors.AsType[*WrongCAError](clientErr)
		_, certificate := errors.AsType[*CertificateError](clientErr)
		if c.wrong && !wrong || !c.wrong && !certificate {
			t.Errorf("%s: %v", name, clientErr)
		}
	}
	// The leaf is public; without its key it is worth nothing.
	chain := chainTLS(other.serverKey(), leaf, a.CA())
	if clientErr, _ := dial(t, chain, at(JoinTLS(a.Fingerprint(), host), start), hello); clientErr == nil {
		t.Error("a stolen certificate passes without its key")
	}
	// A fingerprint of a leaf, by some mistake, does not make it a CA.
	self := chainTLS(a.serverKey(), leaf, leaf)
	clientErr, _ := dial(t, self, at(JoinTLS(CAFingerprint(leaf), host), start), hello)
	must.As[*WrongCAError](t, clientErr)
	// Fingerprints of another form match nothing.
	for _, f := range []string{"", strings.ToUpper(a.Fingerprint()), strings.ReplaceAll(a.Fingerprint(), "-", "")} {
		clientErr, _ := dial(t, at(a.ServerTLS(), start), at(JoinTLS(f, host), start), hello)
		must.As[*WrongCAError](t, clientErr)
	}
	// Without a Time the clock counts.
	for age, ok := range map[time.Duration]bool{0: true, 400 * days: false} {
		dir := t.TempDir()
		if err := Init(dir, nil, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		a, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if clientErr, _ := dial(t, a.ServerTLS(), JoinTLS(a.Fingerprint(), "localhost"), hello); (clientErr == nil) != ok {
			t.Errorf("%v old: %v", age, clientErr)
		}
	}
}

// Everything else that must not connect once there are certificates.
func TestClientTLSVerifies(t *testing.T) {
	const host = "covey.example.org"
	a := newAuthority(t, host)
	s, south := member(t, a, "north"), member(t, a, "south")
	siteEnd, serverEnd := s.Certificate().NotAfter, a.ServerCertificate().NotAfter
	serverAsSite := pin(t, s, host)
	serverAsSite.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return &tls.Certificate{Certificate: [][]byte{a.ServerCertificate().Raw}, PrivateKey: a.serverKey()}, nil
	}
	for name, c := range map[string]struct {
		server, client *tls.Config
		onServer       bool // who must refuse
	}{
		"wrong host":            {at(a.ServerTLS(), start), pin(t, s, "other.example.org"), false},
		"server expired":        {at(a.ServerTLS(), start), at(pin(t, s, host), serverEnd.Add(time.Second)), false},
		"a site as coordinator": {chainTLS(south.key(), south.Certificate(), a.CA()), pin(t, s, host), false},
		"site expired":          {at(a.ServerTLS(), siteEnd.Add(time.Second)), pin(t, s, host), true},
		"site not yet":          {at(a.ServerTLS(), start.Add(-2*time.Hour)), pin(t, s, host), true},
		"a server as site":      {at(a.ServerTLS(), start), serverAsSite, true},
	} {
		clientErr, serverErr := dial(t, c.server, c.client, hello)
		if clientErr == nil || serverErr == nil {
			t.Errorf("%s: client %v, server %v", name, clientErr, serverErr)
		}
		refuser := clientErr
		if c.onServer {
			refuser = serverErr
		}
		if _, remote := errors.AsType[*net.OpError](refuser); remote || errors.Is(refuser, io.EOF) || errors.Is(refuser, io.ErrClosedPipe) {
			t.Errorf("%s: refused by the wrong side: %v", name, refuser)
		}
	}
}

// A certificate under our CA for client authentication that names no site is
// refused in the handshake, whatever the services check later.
func TestServerRefusesNamelessCertificate(t *testing.T) {
	a, s := newAuthority(t, "covey.example.org"), newSite(t)
	cert, err := issueClient(a.CA(), a.caKey(), RoleSite, "Not A Name", identity(&Holder{identity: s.key}), start)
	if err != nil {
		t.Fatal(err)
	}
	s.joined.Store(&membership{"x", cert, []*x509.Certificate{a.CA()}})
	_, serverErr := dial(t, at(a.ServerTLS(), start), pin(t, s, "covey.example.org"), hello)
	if e := must.As[*CertificateError](t, serverErr); e.Reason != "the certificate names no site and no analyst" {
		t.Fatal(e)
	}
}

func TestOnlyTLS13(t *testing.T) {
	a := newAuthority(t, "covey.example.org")
	s := member(t, a, "north")
	for _, join := range []bool{true, false} {
		make := func() *tls.Config {
			if join {
				return at(JoinTLS(a.Fingerprint(), "covey.example.org"), start)
			}
			return pin(t, s, "covey.example.org")
		}
		old := make()
		old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		if _, serverErr := dial(t, at(a.ServerTLS(), start), old, hello); serverErr == nil {
			t.Error("the server takes TLS 1.2")
		}
		server := at(a.ServerTLS(), start)
		server.MinVersion, server.MaxVersion, server.GetConfigForClient = tls.VersionTLS12, tls.VersionTLS12, nil
		if clientErr, _ := dial(t, server, make(), hello); clientErr == nil {
			t.Error("the client takes TLS 1.2")
		}
	}
}

// A renewal, on either side, is in the next handshake of configurations in use.
func TestRenewalsAreLive(t *testing.T) {
	const host = "covey.example.org"
	a := newAuthority(t, host)
	s := member(t, a, "north")
	server, client := a.ServerTLS(), pin(t, s, host)
	client.ClientSessionCache = tls.NewLRUClientSessionCache(4)
	now := a.ServerCertificate().NotAfter.Add(-29 * days) // also past the site's end
	at(server, now)
	at(client, now)
	if _, serverErr := dial(t, server, client, hello); serverErr == nil {
		t.Fatal("the site's certificate has ended")
	}
	if renewed, err := a.RenewServer([]string{host}, now); err != nil || !renewed {
		t.Fatal(renewed, err)
	}
	if err := s.SaveCertificate(issue(t, a, s, "north", now), nil, now); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds no session of the first to resume
		clientErr, serverErr := dial(t, server, client, func(c *tls.Conn) error {
			if state := c.ConnectionState(); !state.PeerCertificates[0].Equal(s.Certificate()) || state.DidResume {
				t.Error("an old certificate or session is in use")
			}
			return hello(c)
		})
		if clientErr != nil || serverErr != nil {
			t.Fatal(clientErr, serverErr)
		}
	}
	c := pin(t, s, host)
	c.VerifyConnection = func(state tls.ConnectionState) error {
		if !state.PeerCertificates[0].Equal(a.ServerCertificate()) {
			t.Error("the server's old certificate is in use")
		}
		return nil
	}
	if clientErr, serverErr := dial(t, server, at(c, now), hello); clientErr != nil || serverErr != nil {
		t.Fatal(clientErr, serverErr)
	}
}

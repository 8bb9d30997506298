package doctor

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/enroll"
	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/wire"
)

// probe reaches one coordinator as the agent would, step by step, and stops at the first step that
// fails: name, proxy, TCP, TLS, and one call, which tells the clock and the versions. safe demands
// a quantum-safe key exchange.
func probe(ctx context.Context, site *pki.Holder, address string, safe bool, options []grpc.DialOption) []Finding {
	p := &probing{ctx: ctx, site: site, address: address, safe: safe}
	conn := p.reach()
	if conn == nil {
		return p.out
	}
	defer conn.Close()
	if p.handshake(conn) {
		p.call(options)
	}
	return p.out
}

type probing struct {
	ctx     context.Context
	site    *pki.Holder
	address string
	safe    bool
	out     []Finding
}

// config is the agent's own.
func (p *probing) config() (*tls.Config, error) {
	c, err := p.site.ClientTLS(enroll.ServerName(p.address))
	if err == nil && p.safe {
		pki.DemandQuantumSafe(c)
	}
	return c, err
}

func (p *probing) add(code Code, what, detail string, err error) bool {
	p.out = append(p.out, found(code, what+" "+p.address, detail, err))
	return err == nil
}

// reach opens a connection, by way of the proxy that the environment names, as gRPC does.
func (p *probing) reach() net.Conn {
	host := enroll.ServerName(p.address)
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: p.address}})
	if err != nil {
		// it may hold a password
		p.add(CheckProxy, "proxy for", "", &enroll.DialError{Addresses: []string{p.address}, Err: errors.New("HTTPS_PROXY is not the address of a proxy")})
		return nil
	}
	if proxy != nil {
		return p.connect(proxy)
	}
	if net.ParseIP(host) == nil {
		found, err := net.DefaultResolver.LookupHost(p.ctx, host)
		if !p.add(CheckName, "name of", strings.Join(found, ", "), err) {
			return nil
		}
	}
	conn, err := new(net.Dialer).DialContext(p.ctx, "tcp", p.address)
	if !p.add(tcpCode(err), "TCP to", "open", err) {
		return nil
	}
	return conn
}

func tcpCode(err error) Code {
	switch at, ok := errors.AsType[net.Error](err); {
	case errors.Is(err, syscall.ECONNREFUSED):
		return CheckRefused
	case ok && at.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return CheckTimeout
	}
	return CheckTCP
}

// connect asks a proxy for a tunnel. The proxy resolves the name.
func (p *probing) connect(proxy *url.URL) net.Conn {
	at := proxy.Host
	if proxy.Port() == "" {
		at = net.JoinHostPort(proxy.Hostname(), map[string]string{"https": "443"}[proxy.Scheme]+map[string]string{"http": "80"}[proxy.Scheme])
	}
	const what = "proxy for"
	conn, err := new(net.Dialer).DialContext(p.ctx, "tcp", at)
	if err != nil {
		p.add(CheckProxy, what, "", err)
		return nil
	}
	if deadline, ok := p.ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Host: p.address}, Host: p.address, Header: http.Header{}}
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	reader := bufio.NewReader(conn)
	err = request.Write(conn)
	var answer *http.Response
	if err == nil {
		answer, err = http.ReadResponse(reader, request)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%s does not answer as a proxy", at)
		p.add(CheckProxy, what, "", err)
	case answer.StatusCode == http.StatusProxyAuthRequired:
		err = fmt.Errorf("%s requires a login", at)
		p.add(CheckProxyAuth, what, "", err)
	case answer.StatusCode != http.StatusOK:
		err = fmt.Errorf("%s refuses the tunnel with %d", at, answer.StatusCode)
		p.add(CheckProxyRefused, what, "", err)
	}
	if err != nil {
		conn.Close()
		return nil
	}
	conn.SetDeadline(time.Time{})
	p.add(CheckProxy, what, "a tunnel through "+at, nil)
	return conn
}

// handshake is the agent's own, with its certificate; a failure is told apart by what was shown.
func (p *probing) handshake(conn net.Conn) bool {
	config, err := p.config()
	if err != nil {
		return p.add(CheckTLS, "TLS with", "", err)
	}
	config.NextProtos = []string{"h2"}
	c := tls.Client(conn, config)
	err = c.HandshakeContext(p.ctx)
	if err == nil {
		ca := p.site.Authorities()[0]
		p.add(CheckTLS, "TLS with", fmt.Sprintf("answers over TLS with the pinned CA %s…", pki.CAFingerprint(ca)[:19]), nil)
		exchange := pki.KeyExchangeOf(c.ConnectionState())
		p.add(CheckKeyExchange, "key exchange with", exchange.String(), nil)
		if line := &p.out[len(p.out)-1]; exchange.Weak() {
			line.Warning, line.Do = true, remedies[CheckKeyExchange]
		}
		return true
	}
	code, err := p.tlsFault(pki.ExplainAlert(err))
	return p.add(code, "TLS with", "", err)
}

// tlsFault says what a failed handshake means.
func (p *probing) tlsFault(err error) (Code, error) {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return CheckNotTLS, errors.New("what answers there does not speak TLS")
	}
	if _, ok := errors.AsType[*pki.KeyExchangeError](err); ok {
		return CheckKeyExchange, &enroll.HandshakeError{Err: err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return CheckTLS, errors.New("no answer to the TLS handshake in time")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return CheckTLS, errors.New("the connection was cut off in the TLS handshake")
	}
	shown, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok || len(shown.UnverifiedCertificates) == 0 {
		return CheckTLS, &enroll.HandshakeError{Err: err}
	}
	chain := shown.UnverifiedCertificates
	leaf, last := chain[0], chain[len(chain)-1]
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		now := time.Now()
		if now.Before(leaf.NotBefore) {
			return CheckClockBehind, fmt.Errorf("this machine's clock says %s, and the coordinator's certificate is valid from %s", stamp(now), stamp(leaf.NotBefore))
		}
		return CheckServerEnded, fmt.Errorf("the coordinator's certificate ended %s, and this machine's clock says %s", stamp(leaf.NotAfter), stamp(now))
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		names := append([]string{}, leaf.DNSNames...)
		for _, ip := range leaf.IPAddresses {
			names = append(names, ip.String())
		}
		return CheckWrongName, fmt.Errorf("the coordinator's certificate is for %q, not %q", names, enroll.ServerName(p.address))
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); !ok {
		return CheckTLS, &enroll.HandshakeError{Err: err}
	}
	// A coordinator shows its CA last. What opens TLS may copy the leaf's name, and shows its own
	// CA.
	if last.IsCA && (strings.HasPrefix(last.Subject.CommonName, pki.CAName) || bytes.Equal(last.RawSubject, p.site.Issuer().RawSubject)) {
		return CheckWrongCA, &enroll.HandshakeError{Err: &pki.WrongCAError{Want: pki.CAFingerprint(p.site.Authorities()[0]), Got: pki.CAFingerprint(last)}}
	}
	return CheckInspected, fmt.Errorf("the certificate that is shown was issued by %q, which is not the federation's CA: something on the way inspects TLS, or this is not a coordinator", leaf.Issuer.String())
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// maxSkew is how far clocks may be apart before certificates that are new are not good yet.
const maxSkew = 5 * time.Minute

// call asks the coordinator how this site stands: by the agent's own way, gRPC and its proxy
// included.
func (p *probing) call(options []grpc.DialOption) {
	config, err := p.config()
	if err != nil {
		p.add(CheckTLS, "TLS with", "", err)
		return
	}
	seen := enroll.NewHandshake(config)
	conn, err := grpc.NewClient(p.address, append(enroll.DialOptions(pki.RoleSite, seen), options...)...)
	if err != nil {
		p.add(CheckNoAnswer, "coordinator", "", err)
		return
	}
	defer conn.Close()
	issuer := sha256.Sum256(p.site.Issuer().Raw)
	before := time.Now()
	s, err := wire.CallStanding(p.ctx, conn, issuer[:])
	if err != nil {
		err = seen.Explain(err)
		code := CheckNoAnswer
		_, version := errors.AsType[*enroll.VersionError](err)
		_, refused := errors.AsType[*enroll.HandshakeError](err)
		switch c := status.Code(err); {
		case version:
			code = CheckVersion
		case enroll.CertificateEnded(err) && time.Now().Before(p.site.Certificate().NotAfter):
			p.add(CheckClock, "coordinator", "", fmt.Errorf("the coordinator refuses this site's certificate as expired, and by this machine's clock it lasts until %s", stamp(p.site.Certificate().NotAfter)))
			return
		case refused, c == codes.PermissionDenied, c == codes.Unauthenticated:
			code = CheckRefusedSite
		case c == codes.Unimplemented:
			code = CheckVersion
		}
		p.add(code, "coordinator", "", &enroll.DialError{Addresses: []string{p.address}, Err: err})
		return
	}
	after := time.Now()
	p.add(CheckNoAnswer, "coordinator", "accepts this site's certificate", nil)
	p.add(CheckVersion, "versions with", fmt.Sprintf("agent %s, coordinator %s", enroll.Software, frame.Word(s.Software)), nil)
	// The coordinator's moment lies between ours.
	skew := max(before.Sub(s.Clock), s.Clock.Sub(after), 0)
	err = nil
	if skew > maxSkew {
		err = fmt.Errorf("this machine's clock and the coordinator's are %v apart", skew.Round(time.Second))
	}
	p.add(CheckClock, "clock against", fmt.Sprintf("%v apart at most", (skew+after.Sub(before)).Round(time.Millisecond)), err)
}

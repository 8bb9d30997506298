package pki

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"
)

const (
	caValidity     = 10 * 365 * 24 * time.Hour
	serverValidity = 365 * 24 * time.Hour
	nodeValidity   = 24 * time.Hour // a node issues it to itself, in memory
	// skew is how far a peer's clock may be behind.
	skew = time.Hour
)

// ClientValidity is how long a certificate of a site or an analyst is good from when it is issued,
// renewals included.
const ClientValidity = 90 * 24 * time.Hour

// newCA makes the self-signed certificate. It can sign leaves and no other CA.
func newCA(key ed25519.PrivateKey, name string, now time.Time) (*x509.Certificate, error) {
	t := template(now, now.Add(caValidity))
	t.Subject = pkix.Name{CommonName: name}
	t.IsCA = true
	t.BasicConstraintsValid = true
	t.MaxPathLenZero = true
	t.KeyUsage = x509.KeyUsageCertSign
	return create(t, t, key.Public().(ed25519.PublicKey), key)
}

// ServerName is the common name of every coordinator's certificate for its sites, CAName how that
// of each CA begins that we make.
const (
	ServerName = "covey coordinator"
	CAName     = "covey CA"
)

// issueServer makes a certificate for hosts. It names no site, so it passes for none.
func issueServer(ca *x509.Certificate, caKey crypto.Signer, key ed25519.PrivateKey, hosts []string, now time.Time) (*x509.Certificate, error) {
	t, err := leaf(ca, now, serverValidity)
	if err != nil {
		return nil, err
	}
	t.Subject = pkix.Name{CommonName: ServerName}
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	return create(t, ca, key.Public().(ed25519.PublicKey), caKey)
}

// issueClient makes a certificate that is good for dialling and not for answering: its holder
// cannot pass for the coordinator.
func issueClient(ca *x509.Certificate, caKey crypto.Signer, role Role, name string, pub ed25519.PublicKey, now time.Time) (*x509.Certificate, error) {
	t, err := leaf(ca, now, ClientValidity)
	if err != nil {
		return nil, err
	}
	t.Subject = pkix.Name{CommonName: name}
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	t.URIs = []*url.URL{{Scheme: "covey", Host: string(role), Path: "/" + name}}
	return create(t, ca, pub, caKey)
}

// leaf is a certificate's frame: it does not outlive the CA.
func leaf(ca *x509.Certificate, now time.Time, validity time.Duration) (*x509.Certificate, error) {
	if !now.Before(ca.NotAfter) {
		return nil, &CertificateError{Reason: fmt.Sprintf("the certificate cannot be issued: the CA ended on %s by this machine's clock. Set the clock if it is wrong; if it is right, the CA can still be replaced, and nothing is lost: operations.md, when certificates end",
			ca.NotAfter.UTC().Format(time.DateOnly))}
	}
	end := now.Add(validity)
	if end.After(ca.NotAfter) {
		end = ca.NotAfter
	}
	t := template(now, end)
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.BasicConstraintsValid = true
	return t, nil
}

func template(now, end time.Time) *x509.Certificate {
	var serial [16]byte
	rand.Read(serial[:])              // never fails (crypto/rand)
	serial[0] = serial[0]&0x7f | 0x40 // positive, and always 16 bytes
	return &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial[:]),
		NotBefore:    now.Add(-skew),
		NotAfter:     end,
	}
}

func create(t, parent *x509.Certificate, pub crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, t, parent, pub, key)
	if err != nil {
		return nil, &CertificateError{"the certificate cannot be made", err}
	}
	return x509.ParseCertificate(der)
}

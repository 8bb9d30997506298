package pki

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"path/filepath"
	"time"
)

// minOwn is how long an organization's own CA must be good for still.
const minOwn = 90 * 24 * time.Hour

// minRSA bounds a CA's RSA key.
const minRSA = 2048

// InitOwn is [Init] under a CA that an organization brings: its certificate and key in PEM, the key
// in PKCS #8, Ed25519, ECDSA or RSA of 2048 bits and more. The CA may be one under another: sites
// pin this certificate and look no higher. Before anything is written it is tried: it must be able
// to sign what a federation needs for hosts, under its own limits (name constraints, usages). Both
// are copied into dir; agents trust nothing but this CA, so it should be one for this purpose
// alone. Errors: [*FileError], [*ModeError], and Init's.
func InitOwn(dir, certFile, keyFile string, hosts []string, now time.Time) error {
	cert, err := readCertificate(certFile)
	if err != nil {
		return err
	}
	key, err := readKey(keyFile)
	if err != nil {
		return err
	}
	refuse := func(reason string, err error) error { return &FileError{certFile, reason, err} }
	switch rsaKey, isRSA := key().(*rsa.PrivateKey); {
	case !matches(cert, key()):
		return refuse("is not the certificate of "+filepath.Base(keyFile), nil)
	case !cert.IsCA || !cert.BasicConstraintsValid:
		return refuse("is not a CA's certificate (basic constraints)", nil)
	case cert.KeyUsage != 0 && cert.KeyUsage&x509.KeyUsageCertSign == 0:
		return refuse("may not sign certificates (key usage)", nil)
	case now.Before(cert.NotBefore):
		return refuse("is good from "+cert.NotBefore.UTC().Format(time.RFC3339), nil)
	case cert.NotAfter.Sub(now) < minOwn:
		return refuse("ends "+cert.NotAfter.UTC().Format(time.DateOnly)+": a CA must be good for at least 90 more days", nil)
	case isRSA && rsaKey.N.BitLen() < minRSA:
		return refuse("has an RSA key of under 2048 bits", nil)
	}
	if err := tryOwn(pair{cert, key}, hosts, now); err != nil {
		return refuse("cannot sign what a federation needs: "+err.Error(), err)
	}
	own, err := NewNodeKey()
	if err != nil {
		return err
	}
	return initWith(dir, pair{cert, key}, own, nil, hosts, now)
}

// tryOwn signs a server's and a site's certificate and verifies them as agents and coordinators
// will.
func tryOwn(ca pair, hosts []string, now time.Time) error {
	hosts, err := serverHosts(hosts)
	if err != nil {
		return err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	server, err := issueServer(ca.cert, ca.key(), key, hosts, now)
	if err != nil {
		return err
	}
	site, err := issueClient(ca.cert, ca.key(), RoleSite, "a-site", key.Public().(ed25519.PublicKey), now)
	if err != nil {
		return err
	}
	for _, host := range hosts {
		if _, err := server.Verify(x509.VerifyOptions{Roots: pool(ca.cert), DNSName: host, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err != nil {
			return err
		}
	}
	_, err = site.Verify(x509.VerifyOptions{Roots: pool(ca.cert), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err
}

package pki

import (
	"crypto/x509"
	"testing"
)

// TestRolesAreApart: a certificate is good for the one role that it was issued for.
func TestRolesAreApart(t *testing.T) {
	a := newAuthority(t)
	for _, role := range []Role{RoleSite, RoleAnalyst} {
		for _, other := range []Role{RoleSite, RoleAnalyst} {
			dir := t.TempDir()
			if err := NewKeys(dir); err != nil {
				t.Fatal(err)
			}
			h, err := LoadHolder(other, dir)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := a.Issue(role, "ada", request(t, h, "ada"), start)
			if err != nil {
				t.Fatal(err)
			}
			cert, err := parseCertificate(raw)
			if err != nil {
				t.Fatal(err)
			}
			if got, name, err := RoleOf(cert); err != nil || got != role || name != "ada" {
				t.Errorf("%s: %s %q, %v", role, got, name, err)
			}
			if _, err := siteName(cert); (err == nil) != (role == RoleSite) {
				t.Errorf("%s: siteName: %v", role, err)
			}
			err = h.SaveCertificate(raw, pemOf(a.CA()), start)
			if (err == nil) != (role == other) {
				t.Errorf("a holder of role %s takes a certificate of role %s: %v", other, role, err)
			}
			if err != nil {
				continue
			}
			for _, as := range []Role{RoleSite, RoleAnalyst} {
				if _, err := LoadHolder(as, dir); (err == nil) != (as == role) {
					t.Errorf("a folder of role %s loads as %s: %v", role, as, err)
				}
			}
		}
	}
}

func pemOf(c *x509.Certificate) []byte { return certificatePEM(c.Raw) }

// siteName returns the site of a certificate. Another role's is an error.
func siteName(cert *x509.Certificate) (string, error) {
	role, name, err := RoleOf(cert)
	if err == nil && role != RoleSite {
		err = &CertificateError{Reason: "the certificate names no site"}
	}
	return name, err
}

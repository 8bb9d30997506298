package secagg

import "fmt"

// ConfigError is a setup that cannot be: it names the parameter and the bound.
type ConfigError struct{ Reason string }

func (e *ConfigError) Error() string { return "secagg: " + e.Reason }

func configError(format string, args ...any) error { return &ConfigError{fmt.Sprintf(format, args...)} }

// SiteError is a message of one site that fails a check.
type SiteError struct {
	Site int
	Err  error
}

func (e *SiteError) Error() string { return fmt.Sprintf("secagg: site %d: %v", e.Site, e.Err) }
func (e *SiteError) Unwrap() error { return e.Err }

func siteError(site int, format string, args ...any) error {
	return &SiteError{site, fmt.Errorf(format, args...)}
}

// CertificateError is a certificate with too few valid signatures.
type CertificateError struct{ Have, Need int }

func (e *CertificateError) Error() string {
	return fmt.Sprintf("secagg: the certificate has %d valid signatures, %d are needed", e.Have, e.Need)
}

// NotReadyError is an opening with too few helpers.
type NotReadyError struct{ Have, Need int }

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("secagg: %d sites have sent shares, %d are needed", e.Have, e.Need)
}

// BodyError is an opening that needs a dealer's body to find out whose share is wrong.
type BodyError struct{ Dealer int }

func (e *BodyError) Error() string {
	return fmt.Sprintf("secagg: the commitments of site %d are needed to find a wrong share", e.Dealer)
}

package secagg

import (
	"errors"
	"fmt"
)

// ConfigError is a setup that cannot be: it names the parameter and the bound.
type ConfigError struct{ Reason string }

func (e *ConfigError) Error() string { return "secagg: " + e.Reason }

func configError(format string, args ...any) error { return &ConfigError{fmt.Sprintf(format, args...)} }

// ofGraph is an error of the graph's numbers, or of a survivor set, as one of the setup.
func ofGraph(err error) error {
	if err == nil {
		return nil
	}
	return &ConfigError{err.Error()}
}

// SiteError is a message of one site that fails a check.
type SiteError struct {
	Site int
	Err  error
}

func (e *SiteError) Error() string { return fmt.Sprintf("secagg: site %d: %v", e.Site, e.Err) }
func (e *SiteError) Unwrap() error { return e.Err }

func siteError(site int, reason string) error { return &SiteError{site, errors.New(reason)} }

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

// RelayError is a message about a site that is not that site's own: whoever relayed it is at fault,
// and nobody else is named.
type RelayError struct {
	Site   int
	Reason string
}

func (e *RelayError) Error() string {
	return fmt.Sprintf("secagg: what was relayed of site %d: %s", e.Site, e.Reason)
}

// ProofsError is an opening in which a dealer's secret does not fit: the helpers whose shares made
// it have to prove them (Setup.Proof, Opening.AddProof).
type ProofsError struct {
	Dealer  int
	Helpers []int
}

func (e *ProofsError) Error() string {
	return fmt.Sprintf("secagg: the opened secret of site %d is not the one committed to; %d sites have to prove their shares", e.Dealer, len(e.Helpers))
}

// KeysError is an opening that needs survivors' keys of their pairs with missing sites (Setup.Keys,
// Opening.AddKeys).
type KeysError struct{ From []int }

func (e *KeysError) Error() string {
	return fmt.Sprintf("secagg: keys of pairs are needed of %d survivors", len(e.From))
}

// TagsError is an opening that needs the tags of these owners, which are not at hand (Kept).
type TagsError struct{ Owners []int }

func (e *TagsError) Error() string {
	return fmt.Sprintf("secagg: the tags of %d sites are needed", len(e.Owners))
}

// DealerError is a survivor that committed to another secret than it shared: its sum cannot be
// opened.
type DealerError struct{ Site int }

func (e *DealerError) Error() string {
	return fmt.Sprintf("secagg: site %d shared another secret than it committed to", e.Site)
}

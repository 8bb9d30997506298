package membership

import "covey/internal/pki"

// The steps of a change of CAs, in their order (internal/pki).
const (
	CANext    = "next"    // both are trusted from here on
	CAPromote = "promote" // the next one signs
	CARetire  = "retire"  // the old one is no longer trusted
)

// CAEntry is one step. Keys are never in the log.
type CAEntry struct {
	Step    string      `json:"step"`
	Present pki.Voucher `json:"present,omitzero"` // with CANext: the CA that is to be replaced
	Next    pki.Voucher `json:"next,omitzero"`    // with CANext
}

// Authorities are the federation's CAs as the log has them; without a Present it never changed one.
type Authorities struct {
	Present pki.Voucher `json:"present,omitzero"`
	Next    pki.Voucher `json:"next,omitzero"`
	Old     pki.Voucher `json:"old,omitzero"`
}

// CAError is a step that does not follow.
type CAError struct{ Reason string }

func (e *CAError) Error() string { return e.Reason }

// Has reports whether there is a voucher.
func Has(v pki.Voucher) bool { return len(v.Certificate) > 0 }

// Step takes one.
func (a *Authorities) Step(e CAEntry) error {
	switch {
	case e.Step == CANext && !Has(a.Next) && !Has(a.Old):
		a.Present, a.Next = e.Present, e.Next
	case e.Step == CAPromote && Has(a.Next):
		a.Present, a.Next, a.Old = a.Next, pki.Voucher{}, a.Present
	case e.Step == CARetire && Has(a.Old):
		a.Old = pki.Voucher{}
	default:
		return &CAError{"the change of CAs is not at that step"}
	}
	return nil
}

// All returns those that are in force, the one that certificates are renewed under first.
func (a Authorities) All() []pki.Voucher {
	var out []pki.Voucher
	for _, v := range []pki.Voucher{a.Next, a.Present, a.Old} {
		if Has(v) {
			out = append(out, v)
		}
	}
	return out
}

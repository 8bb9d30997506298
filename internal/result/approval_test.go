package result

import (
	"testing"

	"covey/test/texts"
)

// TestVerifyApprovals: a result shows all sites' approvals of its digest.
func TestVerifyApprovals(t *testing.T) {
	p, body, signed := course(t, public, nil)
	e := evidenceOf(t, p, signed)
	all := e.Approvals
	r := made(t, p, body, signed)
	if v, err := Verify(file(t, r)); err != nil || !v.Approved {
		t.Fatalf("%+v, %v", v, err)
	}
	for name, wrong := range map[string][]Blob{"one fewer": all[:4], "one twice": append(append([]Blob{}, all[:4]...), all[3]), "none": nil} {
		r.Approvals = wrong
		refuses(t, file(t, r), "approvals", -1)
		e.Approvals = wrong
		if _, err := Sign(p, body, signed, e, texts.Signer); err == nil {
			t.Errorf("a result is made with approvals that do not check: %s", name)
		}
	}
}

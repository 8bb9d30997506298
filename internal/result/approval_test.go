package result

import (
	"testing"

	"covey/test/texts"
)

// TestVerifyApprovals: a result shows all sites' approvals of its digest.
func TestVerifyApprovals(t *testing.T) {
	p, body, signed := course(t, public, nil)
	all := approvalsOf(p)
	r, err := Sign(body, signed, texts.Signer, all...)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(file(t, r)); err != nil || !v.Approved {
		t.Fatalf("%+v, %v", v, err)
	}
	r.Approvals = all[:4]
	reseal(t, r)
	refuses(t, file(t, r), "approvals", -1)
	r.Approvals = append(append([]Blob{}, all[:4]...), all[3])
	reseal(t, r)
	refuses(t, file(t, r), "approvals", -1)
	if _, err := Sign(body, signed, texts.Signer, all[1:]...); err == nil {
		t.Error("a result is made with approvals that do not check")
	}
	r.Approvals = nil
	reseal(t, r)
	refuses(t, file(t, r), "approvals", -1)
	if _, err := Sign(body, signed, texts.Signer); err == nil {
		t.Error("a result is made without approvals")
	}
}

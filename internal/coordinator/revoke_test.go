package coordinator

import (
	"errors"
	"testing"
	"testing/synctest"
)

// TestRevokeEndsTheStream at once, and no other site's.
func TestRevokeEndsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		if err := f.c.Revoke("site-1"); err != nil {
			t.Fatal(err)
		}
		for i, s := range f.sites {
			over := false
			select {
			case <-s.link.done:
				over = errors.Is(s.link.why, errRevoked)
			default:
			}
			if over != (i == 1) {
				t.Errorf("%s: its stream is over: %v", s.name, over)
			}
		}
		if err := f.c.Revoke("nobody"); err == nil {
			t.Error("a site that is not there is revoked")
		}
	})
}

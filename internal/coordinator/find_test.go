package coordinator

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"covey/internal/proposal"
)

// TestAbortNamesADigest: a study is ended by its whole digest alone; its name and the beginning of
// its digest are for reading.
func TestAbortNamesADigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		whole, name := f.plan.Digest.String(), f.plan.Proposal.Spec.Name
		abort := func(ref string) int {
			w := httptest.NewRecorder()
			Operator(f.c, func() []string { return nil }).ServeHTTP(w, httptest.NewRequest("POST", "/v1/studies/"+ref+"/abort", nil))
			return w.Code
		}
		for _, ref := range []string{name, whole[:12], whole[:63], proposal.Digest{1}.String()} {
			if code := abort(ref); code != http.StatusBadRequest {
				t.Errorf("aborting %q: status %d", ref, code)
			}
		}
		for _, ref := range []string{name, whole[:4], whole} {
			if d, err := f.c.Find(ref); err != nil || d != f.plan.Digest {
				t.Errorf("finding %q: %v, %v", ref, d, err)
			}
		}
		if f.state().Terminal() {
			t.Fatal("the study is over")
		}
		if code := abort(whole); code != http.StatusOK || !f.state().Terminal() {
			t.Errorf("aborting the digest: status %d", code)
		}
	})
}

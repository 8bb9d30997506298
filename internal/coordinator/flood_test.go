package coordinator

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestRepeatedRefusalsTellNothing: a site's refusal counts as a change once, and what it says of
// the chain is logged once a link (LIM-6).
func TestRepeatedRefusalsTellNothing(t *testing.T) {
	for code, level := range map[study.Code]string{study.CodeBrokenChain: "level=ERROR", study.CodeStore: "level=WARN"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFederation(t, 4, func(s *proposal.Spec) { s.Rounds = 2 })
			defer func() { f.c.Close() }()
			f.pump(func() bool { return f.view().Status == round.StatusRunning })
			f.logs.Reset()
			changed := 0
			for link := range 2 {
				for range 20 {
					no := wire.Refusal{Header: wire.Header{Study: f.plan.Digest, Query: f.view().Query}, Code: code}
					if err := f.c.receive(f.sites[3].link, no); err != nil {
						t.Fatal(err)
					}
					if f.sites[3].link.changed {
						changed++
					}
				}
				if changed != link+1 {
					t.Errorf("%s: %d of %d messages changed something, want one a link at most", code, changed, (link+1)*20)
				}
				f.drop(3)
				f.connect(3)
			}
			if n := strings.Count(f.logs.String(), level); n != 2 {
				t.Errorf("%s: %d lines of %s on two links", code, n, level)
			}
		})
	}
}

// TestUnsignedResultIsAFault: a result that this coordinator did not sign is a fault each time, and
// changes nothing.
func TestUnsignedResultIsAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 4, func(s *proposal.Spec) { s.Rounds = 2 })
		defer func() { f.c.Close() }()
		f.pump(func() bool { return f.view().Status == round.StatusRunning })
		no := wire.Refusal{Header: wire.Header{Study: f.plan.Digest, Query: f.view().Query}, Code: study.CodeFinal,
			Final: &wire.Final{Header: wire.Header{Study: f.plan.Digest}, Encoded: []byte(`{}`), Signature: make([]byte, 64)}}
		for range 3 {
			if err := f.c.receive(f.sites[3].link, no); err != nil || f.sites[3].link.changed {
				t.Fatal(err, f.sites[3].link.changed)
			}
		}
		if got, of := f.view().Faults, (outline.Fault{Site: "site-3", Code: study.CodeFinal}); !slices.Equal(got, []outline.Fault{of, of, of}) {
			t.Errorf("%+v", got)
		}
	})
}

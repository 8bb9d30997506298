package study

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"regexp"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// many returns a roster of n sites of 100 units.
func many(n int) []proposal.Member {
	out := make([]proposal.Member, n)
	for i := range out {
		key := make([]byte, ed25519.PublicKeySize)
		key[0], key[1] = byte(i), byte(i>>8)
		out[i] = proposal.Member{Name: fmt.Sprintf("site-%d", i), Identity: key, Units: 100}
	}
	return out
}

func proposeMany(t *testing.T, n int, change func(*proposal.Spec)) ([]byte, error) {
	t.Helper()
	spec, err := proposal.ParseSpec([]byte(texts.Minimal))
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&spec)
	}
	return proposal.Propose(spec, many(n), make([]byte, ed25519.PublicKeySize), [32]byte{})
}

// TestGraphOfAProposal: a proposal of more than 64 sites holds the graph's numbers, found for its
// corrupt sites and dropouts, and who plans from it checks that they are safe; a smaller one holds
// none.
func TestGraphOfAProposal(t *testing.T) {
	body, err := proposeMany(t, proposal.MaxComplete, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := NewPlan(body); err != nil || p.Thresholds.Sparse() || p.Proposal.Graph != nil || p.Thresholds.Holders != proposal.MaxComplete ||
		p.Thresholds.Threshold != p.Thresholds.Quorum || p.Setup().Sparse.Holders != 0 {
		t.Fatalf("64 sites: %+v, %v", p.Thresholds, err)
	}
	body, err = proposeMany(t, 200, func(s *proposal.Spec) { s.Corrupt = 10 })
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	th := p.Thresholds
	if !th.Sparse() || th.Corrupt != 10 || th.Holders >= 100 || th.Threshold > th.Holders || 2*th.Threshold <= th.Holders+1 || th.MinNeighbors < 1 {
		t.Fatalf("200 sites: %+v", th)
	}
	if err := p.Setup().Sparse.Validate(); err != nil {
		t.Fatal(err)
	}
	// Numbers that are not safe, or are not there, are refused by whoever reads them.
	for name, change := range map[string]func([]byte) []byte{
		"threshold": func(b []byte) []byte { return less(b, "threshold") },
		"neighbors": func(b []byte) []byte { return less(b, "min_neighbors") },
		"no graph":  func(b []byte) []byte { return regexp.MustCompile(`(?m)^\[graph\]\n(.*\n){4}`).ReplaceAll(b, nil) },
	} {
		changed := change(bytes.Clone(body))
		if bytes.Equal(changed, body) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := NewPlan(changed); err == nil {
			t.Errorf("%s: an unsafe graph was accepted", name)
		}
	}
	// More dropouts than the numbers can bear are the proposer's to hear of.
	if _, err := proposeMany(t, 66, func(s *proposal.Spec) { s.Dropout = 0.4 }); err == nil {
		t.Error("66 sites of which 26 drop out have no numbers")
	}
	if _, err := proposeMany(t, 70, func(s *proposal.Spec) { s.Corrupt = 69 }); err == nil {
		t.Error("69 corrupt sites of 70")
	}
}

// less takes one off a number of the proposal.
func less(body []byte, key string) []byte {
	return regexp.MustCompile(key+` = \d+`).ReplaceAllFunc(body, func(b []byte) []byte {
		var v int
		fmt.Sscanf(string(b), key+" = %d", &v)
		return fmt.Appendf(nil, "%s = %d", key, v-1)
	})
}

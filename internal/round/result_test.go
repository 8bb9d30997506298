package round

import (
	"slices"
	"strings"
	"testing"

	"covey/internal/study"
	"covey/internal/wire"
)

// TestResultIsDraftedThenSigned: R23. The result's draft is in the log before a site is asked, the
// first one stays, and with as many signatures as a certificate has the study is completed: no site
// is waited for beyond them, and before them none is told so.
func TestResultIsDraftedThenSigned(t *testing.T) {
	h := newHarness(t, 5, nil) // four sign
	h.mute["attest"] = true
	h.run()
	h.want(StatusSigning)
	if h.drafts != 1 || len(h.attests()) != 5 || !slices.Equal(h.state.WaitingFor(), []int{0, 1, 2, 3, 4}) {
		t.Fatalf("%d drafts, asked %v, waiting for %v", h.drafts, h.attests(), h.state.WaitingFor())
	}
	if _, err := h.state.Step(Committed{h.state.NewDrafted([]byte("another"))}); err == nil || strings.HasPrefix(string(h.state.Draft), "another") {
		t.Fatal("a second draft is taken")
	}
	no := func(site int, code study.Code, lacks int) {
		h.event(Refused{Site: site, Code: code, Lacks: lacks})
		h.run()
	}
	no(1, study.CodeSecondResult, 0)
	no(2, study.CodeFinal, 0) // a late answer about a query
	for _, i := range []int{0, 2, 3} {
		h.event(Attested{i, []byte("attestation")})
	}
	h.run()
	h.want(StatusSigning)
	if h.state.Unsigned(1) != study.CodeSecondResult || h.state.Unsigned(2) != "" || !slices.Equal(h.state.WaitingFor(), []int{1, 4}) {
		t.Fatalf("%q, %q, waiting for %v", h.state.Unsigned(1), h.state.Unsigned(2), h.state.WaitingFor())
	}
	// A site that lacks releases is told them, one at a time, and asked again.
	before := len(h.attests())
	no(4, study.CodeOutOfOrder, 1)
	no(4, study.CodeOutOfOrder, 2)
	if got := len(h.attests()) - before; got != 2 {
		t.Fatalf("asked %d times more", got)
	}
	// A new leader makes no other draft; on a new link the site that refused is asked again.
	h.crash()
	h.run()
	h.want(StatusSigning)
	if h.drafts != 1 || h.state.Unsigned(1) != "" {
		t.Fatalf("%d drafts", h.drafts)
	}
	for _, i := range []int{4, 3, 0, 2} {
		h.event(Attested{i, []byte("attestation")})
	}
	h.run()
	h.want(StatusCompleted)
	if h.state.Code != study.CodeCompleted || count(h.state.Attestations) != 4 || h.state.WaitingFor() != nil {
		t.Fatalf("%s, %d signatures, waiting for %v", h.state.Code, count(h.state.Attestations), h.state.WaitingFor())
	}
}

// attests are the questions for signatures on the result so far.
func (h *harness) attests() (out []string) {
	for _, asked := range h.asked {
		if strings.HasPrefix(asked, "attest ") {
			out = append(out, asked)
		}
	}
	return out
}

// TestResultWaitsForNobodyTooMany: sites that never come back hold a result up no longer than they
// must, and a study that is not signed can be ended.
func TestResultWaitsForNobodyTooMany(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["attest"] = true
	h.run()
	h.down[4] = true
	h.event(Disconnected{4})
	h.mute["attest"] = false
	h.crash()
	h.run()
	h.want(StatusCompleted)

	h = newHarness(t, 5, nil)
	h.mute["attest"] = true
	h.run()
	h.commit(Entry{Kind: EntryEnded, Code: study.CodeAborted})
	h.run()
	h.want(StatusEnded)
	told := leader{h.state}.prompts()
	if slices.ContainsFunc(told, func(e Effect) bool { _, asks := e.(Send).Message.(wire.Attest); return asks }) {
		t.Error("a signature is asked for after the end")
	}
}

package agent

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"covey/internal/egress"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/proposals"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
	"covey/test/port"
)

// Of internal/control, which only the tests outside this package can import.
var (
	Serve      func(context.Context, *Agent) (func() error, error)
	Handler    func(*Agent) http.Handler
	SocketPath func(dir string) (string, error)
)

// failure is the socket's answer to what fails.
type failure struct {
	Error string
	Bad   bool `json:"bad_input"`
}

// TestOperator decides over the socket and checks that the word reaches the
// coordinator on the open link.
func TestOperator(t *testing.T) {
	s := port.New(t)
	config, dir := joined(t, s)
	a, err := New(Options{Config: config, Control: Serve})
	if err != nil {
		t.Fatal(err)
	}
	body := proposed(t, s, a, 1)
	id := proposal.DigestOf(body)
	ctx, cancel := context.WithCancel(port.Bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	l := <-s.Links
	l.Receive(t)
	l.Send(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: body}}})
	if d := l.Receive(t).GetDecision(); d.GetVerdict() != covey.Verdict_VERDICT_PENDING {
		t.Fatalf("decision %v", d)
	}
	if kept, err := proposals.ReadFile(filepath.Join(dir, "pending", id.String()+".toml.gz")); err != nil || string(kept) != string(body) {
		t.Errorf("pending file: %v", err)
	}

	socket, err := SocketPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", info, err)
	}
	call := operator(ctx, t, socket)
	var detail StudyDetail
	call("GET", "/v1/studies/"+id.String()[:8], http.StatusOK, &detail)
	if detail.State != statePending || detail.Digest != id || len(detail.Roster) != 2 || !detail.Roster[0].Self || detail.Roster[1].Self ||
		detail.Budget == nil || !detail.Budget.Fits || len(detail.Privacy) == 0 || len(detail.Policy) == 0 || len(detail.Warnings) == 0 {
		t.Errorf("study %+v", detail)
	}
	uploads := 0
	for _, p := range detail.Leaves {
		if p.Kind == "upload" {
			uploads += p.Bytes
		}
	}
	if masked := detail.Plan.Queries[0].Bytes; uploads < masked+32 || uploads > masked+50 {
		t.Errorf("%d bytes of uploads shown, the plan has %d masked", uploads, masked)
	}
	call("POST", "/v1/studies/none/approve", http.StatusBadRequest, &failure{})
	call("POST", "/v1/studies/"+id.String()+"/approve", http.StatusOK, &detail)
	if detail.State != string(ledger.Approved) || detail.By != "operator" || detail.Budget.ReservedRho != 0 {
		t.Errorf("after approval: %+v, budget %+v", detail.StudyView, detail.Budget)
	}
	if d := l.Receive(t).GetDecision(); d.GetVerdict() != covey.Verdict_VERDICT_APPROVED || string(d.GetStudy()) != string(id[:]) {
		t.Errorf("decision %v", d)
	}
	var book LedgerReply
	call("GET", "/v1/ledger", http.StatusOK, &book)
	if p := book.Populations[0]; p.ReservedRho != detail.Rho || p.CapRho != 1 || math.Abs(p.LeftRho-(1-detail.Rho)) > 1e-15 {
		t.Errorf("ledger %+v", book)
	}
	var st Status
	call("GET", "/v1/status", http.StatusOK, &st)
	if !st.Linked || st.Site != "alpha" || st.Approved != 1 || st.Pending != 0 || st.DaysLeft < 80 {
		t.Errorf("status %+v", st)
	}
	var all []StudyView
	call("POST", "/v1/studies/"+id.String()+"/reject", http.StatusOK, &StudyView{})
	call("GET", "/v1/studies", http.StatusOK, &all)
	if len(all) != 1 || all[0].State != string(ledger.Finished) {
		t.Errorf("studies %+v", all)
	}
	call("GET", "/v1/studies/"+id.String(), http.StatusOK, &detail)
	if detail.State != string(ledger.Finished) || detail.Code != string(study.CodeWithdrawn) {
		t.Errorf("after leaving: %+v", detail.StudyView)
	}
	if d := l.Receive(t).GetDecision(); d.GetCode() != covey.Code_CODE_WITHDRAWN || d.GetVerdict() != covey.Verdict_VERDICT_REJECTED {
		t.Errorf("after leaving: %v", d)
	}
	call("POST", "/v1/studies/"+id.String()+"/approve", http.StatusBadRequest, &failure{})
	var out egress.Reply
	call("GET", "/v1/egress", http.StatusOK, &out)
	if len(out.Studies) != 1 || out.Studies[0].Sent["decision"].Messages != 3 {
		t.Errorf("egress %+v", out)
	}
	cancel()
	<-ran
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket outlives the agent")
	}
}

// proposed makes a proposal to a and one other site.
func proposed(t *testing.T, s *port.Server, a *Agent, nonce byte) []byte {
	t.Helper()
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := proposal.Propose(proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   "s", Dataset: "rows", Epsilon: 0.5, Delta: 1e-6, Rounds: 1, Radius: "1", ExplainedVariance: proposal.VarianceNone,
		Columns: []proposal.Column{{Name: "x", Scale: 1}, {Name: "y", Scale: 1}},
	}, []proposal.Member{
		{Name: "alpha", Identity: proposal.Key(a.identity.Public().(ed25519.PublicKey)), Units: 3},
		{Name: "beta", Identity: proposal.Key(other), Units: 3},
	}, s.Authority.SigningKey().Public().(ed25519.PublicKey), [32]byte{nonce})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// operator calls an agent's socket.
func operator(ctx context.Context, t *testing.T, socket string) func(method, path string, code int, into any) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	return func(method, path string, code int, into any) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, "http://agent"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		if got.StatusCode != code {
			t.Errorf("%s %s: %s, want %d", method, path, got.Status, code)
		}
		if err := json.NewDecoder(got.Body).Decode(into); err != nil {
			t.Error(err)
		}
	}
}

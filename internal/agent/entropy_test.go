package agent

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/status"

	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
	"covey/test/port"
	"covey/test/site"
)

// entropyDir is in the environment of the process of TestNoEntropyNoAnnouncement, which is this
// test binary: the agent's folder.
const entropyDir = "COVEY_TEST_ENTROPY_FOLDER"

// failing is a random source that has run dry.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("no entropy") }

// TestMain is this package's, so that the process of this test runs nothing else.
func TestMain(m *testing.M) {
	if dir := os.Getenv(entropyDir); dir != "" {
		runAgentUntilDry(dir)
		os.Exit(0)
	}
	site.InMemory()
	os.Exit(m.Run())
}

// runAgentUntilDry runs the agent of a folder; a line on stdin takes its random source away.
func runAgentUntilDry(dir string) {
	config, err := siteconfig.Read(dir)
	if err == nil {
		var a *Agent
		if a, err = New(Options{Config: config}); err == nil {
			go func() {
				bufio.NewReader(os.Stdin).ReadString('\n')
				// no call of ours is under way: the test asks for nothing meanwhile
				rand.Reader = failing{}
				fmt.Println("dry")
			}()
			err = a.Run(context.Background())
		}
	}
	fmt.Println("went on:", err)
}

// TestNoEntropyNoAnnouncement takes the random source from an agent, a process of its own on a real
// link, after it has approved a study and before it is asked for its keys, from which masks and its
// share of the noise come too. It ends; its link carries nothing more, its ledger holds neither
// seed nor announcement, and its egress log no further line.
func TestNoEntropyNoAnnouncement(t *testing.T) {
	s, ctx := port.New(t), port.Bounded(t)
	// The link's one call beside the stream is written down before it is made, after the hello or
	// much later: the log is read, and the source taken away, once it has come.
	asked := make(chan struct{})
	once := sync.OnceFunc(func() { close(asked) })
	s.Stands = func(*covey.StandingRequest) (*covey.StandingResponse, error) {
		once()
		return &covey.StandingResponse{UnixNanoseconds: time.Now().UnixNano(), Software: "a stand-in",
			Authorities: []*covey.Authority{{Certificate: s.Authority.CertificatePEM()}}}, nil
	}
	_, dir := joined(t, s)
	site, err := pki.LoadHolder(pki.RoleSite, dir)
	if err != nil {
		t.Fatal(err)
	}
	roster := []proposal.Member{{Name: "alpha", Identity: proposal.Key(site.Identity().Public().(ed25519.PublicKey)), Units: testUnits}}
	var peers []string
	for _, name := range []string{"beta", "gamma"} {
		public, _, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		roster = append(roster, proposal.Member{Name: name, Identity: proposal.Key(public), Units: testUnits})
		peers = append(peers, fmt.Sprintf("%s = %q", name, pki.Fingerprint(public)))
	}
	rows := "x,y\n" + strings.Repeat("1,2\n3,4\n", testUnits/2)
	config := fmt.Sprintf("site = \"alpha\"\ncoordinator = [%q]\n[[population]]\nname = \"p\"\nbudget = { epsilon = 1.3, delta = 1e-6 }\n"+
		"[[dataset]]\nname = \"rows\"\npath = \"rows.csv\"\npopulation = \"p\"\n[policy]\npeers = { %s }\n%s", s.Address, strings.Join(peers, ", "), autoPolicy)
	for name, text := range map[string]string{"rows.csv": rows, siteconfig.File: config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	body, err := proposal.Propose(proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   "dry", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Rounds: 2, Radius: "4", ExplainedVariance: proposal.VarianceNone, Noise: proposal.NoiseDistributed,
		Columns: []proposal.Column{{Name: "x", Scale: 1}, {Name: "y", Scale: 1}},
	}, roster, s.Authority.SigningKey().Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}

	c := exec.CommandContext(ctx, os.Args[0])
	c.Env = append(os.Environ(), entropyDir+"="+dir)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var trace bytes.Buffer
	c.Stderr = &trace
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var l *port.ServerLink
	select {
	case l = <-s.Links:
	case <-ctx.Done():
		t.Fatalf("no link: %s", trace.String())
	}
	l.Receive(t)
	l.Send(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: body}}})
	if d := l.Receive(t).GetDecision(); d.GetVerdict() != covey.Verdict_VERDICT_APPROVED {
		t.Fatalf("decision %v", d)
	}
	select {
	case <-asked:
	case <-ctx.Done():
		t.Fatalf("it does not ask which CAs are in force: %s", trace.String())
	}
	sent, err := os.ReadFile(filepath.Join(dir, "egress.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(in, "\n")
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "dry\n" {
		t.Fatalf("%q, %v: %s", line, err, trace.String())
	}
	l.Send(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: plan.Digest[:]}}})
	if m, err := l.Stream.Recv(); err == nil {
		t.Errorf("after its entropy had failed it sent %d bytes", len(m.GetFrame().GetData()))
	} else if ctx.Err() != nil {
		t.Fatalf("the agent goes on: %v", status.Convert(err))
	}
	rest, _ := io.ReadAll(out)
	err = c.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); !ok || len(rest) > 0 || !strings.Contains(trace.String(), "failed to read random data") ||
		!strings.Contains(trace.String(), "secagg.NewSecrets") {
		t.Errorf("the agent ended with %v, said %q and %.3000s", err, rest, trace.String())
	}
	if after, err := os.ReadFile(filepath.Join(dir, "egress.jsonl")); err != nil || !bytes.Equal(after, sent) {
		t.Errorf("the egress log has %d bytes more (%v)", len(after)-len(sent), err)
	}
	book, err := ledger.Open(filepath.Join(dir, "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	for _, kind := range []string{ledger.SetupSecrets, ledger.SetupAnnouncement} {
		if _, ok, err := book.Journal(plan.Digest).Setup(kind); ok || err != nil {
			t.Errorf("the ledger holds the %s (%v)", kind, err)
		}
	}
}

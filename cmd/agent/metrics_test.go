package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/agent"
	"covey/internal/egress"
	"covey/internal/limits"
	"covey/internal/pki"
)

// quiet is an agent as the metrics see it.
type quiet struct {
	broken, safe bool
	unknown      bool // the coordinator's clock
}

func (q quiet) Status() (agent.Status, error) {
	if q.broken {
		return agent.Status{}, errors.New("the disk failed")
	}
	ahead := new(int64(-400))
	if q.unknown {
		ahead = nil
	}
	return agent.Status{Site: "bay", Linked: true, KeyExchange: pki.KeyExchange{Group: "X25519MLKEM768", QuantumSafe: q.safe}, Expires: time.Unix(1_800_000_000, 0), ClockAhead: ahead, Pending: 2, Approved: 1}, nil
}

func (quiet) Ledger() agent.LedgerReply {
	return agent.LedgerReply{Populations: []limits.Population{{Name: "patients", CapRho: 0.5, SpentRho: 0.125, ReservedRho: 0.25, LeftRho: 0.125}}}
}

func (quiet) Egress() egress.Reply {
	return egress.Reply{Link: map[string]egress.Count{"hello": {Messages: 2, Bytes: 80}}, Studies: []egress.Study{
		{Sent: map[string]egress.Count{"upload": {Messages: 3, Bytes: 300}}}, {Sent: map[string]egress.Count{"upload": {Messages: 1, Bytes: 100}}}}}
}

func scrape(h http.Handler, host, path string) (int, string) {
	r := httptest.NewRequest("GET", path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestMetrics: what is served, to whom, and that docs/metrics.md says so.
func TestMetrics(t *testing.T) {
	h := metricsHandler(quiet{}, []string{"bay.example"})
	code, text := scrape(h, "127.0.0.1:7481", "/metrics")
	if code != http.StatusOK {
		t.Fatal(code)
	}
	for _, want := range []string{
		"covey_agent_linked 1", "covey_agent_link_quantum_safe 0", "covey_agent_certificate_end_timestamp_seconds 1.8e+09", "covey_agent_clock_ahead_seconds -400", "covey_agent_studies_pending 2", "covey_agent_studies_approved 1",
		`covey_agent_population_rho{population="patients",what="left"} 0.125`, `covey_agent_egress_messages_total{kind="upload"} 4`, `covey_agent_egress_bytes_total{kind="upload"} 400`,
		`covey_agent_egress_bytes_total{kind="hello"} 80`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	for host, want := range map[string]int{"localhost:1": 200, "10.1.2.3:7481": 200, "[::1]": 200, "bay.example:7481": 200, "evil.example": 421, "": 421} {
		if code, _ := scrape(h, host, "/metrics"); code != want {
			t.Errorf("Host %q: %d", host, code)
		}
	}
	if code, _ := scrape(h, "localhost", "/"); code != http.StatusNotFound {
		t.Errorf("something else is served: %d", code)
	}
	if _, text := scrape(metricsHandler(quiet{safe: true}, nil), "localhost", "/metrics"); !strings.Contains(text, "covey_agent_link_quantum_safe 1\n") {
		t.Error("a quantum-safe link is not counted as one")
	}
	if _, text := scrape(metricsHandler(quiet{unknown: true}, nil), "localhost", "/metrics"); strings.Contains(text, "clock_ahead") || !strings.Contains(text, "covey_agent_linked 1\n") {
		t.Error("a clock that nobody compared is said to be right")
	}
	if code, text := scrape(metricsHandler(quiet{broken: true}, nil), "localhost", "/metrics"); code != http.StatusOK || strings.Contains(text, "covey_agent_linked") {
		t.Errorf("without a status: %d", code)
	}
	docs, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if name, kind, ok := strings.Cut(strings.TrimPrefix(line, "# TYPE "), " "); ok && strings.HasPrefix(name, "covey_") && strings.HasPrefix(line, "# TYPE ") {
			if !regexp.MustCompile("\\|`"+name+"[`{]").Match(docs) || (kind == "counter") != strings.HasSuffix(name, "_total") {
				t.Errorf("docs/metrics.md has no %s %s", kind, name)
			}
		}
	}
}

// TestMetricsEnd: with the agent.
func TestMetricsEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serveMetrics(ctx, l, metricsHandler(quiet{}, nil)) }()
	answer, err := http.Get("http://" + l.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// silent is a listener with callers that wait to be taken, and say nothing.
type silent chan net.Conn

func (s silent) Accept() (net.Conn, error) {
	if c, ok := <-s; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (s silent) Close() error { close(s); return nil }
func (silent) Addr() net.Addr { return &net.TCPAddr{} }

// TestSilentScrapers: connections that say nothing take no more than a bounded part of the
// process's file descriptors.
func TestSilentScrapers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		callers := make(silent, maxScrapers+10)
		for range cap(callers) {
			here, there := net.Pipe()
			defer here.Close()
			callers <- there
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- serveMetrics(ctx, callers, metricsHandler(quiet{}, nil)) }()
		synctest.Wait()
		if left := len(callers); left != 10 {
			t.Errorf("%d of %d callers wait, want 10", left, cap(callers))
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		for there := range callers {
			there.Close()
		}
	})
}

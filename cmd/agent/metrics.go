package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"covey/internal/agent"
	"covey/internal/egress"
)

// The metrics of an agent: docs/metrics.md. None says anything about rows but how many
// bytes left, which `agent egress` says too.
var (
	mLinked     = describe("linked", "1 while linked to a coordinator.")
	mSafe       = describe("link_quantum_safe", "1 while that link is quantum-safe.")
	mEnd        = describe("certificate_end_timestamp_seconds", "End of the site's certificate.")
	mClock      = describe("clock_ahead_seconds", "By how much this machine's clock is ahead of the coordinator's, once a link has told; less than 0 if behind.")
	mPending    = describe("studies_pending", "Proposals that await the site's operator.")
	mApproved   = describe("studies_approved", "Approved studies that are not over.")
	mBudget     = describe("population_rho", "ρ of a population's budget: cap, spent, reserved, left.", "population", "what")
	mMessages   = describe("egress_messages_total", "Messages that left, over all runs.", "kind")
	mBytes      = describe("egress_bytes_total", "Bytes that left, over all runs.", "kind")
	agentSeries = []*prometheus.Desc{mLinked, mSafe, mEnd, mClock, mPending, mApproved, mBudget, mMessages, mBytes}
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("covey_agent_"+name, help, labels, nil)
}

// shown is what the metrics read of an agent.
type shown interface {
	Status() (agent.Status, error)
	Ledger() agent.LedgerReply
	Egress() egress.Reply
}

// collector reads the agent when it is scraped.
type collector struct{ a shown }

// Describe is prometheus.Collector's.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range agentSeries {
		out <- d
	}
}

// Collect is prometheus.Collector's.
func (c collector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if s, err := c.a.Status(); err == nil {
		linked, safe := 0.0, 0.0
		if s.Linked {
			linked = 1
		}
		if s.KeyExchange.QuantumSafe {
			safe = 1
		}
		gauge(mLinked, linked)
		gauge(mSafe, safe)
		gauge(mEnd, float64(s.Expires.Unix()))
		if s.ClockAhead != nil {
			gauge(mClock, float64(*s.ClockAhead))
		}
		gauge(mPending, float64(s.Pending))
		gauge(mApproved, float64(s.Approved))
	}
	for _, p := range c.a.Ledger().Populations {
		for what, rho := range map[string]float64{"cap": p.CapRho, "spent": p.SpentRho, "reserved": p.ReservedRho, "left": p.LeftRho} {
			gauge(mBudget, rho, p.Name, what)
		}
	}
	e := c.a.Egress()
	total := map[string]egress.Count{}
	add := func(counts map[string]egress.Count) {
		for kind, n := range counts {
			sum := total[kind]
			total[kind] = egress.Count{Messages: sum.Messages + n.Messages, Bytes: sum.Bytes + n.Bytes}
		}
	}
	add(e.Link)
	for _, s := range e.Studies {
		add(s.Sent)
	}
	for kind, n := range total {
		out <- prometheus.MustNewConstMetric(mMessages, prometheus.CounterValue, float64(n.Messages), kind)
		out <- prometheus.MustNewConstMetric(mBytes, prometheus.CounterValue, float64(n.Bytes), kind)
	}
}

// metricsHandler serves /metrics and nothing else, to those who ask for it by an
// address or a name that was given: a page elsewhere cannot rebind an address.
func metricsHandler(a shown, names []string) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(collector{a}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	known := map[string]bool{"localhost": true}
	for _, n := range names {
		known[strings.ToLower(n)] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		host = strings.ToLower(strings.Trim(host, "[]"))
		if net.ParseIP(host) == nil && !known[host] {
			http.Error(w, "this name is not configured: --metrics-host", http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

// maxScrapers bounds the connections to the metrics. Anyone who reaches their port can hold them
// without a word, and each takes a file descriptor from the ledger, whose first error ends the
// agent.
const maxScrapers = 64

// serveMetrics serves them until ctx ends.
func serveMetrics(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.Serve(netutil.LimitListener(l, maxScrapers)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

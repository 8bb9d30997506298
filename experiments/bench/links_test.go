package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"covey/experiments/bench/delay"
	"covey/experiments/bench/plain"
	"covey/experiments/bench/table"
	"covey/internal/proposal"
	"covey/test/fed"
)

// mode is one way of running a study.
type mode struct{ dropout, noise string }

var modes = []mode{
	{proposal.DropoutWait, proposal.NoiseCentral}, {proposal.DropoutContinue, proposal.NoiseCentral},
	{proposal.DropoutWait, proposal.NoiseDistributed}, {proposal.DropoutContinue, proposal.NoiseDistributed},
}

// BenchmarkLinks measures studies whose sites connect through a proxy that delivers every byte
// later by a one-way delay; bandwidth is not limited. query-ms is the median query, from its being
// open to its release's commit, and trips is the time beyond that without a delay over twice the
// delay. up-kB/query is all that a site sends, setup, TLS and all, over the number of queries.
// Folders are in memory, so that fsyncs do not blur the trips.
func BenchmarkLinks(b *testing.B) {
	s := shape{sites: 5, rows: 1000, d: 64, k: 1, rounds: 4}
	delays := []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond}
	if testing.Short() {
		s, delays = shape{sites: 3, rows: 50, d: 4, k: 1, rounds: 1}, []time.Duration{0, 5 * time.Millisecond}
	}
	here := map[mode]time.Duration{} // the median query without a delay
	for _, oneWay := range delays {
		b.Run(fmt.Sprintf("delay=%v", oneWay), func(b *testing.B) {
			l := newLinked(b, s, fed.InMemory(b), oneWay)
			for _, m := range modes {
				b.Run(fmt.Sprintf("on_dropout=%s/noise=%s", m.dropout, m.noise), func(b *testing.B) {
					var queries, setups []time.Duration
					var up int64
					for b.Loop() {
						t, sent := l.study(b, s, m)
						queries, setups, up = append(queries, t.queries...), append(setups, t.setup), up+sent
					}
					query := median(queries)
					b.ReportMetric(ms(query), "query-ms")
					b.ReportMetric(ms(median(setups)), "setup-ms")
					b.ReportMetric(float64(up)/float64(len(queries)*s.sites)/1000, "up-kB/query")
					if oneWay == 0 {
						here[m] = query
					} else if base, ok := here[m]; ok {
						b.ReportMetric(float64(query-base)/float64(2*oneWay), "trips")
					}
				})
			}
		})
	}
}

// linked is a federation behind a proxy.
type linked struct {
	f     *fed.Federation
	proxy *delay.Proxy
}

func newLinked(t testing.TB, s shape, dir string, oneWay time.Duration) *linked {
	t.Helper()
	path := filepath.Join(dir, "rows.csv")
	if err := table.Write(path, s.rows, s.d, plain.Rows(s.d)); err != nil {
		t.Fatal(err)
	}
	l := &linked{}
	t.Cleanup(func() {
		if l.proxy != nil {
			l.proxy.Close()
		}
	})
	o := sites(s.sites, path)
	o.Reach = func(address string) (_ string, err error) {
		if l.proxy == nil {
			if l.proxy, err = delay.Listen(address, oneWay); err != nil {
				return "", err
			}
		}
		return l.proxy.Address(), nil
	}
	l.f = fed.Start(t, dir, o).Federation
	return l
}

// study runs one and returns the bytes that went to the coordinator.
func (l *linked) study(t testing.TB, s shape, m mode) (trace, int64) {
	t.Helper()
	spec := s.spec(time.Millisecond)
	spec.OnDropout, spec.Noise = m.dropout, m.noise
	before, _ := l.proxy.Bytes()
	spent, err := masked(l.f, spec)
	if err != nil {
		t.Fatal(err)
	}
	after, _ := l.proxy.Bytes()
	return spent.trace, after - before
}

// median returns the middle of v, or the earlier of the two in the middle.
func median(v []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(v))[(len(v)-1)/2]
}

// TestLinks: a query through the proxy cannot be quicker than its answer's trip, there and back,
// however slow the machine is.
func TestLinks(t *testing.T) {
	const oneWay = 30 * time.Millisecond
	s := shape{sites: 3, rows: 50, d: 4, k: 1, rounds: 1}
	l := newLinked(t, s, t.TempDir(), oneWay)
	for _, m := range modes {
		seen, up := l.study(t, s, m)
		if took := median(seen.queries); took < 2*oneWay || up == 0 {
			t.Errorf("%v: %v a query, %d bytes up", m, took, up)
		}
	}
}

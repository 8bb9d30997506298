// These benchmarks also run at an earlier commit (experiments/bench/masks): what they call is in
// both trees.

package bench

import (
	"fmt"
	"testing"
)

// size is a number of sites and the dimensions that a round of theirs is measured for.
type size struct {
	n    int
	dims []int
}

// sizes returns those of BenchmarkRound.
func sizes() (out []size) {
	if testing.Short() {
		return []size{{5, []int{200}}}
	}
	for _, n := range []int{5, 10, 50, 100, 500, 1000} {
		out = append(out, size{n, []int{1000, 10_000, 100_000}})
	}
	return append(out, size{10_000, []int{1000}})
}

// BenchmarkRound measures one agent's and the coordinator's part of one query, without and with a
// tenth of the sites missing. Everybody's messages are real, and the opened sum is compared with
// the true one. Metrics are processor time; shares holds the check of the certificate. The bound
// of up/bound is 1.1·d·b/8 + 6 kB, for b = 48.
func BenchmarkRound(b *testing.B) {
	const bits = 48
	for _, size := range sizes() {
		b.Run(fmt.Sprintf("N=%d", size.n), func(b *testing.B) {
			g, err := newGroup(size.n, 1)
			if err == nil {
				err = g.holdShares()
			}
			if err != nil {
				b.Fatal(err)
			}
			for _, d := range size.dims {
				for _, dropped := range []int{0, max(1, size.n/10)} {
					b.Run(fmt.Sprintf("d=%d/dropped=%d", d, dropped), func(b *testing.B) {
						r, err := g.aggregate(d, dropped, bits)
						if err != nil {
							b.Fatal(err)
						}
						t := times{}
						for b.Loop() {
							if err := r.run(t); err != nil {
								b.Fatal(err)
							}
						}
						report(b, t, "agent", agentParts)
						report(b, t, "coordinator", coordinatorParts)
						up := meanUp(r)
						b.ReportMetric(up, "up-B")
						b.ReportMetric(up/(1.1*float64(d)*bits/8+6000), "up/bound")
					})
				}
			}
		})
	}
}

// meanUp is bytesUp, over all helpers: on the sparse graph each holds another number of shares.
func meanUp(r *aggregation) float64 {
	all, sum := r.shares, 0
	for i := range all {
		r.shares = all[i : i+1]
		sum += r.bytesUp()
	}
	r.shares = all
	return float64(sum) / float64(len(all))
}

// BenchmarkSetup measures one agent's part of the setup of a study's slots. check is the
// coordinator's part too.
func BenchmarkSetup(b *testing.B) {
	slots, sizes := 20, []int{10, 100, 1000}
	if testing.Short() {
		slots, sizes = 2, []int{4}
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("N=%d/slots=%d", n, slots), func(b *testing.B) {
			g, err := newGroup(n, slots)
			if err != nil {
				b.Fatal(err)
			}
			t, up := times{}, 0
			for b.Loop() {
				if up, err = g.setUp(n-1, t); err != nil {
					b.Fatal(err)
				}
			}
			report(b, t, "agent", []string{"announce", "check", "deal", "receive"})
			b.ReportMetric(float64(up), "up-B")
		})
	}
}

// BenchmarkNoise measures what distributed noise adds to a round's time: an agent's draws, and the
// coordinator's of what it takes away again of all survivors'.
func BenchmarkNoise(b *testing.B) {
	sizes, d := []int{10, 100, 1000}, 1000
	if testing.Short() {
		sizes, d = []int{10}, 50
	}
	for _, n := range sizes {
		for _, dropped := range []int{0, n / 10} {
			b.Run(fmt.Sprintf("N=%d/d=%d/dropped=%d", n, d, dropped), func(b *testing.B) {
				p, err := newParts(n, d, dropped)
				if err != nil {
					b.Fatal(err)
				}
				t := times{}
				for b.Loop() {
					if err := p.run(t); err != nil {
						b.Fatal(err)
					}
				}
				report(b, t, "agent", []string{"draw"})
				report(b, t, "coordinator", []string{"remove"})
			})
		}
	}
}

// report reports the milliseconds of each part and of all together.
func report(b *testing.B, t times, whole string, parts []string) {
	for _, name := range parts {
		b.ReportMetric(ms(t[name])/float64(b.N), name+"-ms")
		t[whole] += t[name]
	}
	b.ReportMetric(ms(t[whole])/float64(b.N), whole+"-ms")
}

// TestRound: sums are opened and compared on both graphs, and an agent sends about as much as its
// upload is long.
func TestRound(t *testing.T) {
	sizes := []int{4}
	if !testing.Short() { // some seconds of processor time, many with the race detector
		sizes = append(sizes, 129)
	}
	for _, n := range sizes {
		g, err := newGroup(n, 1)
		if err == nil {
			err = g.holdShares()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, dropped := range []int{0, max(1, n/10)} {
			r, err := g.aggregate(50, dropped, 48)
			if err == nil {
				err = r.run(times{})
			}
			if err != nil {
				t.Fatal(err)
			}
			if up := r.bytesUp(); n == 4 && (up < 50*6+64+4*32 || up > 50*6+64+4*32+1500) {
				t.Errorf("%d bytes up", up)
			}
		}
	}
}

// TestWrongSum: an opened sum that is not the true one fails the measurement.
func TestWrongSum(t *testing.T) {
	g, err := newGroup(4, 1)
	if err == nil {
		err = g.holdShares()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.aggregate(10, 0, 48)
	if err != nil {
		t.Fatal(err)
	}
	r.uploads[2][0]++
	if err := r.run(times{}); err == nil {
		t.Error("a changed upload goes unseen")
	}
}

package secagg

import (
	"fmt"
	"testing"
)

// benchmarkGroup holds the shares of every site without boxes, whose checks would
// take longer at 64 sites than what is measured.
func benchmarkGroup(b *testing.B, n, slots int) *group {
	b.Helper()
	g := &group{}
	g.cfg, g.keys = testConfig(n, slots)
	for i, key := range g.keys {
		g.secrets = append(g.secrets, fixedSecrets(g.cfg, i))
		raw, err := Announce(g.cfg, i, g.secrets[i], key)
		if err != nil {
			b.Fatal(err)
		}
		g.sent = append(g.sent, raw)
	}
	var err error
	if g.setup, err = Verify(g.cfg, g.sent); err != nil {
		b.Fatal(err)
	}
	g.held = make([]Held, n)
	for to := range g.held {
		g.held[to] = make(Held, slots)
	}
	for dealer := range n {
		for to, held := range g.setup.dealt(dealer, g.secrets[dealer]) {
			for slot, h := range held {
				g.held[to][slot].m = append(g.held[to][slot].m, h.m[0])
				g.held[to][slot].b = append(g.held[to][slot].b, h.b[0])
			}
		}
	}
	return g
}

func benchmarkQuery(g *group) (q Query, u Survivors) {
	for i := range g.cfg.MinSurvivors { // the most sites missing
		u = append(u, i)
	}
	return Query{Context: labelled("benchmark"), Bits: 48, Lanes: 1000}, u
}

func BenchmarkMask(b *testing.B) {
	for _, n := range []int{5, 64} {
		b.Run(fmt.Sprintf("N=%d/d=1000", n), func(b *testing.B) {
			g := benchmarkGroup(b, n, 1)
			q, _ := benchmarkQuery(g)
			v := make([]uint64, q.Lanes)
			for b.Loop() {
				if err := g.setup.Mask(0, g.secrets[0].Slots[0], q, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpenShares is a helper's part: q signatures to check.
func BenchmarkOpenShares(b *testing.B) {
	for _, n := range []int{5, 64} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			g := benchmarkGroup(b, n, 1)
			q, u := benchmarkQuery(g)
			cert := g.certificate(b, q, u)
			for b.Loop() {
				if _, err := g.setup.OpenShares(0, g.held[0][0], q, u, cert); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAdd is the check of one helper's shares; an opening has q of them.
func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{5, 64} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			g := benchmarkGroup(b, n, 1)
			q, u := benchmarkQuery(g)
			message, err := g.setup.OpenShares(0, g.held[0][0], q, u, g.certificate(b, q, u))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				o, err := g.setup.NewOpening(q, u)
				if err != nil {
					b.Fatal(err)
				}
				if err := o.Add(0, message); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUnmask(b *testing.B) {
	for _, n := range []int{5, 64} {
		b.Run(fmt.Sprintf("N=%d/d=1000", n), func(b *testing.B) {
			g := benchmarkGroup(b, n, 1)
			q, u := benchmarkQuery(g)
			o, err := g.setup.NewOpening(q, u)
			if err != nil {
				b.Fatal(err)
			}
			cert := g.certificate(b, q, u)
			for i := range g.cfg.Quorum { // put in as Add does, its check measured above
				message, err := g.setup.OpenShares(i, g.held[i][0], q, u, cert)
				if err != nil {
					b.Fatal(err)
				}
				if o.shares[i], err = parseShares(message, g.setup.sharesHeader(i, q, u), n); err != nil {
					b.Fatal(err)
				}
			}
			sum := make([]uint64, q.Lanes)
			for b.Loop() {
				if err := o.Unmask(sum); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSetup is one site's Verify and Receive of 20 slots.
func BenchmarkSetup(b *testing.B) {
	for _, n := range []int{5, 16} {
		b.Run(fmt.Sprintf("N=%d/slots=20", n), func(b *testing.B) {
			g := newGroup(b, n, 20)
			for b.Loop() {
				s, err := Verify(g.cfg, g.sent)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Receive(0, g.secrets[0], g.boxesFor(0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

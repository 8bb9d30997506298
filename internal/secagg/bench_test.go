package secagg

import (
	"fmt"
	"testing"
)

// benchmarkGroup holds the shares of every site without boxes and their checks, and may be of
// more than MaxSites.
func benchmarkGroup(b *testing.B, n, slots int) *group {
	b.Helper()
	g := &group{}
	g.cfg, g.keys = testConfig(n, slots)
	for i, key := range g.keys {
		g.secrets = append(g.secrets, fixedSecrets(g.cfg, i))
		raw, err := g.cfg.announce(i, g.secrets[i], key)
		if err != nil {
			b.Fatal(err)
		}
		g.sent = append(g.sent, raw)
	}
	var err error
	if g.setup, err = newSetup(g.cfg, g.sent); err != nil {
		b.Fatal(err)
	}
	g.held = make([]Held, n)
	for to := range g.held {
		g.held[to] = make(Held, slots)
	}
	var everybody []int
	for i := range n {
		everybody = append(everybody, i)
	}
	for dealer := range n {
		for to, held := range g.setup.dealt(dealer, g.secrets[dealer], everybody...) {
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
	for _, n := range []int{5, 64, 100} {
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

// BenchmarkAgree and BenchmarkAgreedMask are the two parts of BenchmarkMask: before the query
// is known, and after.
func BenchmarkAgree(b *testing.B) {
	for _, n := range []int{5, 64, 100} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			g := benchmarkGroup(b, n, 1)
			for b.Loop() {
				if _, err := g.setup.Agree(0, 0, g.secrets[0].Slots[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAgreedMask(b *testing.B) {
	for _, n := range []int{5, 64, 100} {
		b.Run(fmt.Sprintf("N=%d/d=1000", n), func(b *testing.B) {
			g := benchmarkGroup(b, n, 1)
			q, _ := benchmarkQuery(g)
			a, err := g.setup.Agree(0, 0, g.secrets[0].Slots[0])
			if err != nil {
				b.Fatal(err)
			}
			v := make([]uint64, q.Lanes)
			for b.Loop() {
				if err := a.Mask(q, v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpening is a whole opening, q helpers' shares and the masks, with a tenth of the
// sites missing, side by side with the way before (old_test.go).
func BenchmarkOpening(b *testing.B) {
	for _, n := range []int{10, 64, 100} {
		g := benchmarkGroup(b, n, 1)
		q, _ := benchmarkQuery(g)
		var u Survivors
		for i := range n - n/10 {
			u = append(u, i)
		}
		cert := g.certificate(b, q, u)
		var helpers []int
		var messages [][]byte
		for i := range g.cfg.Quorum {
			helpers, messages = append(helpers, i), append(messages, g.shares(b, i, q, u, cert))
		}
		sum := make([]uint64, q.Lanes)
		ways := map[string]func(o *Opening) error{
			"old": func(o *Opening) error { return oldOpen(o, helpers, messages, sum) },
			"new": func(o *Opening) error {
				for at, i := range helpers {
					if err := o.Add(i, messages[at]); err != nil {
						return err
					}
				}
				return o.Unmask(sum)
			},
		}
		for _, way := range []string{"old", "new"} {
			b.Run(fmt.Sprintf("N=%d/d=1000/%s", n, way), func(b *testing.B) {
				for b.Loop() {
					o, err := g.setup.NewOpening(q, u)
					if err != nil {
						b.Fatal(err)
					}
					if err := ways[way](o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkSetup is one site's part after the announcements are in, Verify and Receive, side by
// side with the way before (old_test.go).
func BenchmarkSetup(b *testing.B) {
	for _, c := range []struct {
		n, slots int
		old      bool
	}{{5, 20, true}, {16, 20, true}, {100, 2, true}, {100, 20, false}} {
		cfg, keys := testConfig(c.n, c.slots)
		self := c.n - 1 // the last site's shares take the longest to check
		var sent [][]byte
		for i, key := range keys {
			raw, err := cfg.announce(i, fixedSecrets(cfg, i), key)
			if err != nil {
				b.Fatal(err)
			}
			sent = append(sent, raw)
		}
		s, err := newSetup(cfg, sent)
		if err != nil {
			b.Fatal(err)
		}
		boxes := make([][]byte, c.n)
		for dealer := range c.n {
			sec := fixedSecrets(cfg, dealer)
			if dealer == self {
				continue
			}
			if boxes[dealer], err = s.box(dealer, self, sec, s.dealt(dealer, sec, self+1)[0]); err != nil {
				b.Fatal(err)
			}
		}
		for _, way := range []struct {
			name    string
			verify  func(*Setup) error
			receive func(*Setup, int, Secrets, [][]byte) (Held, error)
			run     bool
		}{
			{"old", oldSubgroup, oldReceive, c.old},
			{"new", (*Setup).checkSubgroup, func(s *Setup, self int, sec Secrets, boxes [][]byte) (Held, error) {
				return s.Receive(self, sec, boxes, nil)
			}, true},
		} {
			if !way.run {
				continue
			}
			name := fmt.Sprintf("N=%d/slots=%d/%s", c.n, c.slots, way.name)
			b.Run("Verify/"+name, func(b *testing.B) {
				for b.Loop() {
					s, err := newSetup(cfg, sent)
					if err != nil {
						b.Fatal(err)
					}
					if err := way.verify(s); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("Receive/"+name, func(b *testing.B) {
				for b.Loop() {
					if _, err := way.receive(s, self, fixedSecrets(cfg, self), boxes); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

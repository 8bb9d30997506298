package responder

import (
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"covey/internal/chain"
	"covey/internal/chainwatch"
	"covey/internal/keyring"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
	"covey/test/texts"
)

// standIn is a study at its sites, each with a ledger of its own, as far as a confirmed setup.
// Responders are made of the first site alone, by respond.
type standIn struct {
	t      *testing.T
	body   []byte
	plan   *study.Plan
	keys   []ed25519.PrivateKey
	ledger *ledger.Ledger // of the first site
	ring   *keyring.Ring  // likewise
	setup  *secagg.Setup
	chain  chain.Log
	watch  *chainwatch.Watch
	work   sync.WaitGroup
}

// owner is the first site's study. Its rows all sum to 1.
type owner struct{ c *standIn }

func (o owner) Store(err error) study.Code {
	o.c.t.Errorf("the ledger refuses: %v", err)
	return study.CodeStore
}

func (o owner) RolledBack(_ wire.Message, evidence string) wire.Message {
	o.c.t.Errorf("rolled back: %s", evidence)
	return nil
}

func (o owner) Answered() {}

func (o owner) Beyond(sign string) { o.c.t.Error(sign) }

func (o owner) Pinned(ledger.Approval) study.Code { return "" }

func (o owner) Sum(ask study.Ask) ([]int64, error) {
	sum := make([]int64, o.c.plan.Queries[ask.Query].Values)
	for i := range sum {
		sum[i] = 1
	}
	return sum, nil
}

// newStandIn brings a study of n sites to its first query.
func newStandIn(t *testing.T, n int, onDropout string) *standIn {
	t.Helper()
	c := &standIn{t: t, keys: texts.Keys(n)}
	spec := must.Get(proposal.ParseSpec([]byte(texts.With(texts.Four, fmt.Sprintf("on_dropout = %q", onDropout)))))(t)
	c.body = must.Get(proposal.Propose(spec, texts.Roster(slices.Repeat([]int{1000}, n)...), texts.Signer.Public().(ed25519.PublicKey), [32]byte{1}))(t)
	c.plan = must.Get(study.NewPlan(c.body))(t)
	log := slog.New(slog.DiscardHandler)
	var rings []*keyring.Ring
	for i := range n {
		l := must.Get(ledger.Open(t.TempDir()))(t)
		t.Cleanup(func() { l.Close() })
		must.Do(t, l.Approve(ledger.Approval{Study: c.plan.Digest, Name: "four", Population: "people", Proposal: c.body, Rho: c.plan.Rho, CapRho: c.plan.Rho,
			By: ledger.ByOperator, Time: time.Unix(0, 0)}))
		rings = append(rings, keyring.New(c.plan, i, c.keys[i], l.Journal(c.plan.Digest), log, owner{c}))
		if i == 0 {
			c.ledger, c.ring = l, rings[0]
		}
	}
	c.confirm(rings)
	c.watch = chainwatch.New(c.ledger, log, func(err error) { t.Error(err) }, func() {})
	c.chain.Append(chain.Proposed(c.plan.Digest))
	c.shows()
	return c
}

// confirm runs the setup. Each site deals to all others, ascending.
func (c *standIn) confirm(rings []*keyring.Ring) {
	c.t.Helper()
	h := wire.Header{Study: c.plan.Digest}
	var all, signed [][]byte
	var dealt [][][]byte
	for _, ring := range rings {
		all = append(all, ring.Announce(wire.Announce{Header: h}).(wire.Announcement).Signed)
	}
	for _, ring := range rings {
		dealt = append(dealt, ring.Deal(wire.Deal{Header: h, Announcements: all}).(wire.Boxes).Boxes)
	}
	for i, ring := range rings {
		var mine [][]byte
		for from, boxes := range dealt {
			if from < i {
				mine = append(mine, boxes[i-1])
			} else if from > i {
				mine = append(mine, boxes[i])
			}
		}
		signed = append(signed, ring.Confirm(wire.Confirm{Header: h, Boxes: mine}).(wire.Confirmation).Signature)
	}
	if said := c.ring.Confirmed(wire.Confirmed{Header: h, Signatures: signed}); said != nil {
		c.t.Fatalf("the confirmations are answered with %+v", said)
	}
	if ready, err := c.ring.Ready(); err != nil || !ready {
		c.t.Fatalf("the setup is not ready: %v", err)
	}
	c.setup = c.ring.Setup
}

// shows begins a link's place in the chain and shows all that is new.
func (c *standIn) shows() {
	var h wire.Hello
	c.watch.Greet(&h)
	shown := chain.Signed{Head: c.chain.Head(), Base: c.chain.At(h.Chain.Number)}
	c.watch.Take(wire.Head{Shown: chain.Shown{Base: shown.Base, Steps: c.chain.Since(h.Chain.Number), Signature: ed25519.Sign(texts.Signer, shown.SigningInput())}})
}

// respond makes the first site's responder, as a process does that was just started.
func (c *standIn) respond() *Responder {
	return New(Options{Body: c.body, Plan: c.plan, Self: 0, Identity: c.keys[0], Ledger: c.ledger, Ring: c.ring, Chain: c.watch,
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Work: &c.work, Owner: owner{c}})
}

// ask makes the query at a course's place in a slot.
func (c *standIn) ask(course study.Course, slot int) study.Ask {
	c.t.Helper()
	return c.plan.Queries.Fill(must.Get(c.plan.NewAsk(course, slot))(c.t))
}

func (c *standIn) query(ask study.Ask) wire.Query { return wire.Query{Study: c.plan.Digest, Ask: ask} }

// everyone is U of all sites.
func (c *standIn) everyone() secagg.Survivors {
	u := make(secagg.Survivors, len(c.keys))
	for i := range u {
		u[i] = i
	}
	return u
}

// release makes a release of a query up, with the certificate of all sites.
func (c *standIn) release(ask study.Ask) (wire.Final, study.Release) {
	c.t.Helper()
	noised := make([]int64, c.plan.Queries[ask.Query].Values)
	for i := range noised {
		noised[i] = int64(1000 * (i + 1))
	}
	r := must.Get(c.plan.NewRelease(ask, c.everyone(), noised))(c.t)
	encoded := must.Get(r.Encode())(c.t)
	var signed [][]byte
	for i, key := range c.keys {
		signed = append(signed, must.Get(c.setup.SignRelease(i, key, c.plan.Summed(c.setup.Transcript(), ask), c.everyone()))(c.t))
	}
	return wire.Final{Header: wire.Header{Study: c.plan.Digest, Query: ask.Query, Slot: ask.Slot}, Encoded: encoded,
		Signature: ed25519.Sign(texts.Signer, study.SigningInput(encoded)), Certificate: c.setup.Pack(signed)}, r
}

// charged wants so much ρ to be spent.
func (c *standIn) charged(rho float64) {
	c.t.Helper()
	if p := c.ledger.Populations(); len(p) != 1 || p[0].SpentRho != rho {
		c.t.Errorf("%+v, want %v spent", p, rho)
	}
}

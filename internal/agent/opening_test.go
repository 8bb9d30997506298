package agent

import (
	"errors"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// shares brings five sites to the shares of the first query's sum without site 4, and returns the
// sum of the uploads in it and all shares.
func shares(t *testing.T) (c *standIn, q wire.Query, u []int, sum []uint64, sent [][]byte) {
	t.Helper()
	c, q = newFive(t, proposal.DropoutContinue)
	u = []int{0, 1, 2, 3}
	sq := c.secaggQuery(q)
	sum = make([]uint64, sq.Lanes)
	for i, s := range c.sites {
		up := want[wire.Upload](s, q)
		if i == 4 {
			continue
		}
		if err := secagg.SumPacked(sum, up.Masked, sq.Bits); err != nil {
			t.Fatal(err)
		}
	}
	certificate := c.certify(q, u)
	for _, s := range c.sites {
		sent = append(sent, want[wire.Shares](s, wire.Open{Header: c.at(q), Survivors: u, Certificate: certificate}).Shares)
	}
	return c, q, u, sum, sent
}

func (c *standIn) at(q wire.Query) wire.Header {
	return wire.Header{Study: c.plan.Digest, Query: q.Ask.Query, Slot: q.Ask.Slot}
}

// opening has all shares.
func (c *standIn) opening(q wire.Query, u []int, sent [][]byte) *secagg.Opening {
	c.t.Helper()
	o, err := c.setup.NewOpening(c.secaggQuery(q), u, c.kept)
	if err != nil {
		c.t.Fatal(err)
	}
	for i := range sent {
		if err := o.Add(i, sent[i]); err != nil {
			c.t.Fatal(err)
		}
	}
	return o
}

// exact compares an opened sum with the plain one.
func (c *standIn) exact(q wire.Query, u []int, sum []uint64) {
	c.t.Helper()
	for i, v := range c.plain(q, u) {
		if got := int64(sum[i]<<(64-c.plan.Bits)) >> (64 - c.plan.Bits); got != v {
			c.t.Fatalf("value %d is %d, plain %d", i, got, v)
		}
	}
}

// TestKeysStandInForDeposits: a sum without a site whose deposits are false, or lost, opens with
// the survivors' own keys of their pairs with it, and the false ones convict it.
func TestKeysStandInForDeposits(t *testing.T) {
	for name, deposit := range map[string]func([]byte) []byte{
		"false": func(d []byte) []byte { return flipped([][]byte{d}, 0, 3)[0] }, "lost": func([]byte) []byte { return nil },
	} {
		c, q, u, sum, sent := shares(t)
		c.kept.Deposits = with(c.kept.Deposits, 4, deposit(c.kept.Deposits[4]))
		o := c.opening(q, u, sent)
		needs := must.As[*secagg.KeysError](t, o.Unmask(slices.Clone(sum)))
		if len(needs.From) == 0 {
			t.Fatal("keys of nobody")
		}
		for _, i := range needs.From {
			s := c.sites[i]
			got := want[wire.PairKeys](s, wire.Keys{Header: c.at(q), Survivors: u})
			s.restart()
			refused(s, wire.Keys{Header: c.at(q), Survivors: u}, study.CodeOutOfOrder) // until it is asked the query again
			want[wire.Upload](s, q)
			same(t, "keys", got.Keys, want[wire.PairKeys](s, wire.Keys{Header: c.at(q), Survivors: u}).Keys)
			if err := o.AddKeys(i, got.Keys); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Unmask(sum); err != nil {
			t.Fatal(err)
		}
		c.exact(q, u, sum)
		if convicted := slices.Contains(o.Convicted(), 4); convicted != (name == "false") {
			t.Errorf("%s deposits: convicted %v", name, o.Convicted())
		}
	}
}

// TestProofsNameTheHelper: where a share is wrong, every helper proves its own, and the sum opens
// without the one that cannot.
func TestProofsNameTheHelper(t *testing.T) {
	c, q, u, sum, sent := shares(t)
	sent = flipped(sent, 1, -32*5) // site 1's share of site 0's secret
	o := c.opening(q, u, sent)
	needs := must.As[*secagg.ProofsError](t, o.Unmask(slices.Clone(sum)))
	if needs.Dealer != 0 || !slices.Contains(needs.Helpers, 1) {
		t.Fatalf("%+v", needs)
	}
	for _, i := range needs.Helpers {
		s := c.sites[i]
		ask := wire.Prove{Header: c.at(q), Survivors: u, Dealer: study.SeatOf(needs.Dealer)}
		got := want[wire.Proof](s, ask)
		if got.Dealer != ask.Dealer {
			t.Errorf("a proof about %d, asked about %d", got.Dealer, ask.Dealer)
		}
		s.restart()
		want[wire.Upload](s, q)
		same(t, "proof", got.Proof, want[wire.Proof](s, ask).Proof)
		err := o.AddProof(i, got.Proof)
		if at, ok := errors.AsType[*secagg.SiteError](err); ok != (i == 1) || ok && at.Site != 1 {
			t.Errorf("the proof of site %d: %v", i, err)
		}
	}
	if err := o.Unmask(sum); err != nil {
		t.Fatal(err)
	}
	c.exact(q, u, sum)
}

// TestNoKeysWithoutShares: KEYS and PROVE are answered for the query, slot, context and U of the
// shares that this site sent, while it would send those again, and keys only from inside U.
func TestNoKeysWithoutShares(t *testing.T) {
	both := func(c *standIn, q wire.Query, u []int) []wire.Message {
		return []wire.Message{wire.Keys{Header: c.at(q), Survivors: u}, wire.Prove{Header: c.at(q), Survivors: u, Dealer: 2}}
	}
	c, q := newFive(t, proposal.DropoutContinue)
	s, u := c.sites[0], []int{0, 1, 2, 3}
	none := func(code study.Code, u []int) {
		t.Helper()
		for _, r := range both(c, q, u) {
			refused(s, r, code)
		}
	}
	none(study.CodeOutOfOrder, u)
	for _, site := range c.sites {
		want[wire.Upload](site, q)
	}
	none(study.CodeOutOfOrder, u)
	certificate := c.certify(q, u)
	none(study.CodeOutOfOrder, u) // it signed, which opens nothing
	backup := s.backup()
	for _, site := range c.sites {
		want[wire.Shares](site, wire.Open{Header: c.at(q), Survivors: u, Certificate: certificate})
	}
	want[wire.PairKeys](s, wire.Keys{Header: c.at(q), Survivors: u})
	want[wire.Proof](s, wire.Prove{Header: c.at(q), Survivors: u, Dealer: 2})
	none(study.CodeHeld, []int{0, 1, 2, 4})
	none(study.CodeHeld, c.everyone())
	none(study.CodeTooFewSurvivors, []int{0, 1, 2})
	// Site 4 helped to open, and is not in the sum: none of its pairs is left in it.
	refused(c.sites[4], wire.Keys{Header: c.at(q), Survivors: u}, study.CodeOutOfOrder)
	want[wire.Proof](c.sites[4], wire.Prove{Header: c.at(q), Survivors: u, Dealer: 2})

	// A ledger from before the shares were sent knows none.
	s.restore(backup)
	want[wire.Upload](s, q)
	none(study.CodeOutOfOrder, u)
	want[wire.Shares](s, wire.Open{Header: c.at(q), Survivors: u, Certificate: certificate})

	// L12: of a final query there is its result alone.
	c.tell(c.release(q, u, make([]int64, c.plan.Queries[0].Values)))
	none(study.CodeFinal, u)

	// L9: having signed in a later slot.
	c, q = newFive(t, proposal.DropoutContinue)
	s = c.sites[1]
	for _, site := range c.sites {
		want[wire.Upload](site, q)
	}
	certificate = c.certify(q, u)
	want[wire.Shares](s, wire.Open{Header: c.at(q), Survivors: u, Certificate: certificate})
	want[wire.PairKeys](s, wire.Keys{Header: c.at(q), Survivors: u})
	ctx := [32]byte{1}
	if _, err := s.session(c).journal.Sign(1, 1, ctx, []byte("U"), func() ([]byte, error) { return []byte("signature"), nil }); err != nil {
		t.Fatal(err)
	}
	none(study.CodeOutOfOrder, u)

	// Where every site is waited for there is nobody outside of U.
	whole, q := newFive(t, proposal.DropoutWait)
	all := whole.everyone()
	// Shares are on record with the upload. None leave before a checked certificate.
	s = whole.sites[0]
	prove := wire.Prove{Header: whole.at(q), Survivors: all, Dealer: 2}
	for _, site := range whole.sites {
		want[wire.Upload](site, q)
	}
	refused(s, prove, study.CodeOutOfOrder)
	certificate = whole.certify(q, all)
	refused(s, prove, study.CodeOutOfOrder)
	open := wire.Open{Header: whole.at(q), Survivors: all, Certificate: certificate}
	shares := want[wire.Shares](s, open)
	want[wire.Proof](s, prove)
	s.restart()
	s.ask(q)
	refused(s, prove, study.CodeOutOfOrder)
	same(t, "shares after a restart", shares.Shares, want[wire.Shares](s, open).Shares)
	refused(whole.sites[0], wire.Keys{Header: whole.at(q), Survivors: all}, study.CodeOutOfOrder)
	want[wire.Proof](s, prove)
}

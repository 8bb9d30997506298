package agent

import (
	"maps"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"google.golang.org/protobuf/proto"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/site"
)

// falseReject is the chance that each uniformity test fails although all is well.
// Keys are fresh in every run, so the bytes are too; the rows are fixed.
const falseReject = 1e-9

// uniform wants bytes that a chi-square test with 255 degrees of freedom does not
// tell from uniform ones.
func uniform(t *testing.T, what string, b []byte) {
	t.Helper()
	if len(b) < 256*20 {
		t.Fatalf("%s: %d bytes are too few to test", what, len(b))
	}
	var counts [256]float64
	for _, v := range b {
		counts[v]++
	}
	expected, x := float64(len(b))/256, 0.0
	for _, n := range counts {
		x += (n - expected) * (n - expected) / expected
	}
	// Both tails: too even is not random either.
	if p := (distuv.ChiSquared{K: 255}).Survival(x); p < falseReject/2 || p > 1-falseReject/2 {
		t.Errorf("%s: chi-square %.0f over %d bytes, p = %.3g: not uniform", what, x, len(b), p)
	}
}

// TestWhatLeavesIsMasked captures everything that one agent sends in a study and
// finds no trace of its rows in it: the uploads are uniform, and two uploads of the
// same data for the same query, in two slots, differ by uniform bytes.
func TestWhatLeavesIsMasked(t *testing.T) {
	const d = 2000
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) {
		s.Columns = site.Columns(d, 1)
		s.Radius, s.OnDropout = "100", proposal.DropoutContinue
	})
	c.ready()
	s, x := c.sites[0], c.plan.Start().X
	first := want[wire.Upload](s, c.query(0, 0, x))
	retry := c.query(0, 1, x)
	second := want[wire.Upload](s, retry)
	uniform(t, "upload", first.Masked)
	uniform(t, "upload in another slot", second.Masked)
	difference := make([]byte, len(first.Masked))
	for i := range difference {
		difference[i] = first.Masked[i] ^ second.Masked[i]
	}
	uniform(t, "difference of two slots", difference)

	// The test can fail: the same sum without masks is told from uniform at once.
	plain := c.plain(retry, []int{0})
	zeros := 0
	for _, v := range plain {
		if v>>20 == 0 || v>>20 == -1 {
			zeros++
		}
	}
	if zeros < d/2 {
		t.Errorf("only %d of %d sums are small: the test shows less than it says", zeros, d)
	}

	for i, other := range c.sites {
		if i > 0 {
			want[wire.Upload](other, retry)
		}
	}
	u := c.everyone()
	certificate := c.certify(retry, u)
	want[wire.Shares](s, wire.Open{Header: wire.Header{Study: c.plan.Digest, Slot: 1}, Survivors: u, Certificate: certificate})
	c.tell(c.release(retry, u, c.plain(retry, u)))
	c.tell(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})

	// Everything that left is what was planned, to the byte, and the first slot's
	// upload: a longer message would carry something that this test does not see.
	planned := map[string]int{"upload": 2 * c.plan.Queries[0].Bytes}
	for _, p := range uplink.Planned(c.plan, 0) {
		if p.Query <= 0 && p.Kind != "upload" && p.Kind != "attestation" {
			planned[p.Kind] += p.Bytes
		}
	}
	sent := map[string]int{}
	for _, raw := range s.sent {
		var m covey.SiteMessage
		if err := proto.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		if len(m.ProtoReflect().GetUnknown()) != 0 {
			t.Error("a message holds unknown fields")
		}
		switch b := m.GetBody().(type) {
		case *covey.SiteMessage_Decision:
			sent["decision"] += len(raw)
		case *covey.SiteMessage_Announcement:
			sent["announcement"] += len(raw)
		case *covey.SiteMessage_Boxes:
			sent["boxes"] += len(raw)
		case *covey.SiteMessage_Confirmation:
			sent["confirmation"] += len(raw)
		case *covey.SiteMessage_Upload:
			sent["upload"] += len(b.Upload.GetMasked())
		case *covey.SiteMessage_ReleaseSignature:
			sent["signature"] += len(raw)
		case *covey.SiteMessage_Shares:
			sent["shares"] += len(raw)
		default:
			t.Errorf("a message of %T left", b)
		}
	}
	// A slot number other than 0 takes two bytes.
	planned["signature"] += 2
	planned["shares"] += 2
	if !maps.Equal(sent, planned) {
		t.Errorf("sent %v, planned %v", sent, planned)
	}
}

// TestPlannedSetup: what is listed before an approval is what a setup makes leave, to the byte,
// where a site can be missing and where none can be, at every site; and so are shares. On the
// sparse graph that is the announcement; boxes are as many as on average, and within half of that
// here.
func TestPlannedSetup(t *testing.T) {
	for _, onDropout := range []string{proposal.DropoutContinue, proposal.DropoutWait} {
		c := newStandIn(t, 5, autoPolicy, func(s *proposal.Spec) { s.OnDropout = onDropout })
		c.ready()
		for i, s := range c.sites {
			planned := uplink.Planned(c.plan, i)[:4]
			for k, raw := range s.sent[:4] {
				if len(raw) != planned[k].Bytes {
					t.Errorf("%s, site %d: a %s of %d bytes, planned %d", onDropout, i, planned[k].Kind, len(raw), planned[k].Bytes)
				}
			}
		}
	}
	for _, law := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
		c := newStandIn(t, 5, autoPolicy, func(s *proposal.Spec) { s.OnDropout, s.Noise = proposal.DropoutContinue, law })
		c.ready()
		c.open(c.query(0, 0, c.plan.Start().X), c.everyone())
		for i, s := range c.sites {
			if got, planned := len(s.sent[len(s.sent)-1]), uplink.Planned(c.plan, i)[6]; planned.Kind != "shares" || got != planned.Bytes {
				t.Errorf("%s noise, site %d: shares of %d bytes, planned %+v", law, i, got, planned)
			}
		}
	}
	if testing.Short() {
		return
	}
	c, g := newGhosts(t, 66)
	own := want[wire.Announcement](c.sites[0], wire.Announce{Header: wire.Header{Study: c.plan.Digest}}).Signed
	if got, planned := len(c.sites[0].sent[1]), uplink.Planned(c.plan, 0)[1].Bytes; got != planned {
		t.Errorf("a sparse announcement of %d bytes, planned %d", got, planned)
	}
	var err error
	if g.heads[0], g.seals[0], g.bodies[0], err = g.cfg.Split(0, own); err != nil {
		t.Fatal(err)
	}
	g.nonces[0] = want[wire.Nonce](c.sites[0], wire.Reveal{Header: wire.Header{Study: c.plan.Digest}, Announcements: g.heads}).Nonce
	board, err := secagg.VerifyHeads(g.cfg, g.heads)
	if err != nil {
		t.Fatal(err)
	}
	setup, err := board.Draw(g.nonces)
	if err != nil {
		t.Fatal(err)
	}
	want[wire.Boxes](c.sites[0], wire.Deal{Header: wire.Header{Study: c.plan.Digest}, Nonces: g.nonces, Keys: g.of(g.seals, setup.Graph().Recipients(0))})
	got, planned := len(c.sites[0].sent[3]), uplink.Planned(c.plan, 0)[3].Bytes
	if 2*got < planned || 2*got > 3*planned {
		t.Errorf("sparse boxes of %d bytes, planned %d", got, planned)
	}
	largest := 0
	for i := range g.heads {
		size := 0
		for _, from := range setup.Graph().Senders(i) {
			size += 4 + setup.BoxSize(from, i)
		}
		largest = max(largest, size+len(setup.Graph().Held(i))*(4+len(g.bodies[0])))
	}
	if limit := uplink.Largest(c.plan) - 1<<20; largest > limit || 8*largest < limit {
		t.Errorf("a site is sent %d bytes, the limit is %d", largest, limit)
	}
}

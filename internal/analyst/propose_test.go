package analyst

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/proposal"
	"covey/internal/wire"
	"covey/test/port"
)

// TestPropose: what is sent is a whole proposal with this analyst as its proposer, which its key
// signed, and the very bytes that were kept.
func TestPropose(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	h.Offered.Readers = []proposal.Party{{Name: "grace", Identity: port.Public(port.Seeded(9))}}
	c := join(t, h)
	d, err := c.Draft(ctx, spec(t, "readers = [\"grace\"]\nexpires = \"24h\"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(d.Fresh, " ") != " grace north south west" {
		t.Errorf("shown first: %q", d.Fresh)
	}
	// Nothing was sent: the keys are as new as before.
	if again, err := c.Draft(ctx, spec(t, "readers = [\"grace\"]\n"), nil); err != nil || len(again.Fresh) != len(d.Fresh) {
		t.Errorf("a draft that was not sent pins keys: %v", err)
	}
	if err := c.Propose(ctx, d); err != nil {
		t.Fatal(err)
	}
	if len(h.Proposed) != 1 {
		t.Fatalf("%d proposals", len(h.Proposed))
	}
	got := h.Proposed[0]
	p, err := proposal.Parse(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	id := proposal.DigestOf(got.Body)
	if err := p.CheckSignature(id, got.Signature); err != nil {
		t.Error(err)
	}
	if p.Proposer == nil || !p.Proposer.Same(c.Party()) || p.Proposer.Name != "ada" || len(p.Readers) != 1 || p.Readers[0].Name != "grace" {
		t.Errorf("proposer %v, readers %v", p.Proposer, p.Readers)
	}
	if len(p.Roster) != 3 || p.Roster[1].Units != 3000 || !bytes.Equal(p.Roster[1].Identity, port.Public(port.Seeded(1))) || !bytes.Equal(p.Coordinator, port.Public(h.Key)) {
		t.Errorf("%v, coordinator %x", p.Roster, p.Coordinator)
	}
	if left := time.Until(p.Expires()); left < 23*time.Hour || left > 24*time.Hour {
		t.Errorf("expires in %v", left)
	}
	for name, want := range map[string][]byte{".toml": got.Body, ".sig": []byte(hex.EncodeToString(got.Signature) + "\n")} {
		path := filepath.Join(c.dir, proposalsDir, id.String()+name)
		if !bytes.Equal(read(t, path), want) {
			t.Errorf("%s is not what was sent", path)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
	again, err := c.Draft(ctx, spec(t, "readers = [\"grace\"]\n"), nil)
	if err != nil || len(again.Fresh) != 0 || bytes.Equal(again.Body, d.Body) {
		t.Fatalf("again: %q, %v", again.Fresh, err)
	}
	if left := time.Until(again.Plan.Proposal.Expires()); left < 13*24*time.Hour || left > 14*24*time.Hour {
		t.Errorf("without an expiry it expires in %v", left)
	}
}

// TestKeptBeforeSent: a proposal that is refused, or whose answer is lost, is on disk all the same.
func TestKeptBeforeSent(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	c := join(t, h)
	d, err := c.Draft(ctx, spec(t, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	h.Set(func() { h.Fails = status.Error(codes.ResourceExhausted, "5 are open") })
	wantErr[*QuotaError](t, c.Propose(ctx, d), `"5 are open"`)
	if kept, err := c.Kept(d.Plan.Digest); err != nil || !bytes.Equal(kept, d.Body) {
		t.Errorf("kept: %v", err)
	}
	// The coordinator refused it, and so has not lost it. One whose answer never came may be lost,
	// even if an earlier try was refused.
	if lost := c.Untold(d.Plan.Proposal, nil); len(lost) != 0 {
		t.Errorf("one that was refused is missed: %v", lost)
	}
	h.Set(func() { h.Fails = status.Error(codes.Internal, "the disk failed") })
	if err := c.Propose(ctx, d); err == nil {
		t.Error("it was taken")
	}
	if lost := c.Untold(d.Plan.Proposal, nil); !slices.Equal(lost, []proposal.Digest{d.Plan.Digest}) {
		t.Errorf("one that may have been taken is not missed: %v", lost)
	}
	// A folder that cannot keep it: nothing is sent.
	h.Set(func() { h.Fails = nil })
	if err := os.RemoveAll(filepath.Join(c.dir, proposalsDir)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, proposalsDir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Propose(ctx, d); err == nil || len(h.Proposed) != 0 {
		t.Errorf("%v, %d sent", err, len(h.Proposed))
	}
}

// TestForgottenProposal: of a study that was signed here, and that the coordinator does not know, a
// person hears that it may have run before a backup was restored.
func TestForgottenProposal(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	c := join(t, h)
	d, err := c.Draft(ctx, spec(t, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Propose(ctx, d); err != nil {
		t.Fatal(err)
	}
	h.Set(func() { h.Told = nil })
	id := d.Plan.Digest
	for _, ref := range []string{"weights", id.String()[:6], strings.ToUpper(id.String())} {
		_, err := c.Find(ctx, ref)
		wantErr[*UnknownStudyError](t, err, "this folder has signed one ("+id.String()[:12]+")", "older backup", "Ask its operator")
	}
	_, err = c.Study(ctx, id)
	wantErr[*UnknownStudyError](t, err, "this folder has signed one")
	if err := os.WriteFile(c.path(id), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"weights", "other"} {
		_, err := c.Find(ctx, ref)
		wantErr[*UnknownStudyError](t, err, "analyst list shows those that are")
	}
}

// TestLostAnswer: a proposal whose answer is lost is looked for, and sent once more if it is not
// there, the same bytes.
func TestLostAnswer(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	c := join(t, h)
	d, err := c.Draft(ctx, spec(t, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	h.Set(func() { h.Lose = true })
	if err := c.Propose(ctx, d); err != nil || len(h.Proposed) != 1 {
		t.Errorf("%v, %d sent", err, len(h.Proposed))
	}
	h.Set(func() {
		h.Watches = func(int, proposal.Digest, func(wire.Told) error) error {
			return status.Error(codes.NotFound, wire.NoStudy)
		}
	})
	wantErr[*LostError](t, c.Propose(ctx, d), "analyst list")
	if len(h.Proposed) != 3 || !bytes.Equal(h.Proposed[2].Body, h.Proposed[1].Body) {
		t.Errorf("%d sent", len(h.Proposed))
	}
}

// TestChangedKeys: no key takes the place of one that was shown before, unless the analyst names
// it, and what is refused pins nothing.
func TestChangedKeys(t *testing.T) {
	other := port.Public(port.Seeded(77))
	for _, c := range []struct {
		what   string
		change func(o *wire.Offer)
		who    string
	}{
		{"coordinator", func(o *wire.Offer) { o.Coordinator = other }, "the coordinator had the key"},
		{"site", func(o *wire.Offer) { o.Sites[1].Identity = other }, "south had the key"},
		{"reader", func(o *wire.Offer) { o.Readers[0].Identity = other }, "grace had the key"},
		{"site's and reader's name", func(o *wire.Offer) { o.Sites[1].Name = "grace" }, "grace had the key"},
	} {
		h, ctx := port.NewHub(t), port.Bounded(t)
		h.Offered.Readers = []proposal.Party{{Name: "grace", Identity: port.Public(port.Seeded(9))}}
		client, s := join(t, h), spec(t, "readers = [\"grace\"]\n")
		first, err := client.Draft(ctx, s, nil)
		if err == nil {
			err = client.Propose(ctx, first)
		}
		if err != nil {
			t.Fatal(err)
		}
		pinned := read(t, filepath.Join(client.dir, pinsFile))
		h.Set(func() { c.change(&h.Offered) })
		_, err = client.Draft(ctx, s, nil)
		bad := wantErr[*KeyChangedError](t, err, c.who, "Nothing was proposed", "--trust ")
		if !strings.HasSuffix(bad.Error(), bad.Is) {
			t.Errorf("%s: %v", c.what, bad)
		}
		if _, err := client.Draft(ctx, s, []string{bad.Was}); err == nil {
			t.Errorf("%s: trusted by its old key", c.what)
		}
		if !bytes.Equal(read(t, filepath.Join(client.dir, pinsFile)), pinned) {
			t.Errorf("%s: a key that was refused is pinned", c.what)
		}
		if c.what == "site's and reader's name" {
			continue // no proposal can have one name twice
		}
		again := opened(t, client.dir) // pins belong to the folder
		if _, err := again.Draft(ctx, s, nil); err == nil {
			t.Errorf("%s: forgotten", c.what)
		}
		trusting, err := again.Draft(ctx, s, []string{bad.Is})
		if err == nil {
			err = again.Propose(ctx, trusting)
		}
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		wantErr[*KeyChangedError](t, client.Propose(ctx, first)) // its keys are the old ones by now
		if _, err := again.Draft(ctx, s, nil); err != nil {
			t.Errorf("%s: not pinned: %v", c.what, err)
		}
	}
}

// TestBadOffers: who is in a study is the analyst's to say: an offer of others makes no proposal.
func TestBadOffers(t *testing.T) {
	for name, c := range map[string]struct {
		more   string
		change func(o *wire.Offer)
	}{
		"another site":  {"sites = [\"north\", \"south\", \"east\"]\n", func(*wire.Offer) {}},
		"a site more":   {"sites = [\"north\", \"south\"]\n", func(*wire.Offer) {}},
		"another order": {"sites = [\"south\", \"north\", \"west\"]\n", func(*wire.Offer) {}},
		"a reader more": {"", func(o *wire.Offer) {
			o.Readers = []proposal.Party{{Name: "eve", Identity: port.Public(port.Seeded(9))}}
		}},
		"another reader": {"readers = [\"grace\"]\n", func(o *wire.Offer) {
			o.Readers = []proposal.Party{{Name: "eve", Identity: port.Public(port.Seeded(9))}}
		}},
		"no key":              {"", func(o *wire.Offer) { o.Sites[0].Identity = nil }},
		"no coordinator":      {"", func(o *wire.Offer) { o.Coordinator = o.Coordinator[:31] }},
		"a reader's key":      {"readers = [\"grace\"]\n", func(o *wire.Offer) { o.Readers = []proposal.Party{{Name: "grace"}} }},
		"a name of no site":   {"", func(o *wire.Offer) { o.Sites[0].Name = "\x1b[2Kno" }},
		"a site twice":        {"", func(o *wire.Offer) { o.Sites[1] = o.Sites[0] }},
		"more sites than any": {"", func(o *wire.Offer) { o.Sites = make([]proposal.Member, proposal.MaxSites+1) }},
	} {
		h, ctx := port.NewHub(t), port.Bounded(t)
		c.change(&h.Offered)
		client := join(t, h)
		_, err := client.Draft(ctx, spec(t, c.more), nil)
		if bad := wantErr[*AnswerError](t, err); strings.ContainsRune(bad.Error(), 0x1b) {
			t.Errorf("%s: %q", name, bad.Error())
		}
		if _, err := os.Stat(filepath.Join(client.dir, pinsFile)); err == nil {
			t.Errorf("%s: pinned", name)
		}
	}
	// What only the proposal's own check finds: the analyst's key or name at a site, no units.
	for name, change := range map[string]func(c *Client, o *wire.Offer){
		"own name": func(_ *Client, o *wire.Offer) { o.Sites[0].Name = "ada" },
		"own key":  func(c *Client, o *wire.Offer) { o.Sites[0].Identity = c.Party().Identity },
		"no units": func(_ *Client, o *wire.Offer) { o.Sites[0].Units = 0 },
	} {
		h, ctx := port.NewHub(t), port.Bounded(t)
		client := join(t, h)
		change(client, &h.Offered)
		if _, err := client.Draft(ctx, spec(t, ""), nil); err == nil {
			t.Errorf("%s: a proposal is made", name)
		}
	}
}

// TestKeptIsWhatWasSigned: bytes that were changed on disk are no proposal of this analyst's.
func TestKeptIsWhatWasSigned(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	c := join(t, h)
	d, err := c.Draft(ctx, spec(t, ""), nil)
	if err == nil {
		err = c.Propose(ctx, d)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.dir, proposalsDir, d.Plan.Digest.String()+".toml")
	if err := os.WriteFile(path, append(bytes.Clone(d.Body), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = c.Kept(d.Plan.Digest)
	wantErr[*KeptError](t, err, path)
}

// TestClockIsSaid: a proposal expires by this clock, and a coordinator's that differs is said.
func TestClockIsSaid(t *testing.T) {
	h, ctx := port.NewHub(t), port.Bounded(t)
	h.Offered.Clock = time.Now().Add(time.Hour)
	c := join(t, h)
	said := ""
	c.Say = func(format string, _ ...any) { said += format }
	d, err := c.Draft(ctx, spec(t, "expires = \"1h\"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(d.Plan.Proposal.Expires()); left > time.Hour || !strings.Contains(said, "clock") {
		t.Errorf("expires in %v; said %q", left, said)
	}
}

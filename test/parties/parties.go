// Package parties runs the setup of secure aggregation for all its sites in one process, with all
// their keys: everybody's messages are real.
package parties

import (
	"crypto/ed25519"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"covey/internal/secagg"
)

// Group is the sites of one setup.
type Group struct {
	Config        secagg.Config
	Keys          []ed25519.PrivateKey
	Secrets       []secagg.Secrets
	Announcements [][]byte // on the sparse graph their heads
	Seals         [][]byte // ML-KEM keys, on the sparse graph
	Bodies        [][]byte // the announcements' rest, on the sparse graph
	Setup         *secagg.Setup
	Dealt         [][][]byte         // boxes by dealer, in the order of its recipients; nil before Deal
	Taken         []*secagg.Received // by site; nil before Take
	Held          []secagg.Held      // by site
}

// New makes everybody's announcements and checks them. Secrets are drawn if nil, and keys that the
// configuration does not name are put there.
func New(cfg secagg.Config, keys []ed25519.PrivateKey, secrets []secagg.Secrets) (*Group, error) {
	n := len(keys)
	g := &Group{
		Config: cfg, Keys: keys, Secrets: secrets, Announcements: make([][]byte, n), Seals: make([][]byte, n), Bodies: make([][]byte, n),
		Dealt: make([][][]byte, n), Taken: make([]*secagg.Received, n), Held: make([]secagg.Held, n),
	}
	var err error
	if cfg.Identity == nil {
		for _, key := range keys {
			g.Config.Identity = append(g.Config.Identity, key.Public().(ed25519.PublicKey))
		}
	}
	if g.Config, err = g.Config.Checked(); err != nil {
		return nil, err
	}
	if secrets == nil {
		g.Secrets = make([]secagg.Secrets, n)
	}
	err = Each(n, func(i int) (err error) {
		if secrets == nil {
			if g.Secrets[i], err = secagg.NewSecrets(g.Config); err != nil {
				return err
			}
		}
		if g.Announcements[i], err = secagg.Announce(g.Config, i, g.Secrets[i], keys[i]); err != nil || !g.Sparse() {
			return err
		}
		g.Announcements[i], g.Seals[i], g.Bodies[i], err = g.Config.Split(i, g.Announcements[i])
		return err
	})
	if err == nil {
		g.Setup, err = g.Check()
	}
	return g, err
}

// Sparse reports whether the sites are too many for the complete graph.
func (g *Group) Sparse() bool { return g.Config.Sparse.Holders > 0 }

// Check does what everybody does with all announcements.
func (g *Group) Check() (*secagg.Setup, error) {
	if !g.Sparse() {
		return secagg.Verify(g.Config, g.Announcements)
	}
	board, err := secagg.VerifyHeads(g.Config, g.Announcements)
	if err != nil {
		return nil, err
	}
	return board.Draw(g.Nonces())
}

// Nonces draw the sparse graph.
func (g *Group) Nonces() (out [][]byte) {
	for i := range g.Secrets {
		out = append(out, g.Secrets[i].Nonce[:])
	}
	return out
}

// Each runs work for 0..n-1, a few at a time.
func Each(n int, work func(i int) error) error {
	var e errgroup.Group
	e.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		e.Go(func() error { return work(i) })
	}
	return e.Wait()
}

// SealsFor are the ML-KEM keys that a site seals to, nil on the complete graph.
func (g *Group) SealsFor(from int) (out [][]byte) {
	if !g.Sparse() {
		return nil
	}
	for _, to := range g.Setup.Graph().Recipients(from) {
		out = append(out, g.Seals[to])
	}
	return out
}

// Deal makes a site's boxes, once.
func (g *Group) Deal(from int) (err error) {
	if g.Dealt[from] == nil {
		g.Dealt[from], err = g.Setup.Deal(from, g.Secrets[from], g.Keys[from], g.SealsFor(from))
	}
	return err
}

// Box is the one of two sites, of what was dealt.
func (g *Group) Box(from, to int) []byte {
	return g.Dealt[from][slices.Index(g.Setup.Graph().Recipients(from), to)]
}

// Received returns what site i is sent: its boxes and, on the sparse graph, the bodies of the
// dealers whose shares it holds.
func (g *Group) Received(i int) (boxes, bodies [][]byte) {
	for _, from := range g.Setup.Graph().Senders(i) {
		boxes = append(boxes, g.Box(from, i))
	}
	if g.Sparse() {
		for _, at := range g.Setup.Graph().Held(i) {
			bodies = append(bodies, g.Bodies[at.Dealer])
		}
	}
	return boxes, bodies
}

// Take has site i take what it is dealt.
func (g *Group) Take(i int) (err error) {
	boxes, bodies := g.Received(i)
	if g.Taken[i], err = g.Setup.Receive(i, g.Secrets[i], g.Keys[i], boxes, bodies); err == nil {
		g.Held[i] = g.Taken[i].Held
	}
	return err
}

// Hold has everybody deal and take what it is dealt.
func (g *Group) Hold() error {
	if err := Each(len(g.Keys), g.Deal); err != nil {
		return err
	}
	return Each(len(g.Keys), g.Take)
}

// Confirmations are everybody's, after Hold.
func (g *Group) Confirmations() (out [][]byte) {
	for _, r := range g.Taken {
		out = append(out, r.Confirmation)
	}
	return out
}

// Kept is what the coordinator keeps of the setup, after Hold.
func (g *Group) Kept() (kept secagg.Kept) {
	if g.Config.Whole() {
		return kept
	}
	for i, r := range g.Taken {
		tags := g.Setup.Tags(i, g.Dealt[i])
		kept.Tags, kept.TagHashes = append(kept.Tags, tags), append(kept.TagHashes, g.Setup.TagHashes(i, tags))
		kept.Deposits = append(kept.Deposits, r.Deposits)
	}
	return kept
}

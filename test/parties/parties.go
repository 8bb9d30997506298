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
	Seals, Bodies [][]byte // their rest, on the sparse graph: ML-KEM keys and commitments
	Nonces        [][]byte // that draw the sparse graph
	Setup         *secagg.Setup
	Dealt         [][][]byte         // boxes by sender, in the order of Graph.Recipients; nil before Deal
	Taken         []*secagg.Received // by site; nil before Take
	Held          []secagg.Held      // by site, as in Taken
}

// New makes everybody's announcements and checks them. Secrets are drawn if nil, and keys that the
// configuration does not name are put there.
func New(cfg secagg.Config, keys []ed25519.PrivateKey, secrets []secagg.Secrets) (*Group, error) {
	n := len(keys)
	g := &Group{
		Config: cfg, Keys: keys, Secrets: secrets, Announcements: make([][]byte, n), Seals: make([][]byte, n), Bodies: make([][]byte, n), Nonces: make([][]byte, n),
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
		g.Nonces[i] = g.Secrets[i].Nonce[:]
		g.Announcements[i], g.Seals[i], g.Bodies[i], err = g.Config.Split(i, g.Announcements[i])
		return err
	})
	if err == nil {
		g.Setup, err = g.Check()
	}
	return g, err
}

// Sparse reports whether the sites are too many for the complete graph.
func (g *Group) Sparse() bool { return len(g.Keys) > secagg.MaxSites }

// Check does what everybody does with all announcements.
func (g *Group) Check() (*secagg.Setup, error) {
	if !g.Sparse() {
		return secagg.Verify(g.Config, g.Announcements)
	}
	board, err := secagg.VerifyHeads(g.Config, g.Announcements)
	if err != nil {
		return nil, err
	}
	return board.Draw(g.Nonces)
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

// Deal makes a site's boxes, once.
func (g *Group) Deal(from int) (err error) {
	if g.Dealt[from] == nil {
		g.Dealt[from], err = g.Setup.Deal(from, g.Secrets[from], g.Keys[from], g.SealsFor(from))
	}
	return err
}

// SealsFor returns the ML-KEM keys that a site seals to: on the sparse graph, nil on the complete
// one.
func (g *Group) SealsFor(from int) (seals [][]byte) {
	if g.Sparse() {
		for _, to := range g.Setup.Graph().Recipients(from) {
			seals = append(seals, g.Seals[to])
		}
	}
	return seals
}

// Received returns what site i is sent: its boxes and, on the sparse graph, the bodies of the
// dealers whose shares it holds.
func (g *Group) Received(i int) (boxes, bodies [][]byte) {
	graph := g.Setup.Graph()
	for _, from := range graph.Senders(i) {
		at, _ := slices.BinarySearch(graph.Recipients(from), i)
		boxes = append(boxes, g.Dealt[from][at])
	}
	if g.Sparse() {
		for _, s := range graph.Held(i) {
			bodies = append(bodies, g.Bodies[s.Dealer])
		}
	}
	return boxes, bodies
}

// Take has site i take its boxes, which were dealt.
func (g *Group) Take(i int) error {
	boxes, bodies := g.Received(i)
	r, err := g.Setup.Receive(i, g.Secrets[i], g.Keys[i], boxes, bodies)
	if err == nil {
		g.Taken[i], g.Held[i] = r, r.Held
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

// Kept is what the coordinator keeps of a setup after Hold, to open sums without some sites.
func (g *Group) Kept() (k secagg.Kept) {
	if g.Config.Whole() {
		return k
	}
	for i, boxes := range g.Dealt {
		tags := g.Setup.Tags(i, boxes)
		k.Tags, k.TagHashes = append(k.Tags, tags), append(k.TagHashes, g.Setup.TagHashes(i, tags))
		k.Deposits = append(k.Deposits, g.Taken[i].Deposits)
	}
	return k
}

package secagg

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"

	"covey/internal/graph"
)

// Limits of a setup.
const (
	MaxSites = 128 // of the complete graph; a plan takes the sparse one above 64
	maxSlots = 1024
)

// Config is what all sites and the coordinator agree on before a setup. The
// caller computes the thresholds; validate checks that they are safe.
type Config struct {
	Study        [32]byte            // digest
	Identity     []ed25519.PublicKey // of each site, roster order
	Corrupt      int                 // η
	Quorum       int                 // q
	MinSurvivors int                 // U_min
	Slots        int                 // S
	// Sparse is the numbers of the sparse graph; its zero value is the complete one.
	Sparse graph.Numbers

	known *known // what was found valid before; nil for nothing
}

// known is a copy of what Checked found valid, so that a Config changed later does not pass for it.
type known struct {
	identity []byte // all keys
	sparse   graph.Numbers
}

// Checked validates c and returns a Config that remembers it: with thousands of keys, validate
// takes a good part of a second, and each step of a setup validates.
func (c Config) Checked() (Config, error) {
	if err := c.validate(); err != nil {
		return c, err
	}
	k := &known{sparse: c.Sparse, identity: make([]byte, 0, ed25519.PublicKeySize*len(c.Identity))}
	for _, key := range c.Identity {
		k.identity = append(k.identity, key...)
	}
	c.known = k
	return c, nil
}

// keysKnown reports whether these very keys were found valid.
func (c Config) keysKnown() bool {
	if c.known == nil || len(c.known.identity) != ed25519.PublicKeySize*len(c.Identity) {
		return false
	}
	for i, key := range c.Identity {
		at := ed25519.PublicKeySize * i
		if string(key) != string(c.known.identity[at:at+ed25519.PublicKeySize]) {
			return false
		}
	}
	return true
}

// validate checks the bounds that the protocol's safety rests on: two
// certificates for one slot would need 2q signatures of N sites of which η sign twice,
// so 2q > N+η; a sum of U_min sites holds two that are not corrupt.
func (c Config) validate() error {
	n := len(c.Identity)
	if c.sparse() {
		if err := c.validateSparse(); err != nil {
			return err
		}
	} else if err := c.validateComplete(); err != nil {
		return err
	}
	if c.Slots < 1 || c.Slots > maxSlots {
		return configError("%d slots, must be 1..%d", c.Slots, maxSlots)
	}
	if c.keysKnown() {
		return nil
	}
	seen := make(map[string]bool, n)
	for i, key := range c.Identity {
		if len(key) != ed25519.PublicKeySize || seen[string(key)] {
			return configError("identity key %d is not a key of its own", i)
		}
		seen[string(key)] = true
		if err := checkIdentity(key); err != nil {
			return configError("identity key %d: %v", i, err)
		}
	}
	return nil
}

// validateSparse computes the safety of the sparse graph's numbers anew: a receiver does not
// trust whoever proposed them.
func (c Config) validateSparse() error {
	if g := c.Sparse; g.Sites != len(c.Identity) || g.Corrupt != c.Corrupt || g.MinSurvivors != c.MinSurvivors {
		return configError("the sparse graph's numbers belong to another study")
	}
	if c.known != nil && c.known.sparse == c.Sparse {
		return nil
	}
	return ofGraph(c.Sparse.Validate())
}

func (c Config) validateComplete() error {
	n := len(c.Identity)
	switch {
	case n < 2 || n > MaxSites:
		return configError("%d sites, must be 2..%d on the complete graph", n, MaxSites)
	case c.Corrupt < 0 || c.Corrupt >= n:
		return configError("%d corrupt sites of %d", c.Corrupt, n)
	case 2*c.Quorum <= n+c.Corrupt || c.Quorum > n:
		return configError("quorum %d, must be over (%d+%d)/2 and at most %d", c.Quorum, n, c.Corrupt, n)
	case c.MinSurvivors < max(c.Quorum, c.Corrupt+2) || c.MinSurvivors > n:
		return configError("%d survivors at least, must be %d..%d", c.MinSurvivors, max(c.Quorum, c.Corrupt+2), n)
	}
	return nil
}

// completeGraph is the one of up to MaxSites sites.
func completeGraph(c Config) *graph.Graph {
	return graph.Complete(c.sites(), c.Corrupt, c.MinSurvivors, c.Quorum)
}

func (c Config) sites() int { return len(c.Identity) }

// Whole reports whether every sum is over all sites, as with on_dropout = "wait": no site is ever
// outside of one, so only b is shared, and pairs need neither tags nor deposits.
func (c Config) Whole() bool { return c.MinSurvivors == c.sites() }

// kinds is how many secrets of a slot are shared: b, and e where a site can be missing.
func (c Config) kinds() int {
	if c.Whole() {
		return 1
	}
	return 2
}

// nth is the number of a slot's secret among all that a site shares: by slot, b before e.
func (c Config) nth(slot, which int) int { return c.kinds()*slot + which }

// shared is how many secrets a site shares in all.
func (c Config) shared() int { return c.kinds() * c.Slots }

// holders is how many sites hold a share of each site's secrets, K.
func (c Config) holders() int {
	if c.sparse() {
		return c.Sparse.Holders
	}
	return c.sites()
}

func (c Config) sparse() bool { return c.Sparse.Holders > 0 }

// threshold is how many shares open a secret, which is how many coefficients a polynomial has,
// and how many release signatures are a certificate: q, or T of the sparse graph.
func (c Config) threshold() int {
	if c.sparse() {
		return c.Sparse.Threshold
	}
	return c.Quorum
}

// headerSize is the header's length, without the roster's hash.
func (c Config) headerSize() int {
	c.Identity = nil
	return len(c.header(0))
}

// header is the beginning of site's announcement: everything agreed on, so that
// a signature under one study, roster or graph is good for no other.
func (c Config) header(site int) []byte {
	graph := "complete"
	if c.sparse() {
		graph = "sparse"
	}
	b := append([]byte(nil), "covey secagg announcement v3\x00"+graph+"\x00"...)
	b = append(b, c.Study[:]...)
	roster := sha256.New()
	for _, key := range c.Identity {
		roster.Write(key)
	}
	b = roster.Sum(b)
	for _, v := range []int{c.sites(), c.Corrupt, c.Quorum, c.MinSurvivors, c.Slots} {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	if g := c.Sparse; c.sparse() {
		for _, v := range []int{g.Holders, g.Threshold, g.Degree, g.MinNeighbors} {
			b = binary.BigEndian.AppendUint16(b, uint16(v))
		}
	}
	return binary.BigEndian.AppendUint16(b, uint16(site))
}

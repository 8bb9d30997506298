package secagg

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
)

// Limits of a setup.
const (
	MaxSites = 128 // of the complete graph; a plan takes the sparse one above 64
	MaxSlots = 1024
)

// Config is what all sites and the coordinator agree on before a setup. The
// caller computes the thresholds; Validate checks that they are safe.
type Config struct {
	Study        [32]byte            // digest
	Identity     []ed25519.PublicKey // of each site, roster order
	Corrupt      int                 // η
	Quorum       int                 // q
	MinSurvivors int                 // U_min
	Slots        int                 // S
	Attempt      uint32
}

// Validate checks the bounds that the protocol's safety rests on: two
// certificates for one slot would need 2q signatures of N sites of which η sign twice,
// so 2q > N+η; a sum of U_min sites holds two that are not corrupt.
func (c Config) Validate() error {
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
	case c.Slots < 1 || c.Slots > MaxSlots:
		return configError("%d slots, must be 1..%d", c.Slots, MaxSlots)
	}
	seen := map[string]bool{}
	for i, key := range c.Identity {
		if len(key) != ed25519.PublicKeySize || seen[string(key)] {
			return configError("identity key %d is not a key of its own", i)
		}
		seen[string(key)] = true
		if _, err := decodePoint(key); err != nil {
			return configError("identity key %d: %v", i, err)
		}
	}
	return nil
}

func (c Config) sites() int { return len(c.Identity) }

// header is the beginning of site's announcement: everything agreed on, so that
// a signature under one study, roster, graph or attempt is good for no other.
func (c Config) header(site int) []byte {
	b := append([]byte(nil), "covey secagg announcement v1\x00complete\x00"...)
	b = append(b, c.Study[:]...)
	roster := sha256.New()
	for _, key := range c.Identity {
		roster.Write(key)
	}
	b = roster.Sum(b)
	for _, v := range []int{c.sites(), c.Corrupt, c.Quorum, c.MinSurvivors, c.Slots} {
		b = binary.BigEndian.AppendUint16(b, uint16(v))
	}
	b = binary.BigEndian.AppendUint32(b, c.Attempt)
	return binary.BigEndian.AppendUint16(b, uint16(site))
}

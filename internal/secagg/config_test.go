package secagg

import (
	"crypto/ed25519"
	"slices"
	"testing"
)

// TestCheckedIsOfTheseAlone: what was found valid once passes for nothing else, however it came to
// be.
func TestCheckedIsOfTheseAlone(t *testing.T) {
	cfg, _, err := sparseConfig(70, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	good, err := cfg.Checked()
	if err != nil {
		t.Fatal(err)
	}
	if err := good.validate(); err != nil {
		t.Fatal(err)
	}
	low := append(ed25519.PublicKey{1}, make([]byte, 31)...) // the identity
	for name, change := range map[string]func(*Config){
		"a key of low order": func(c *Config) { c.Identity = slices.Clone(c.Identity); c.Identity[7] = low },
		"the same, in place": func(c *Config) { c.Identity[7] = low },
		"a key twice":        func(c *Config) { c.Identity = slices.Clone(c.Identity); c.Identity[7] = c.Identity[8] },
		"a shorter key":      func(c *Config) { c.Identity = slices.Clone(c.Identity); c.Identity[7] = c.Identity[7][:31] },
		"fewer sites":        func(c *Config) { c.Identity = c.Identity[:60] },
		"a lower threshold":  func(c *Config) { c.Sparse.Threshold-- },
		"a smaller degree":   func(c *Config) { c.Sparse.Degree-- },
		"more corrupt":       func(c *Config) { c.Corrupt++ },
		"too many slots":     func(c *Config) { c.Slots = maxSlots + 1 },
	} {
		c := good
		kept := slices.Clone(good.Identity)
		if change(&c); c.validate() == nil {
			t.Errorf("%s passes", name)
		}
		copy(good.Identity, kept)
	}
}

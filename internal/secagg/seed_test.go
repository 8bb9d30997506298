package secagg

import (
	"bytes"
	"testing"
)

// TestSeedIsWiped: nothing is left of the seed that all slots' secrets come from; an erased slot's
// would come from it again.
func TestSeedIsWiped(t *testing.T) {
	cfg := newGroup(t, 3, 2).cfg
	seed, again := [32]byte{1, 2, 3}, [32]byte{1, 2, 3}
	s := expand(cfg, &seed)
	if seed != [32]byte{} {
		t.Error("the seed is still there")
	}
	other := expand(cfg, &again)
	if s.Transport != other.Transport || len(s.Slots) != cfg.Slots || !bytes.Equal(s.Slots[0][:], other.Slots[0][:]) || s.Slots[0] == s.Slots[1] {
		t.Error("equal seeds give other secrets")
	}
}

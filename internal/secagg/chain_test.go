package secagg

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
)

// chainOf derives all of a chain of so many sites as docs/protocol.md has it: κ of u and the key of
// component l, by u and l.
func chainOf(t *testing.T, own SlotSecret, ctx [32]byte, sites int) (keys, components [][32]byte) {
	t.Helper()
	step := func(secret, salt []byte, info string) [32]byte {
		out, err := hkdf.Key(sha256.New, secret, salt, "covey secagg v2 "+info, 32)
		if err != nil {
			t.Fatal(err)
		}
		return [32]byte(out)
	}
	keys, components = make([][32]byte, sites+1), make([][32]byte, sites)
	keys[sites] = step(own[:], ctx[:], "noise chain\x00")
	for u := sites; u > 0; u-- {
		keys[u-1] = step(keys[u][:], nil, "noise chain\x00"+string([]byte{byte(u >> 8), byte(u)}))
		components[u-1] = step(keys[u][:], nil, "noise component\x00"+string([]byte{byte((u - 1) >> 8), byte(u - 1)}))
	}
	return keys, components
}

// TestNoiseChain: the keys are those of docs/protocol.md, byte for byte, at 300 sites too.
func TestNoiseChain(t *testing.T) {
	own, ctx := SlotSecret{1}, [32]byte{2}
	for _, sites := range []int{2, 5, 300} {
		keys, components := chainOf(t, own, ctx, sites)
		for u := 1; u <= sites; u++ {
			key := NoiseChain(own, ctx, sites, u)
			if key != keys[u] {
				t.Fatalf("κ of %d of %d sites is another", u, sites)
			}
			levels := []int{}
			for l := u - 1; l >= 0; l -= 1 + u/7 {
				levels = append(levels, l)
				if NoiseComponentKey(key, u, l) != components[l] {
					t.Fatalf("component %d of κ of %d of %d sites is another", l, u, sites)
				}
			}
			for i, got := range NoiseComponentKeys(key, u, levels) {
				if got != components[levels[i]] {
					t.Fatalf("component %d of κ of %d of %d sites is another among %v", levels[i], u, sites, levels)
				}
			}
		}
	}
	for name, want := range map[string]struct {
		got  [32]byte
		want string
	}{
		"κ of 5 of 5":   {NoiseChain(own, ctx, 5, 5), "54170074a59bbd336cacd1c2d8df87d1668cd72903dfcfec8e8945475d3b0995"},
		"κ of 4 of 5":   {NoiseChain(own, ctx, 5, 4), "0f6549433147eb1547ce07a62327a11800ef266668bfb2a9c8996acb2783de63"},
		"component 4":   {NoiseComponentKey(NoiseChain(own, ctx, 5, 5), 5, 4), "bb8d7fe2a7e155a83a2acdf5dee2265c1833ba70eae199ef92cc395708f4245e"},
		"component 3":   {NoiseComponentKey(NoiseChain(own, ctx, 5, 4), 4, 3), "11a432fb48da162e18442c50ab290c6b44f9565094c285a899cf8158f75c9280"},
		"another count": {NoiseChain(own, ctx, 6, 4), "58456582bda8e09f546ff44f0b5f5329ae26508cc508443ae9a4a496fbb0f63d"},
	} {
		if got := hex.EncodeToString(want.got[:]); got != want.want {
			t.Errorf("%s: %s, want %s", name, got, want.want)
		}
	}
}

// TestChainKeyGivesOnlyTheLower: nothing that is made of κ of u is the key of a component that a
// sum over u keeps, the key of the part that always stays, or a κ of more sites.
func TestChainKeyGivesOnlyTheLower(t *testing.T) {
	const sites = 12
	own, ctx := SlotSecret{7}, [32]byte{9}
	keys, components := chainOf(t, own, ctx, sites)
	for u := 1; u <= sites; u++ {
		secret := append(append([][32]byte{NoiseShareKey(own, ctx)}, components[u:]...), keys[u+1:]...)
		key := NoiseChain(own, ctx, sites, u)
		made := [][32]byte{key, key}             // the first goes on down the chain
		for from := 0; from <= sites+1; from++ { // with any idea of which κ it is
			for l := range sites + 1 {
				made = append(made, NoiseComponentKey(key, from, l))
			}
		}
		for range sites {
			for at := range sites + 1 {
				made = append(made, nextInChain(made[0], at), NoiseComponentKey(nextInChain(made[0], at), at, at))
			}
			made[0] = nextInChain(made[0], u)
		}
		for i, s := range secret {
			if slices.Contains(made, s) {
				t.Fatalf("κ of %d gives secret %d", u, i)
			}
		}
	}
	for name, other := range map[string][32]byte{"slot": NoiseChain(SlotSecret{8}, ctx, sites, 5), "ctx": NoiseChain(own, [32]byte{1}, sites, 5)} {
		if other == NoiseChain(own, ctx, sites, 5) {
			t.Errorf("another %s has the same chain", name)
		}
	}
}

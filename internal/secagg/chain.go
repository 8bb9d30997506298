package secagg

// A site's own noise is added in components, of which those that U turns out not to need are taken
// away again. Their keys are a chain, one a slot and ctx: the key of u gives the components l < u
// and no other. It goes to the coordinator with the site's shares, under their certificate, and is
// never opened from shares: whoever opened the chain's root would have all noise.

const chainKeySize = 32

// NoiseChain returns the chain's key of u survivors, of 1..sites.
func NoiseChain(own SlotSecret, ctx [32]byte, sites, u int) [chainKeySize]byte {
	key := [chainKeySize]byte(derive(own[:], ctx[:], "noise chain", chainKeySize))
	for at := sites; at > u; at-- {
		key = nextInChain(key, at)
	}
	return key
}

func nextInChain(key [chainKeySize]byte, u int) [chainKeySize]byte {
	return [chainKeySize]byte(derive(key[:], nil, "noise chain", chainKeySize, u16(u)))
}

// NoiseComponentKey returns the key of the noise component of level l < u, which follows from the
// chain's key of u.
func NoiseComponentKey(key [chainKeySize]byte, u, l int) [32]byte {
	for at := u; at > l+1; at-- {
		key = nextInChain(key, at)
	}
	return [32]byte(derive(key[:], nil, "noise component", 32, u16(l)))
}

// NoiseComponentKeys returns those of several levels, all below u, in descending order.
func NoiseComponentKeys(key [chainKeySize]byte, u int, levels []int) [][32]byte {
	out := make([][32]byte, len(levels))
	for i, l := range levels {
		for ; u > l+1; u-- {
			key = nextInChain(key, u)
		}
		out[i] = NoiseComponentKey(key, u, l)
	}
	return out
}

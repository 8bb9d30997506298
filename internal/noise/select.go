package noise

import (
	"io"
	"math/big"
)

// Select is the exponential mechanism, exactly: index i with probability proportional to
// exp(ε0·scores[i]/2), drawn with integer arithmetic only. Where one unit replaced by another
// changes every score by at most 1 it has range ε0, and SelectRho is its charge.
//
// A candidate is proposed uniformly and accepted with probability exp(-ε0·(largest - score)/2): the
// best always is, so n candidates take n proposals on average at most. How many there were depends
// on the scores; what leaves, and when, must not (docs/privacy.md: on the tick).
//
// The choice is a function of the source's bytes, read in blocks of 512. A *ParameterError is for
// no candidates and an ε0 that is nil or not positive; else an error is the source's.
func Select(scores []int64, e0 *big.Rat, source io.Reader) (int, error) {
	if len(scores) == 0 {
		return 0, parameter("scores", "must have at least one candidate")
	}
	if e0 == nil || e0.Sign() <= 0 {
		return 0, parameter("e0", "must be positive")
	}
	largest := scores[0]
	for _, v := range scores {
		largest = max(largest, v)
	}
	s := &bitSource{r: source}
	defer clear(s.buffer[:])
	den := new(big.Int).Lsh(e0.Denom(), 1)
	for {
		i := int(s.below(uint64(len(scores))))
		// Unsigned, the difference of any two int64 fits.
		behind := new(big.Int).SetUint64(uint64(largest) - uint64(scores[i]))
		accepted := s.bernoulliExpBig(behind.Mul(behind, e0.Num()), den)
		if s.err != nil {
			return 0, s.err // a choice made from missing bits is not a choice
		}
		if accepted {
			return i, nil
		}
	}
}

// OnCircle turns an element of Z_2^bits into a score of at most limit: with l its signed
// lift, 0 for l < 0 and max(0, min(l, 2^(bits-1) - l, limit)) for l >= 0.
//
// A site that lies can shift an opened sum anywhere, to the edge between 2^(bits-1) - 1 and
// -2^(bits-1) too, where one more unit would move the lift by 2^bits, and a score that is the lift
// with it. This one is 1-Lipschitz around the whole circle: it rises from 0, and is down to 1
// before the edge and at 0 behind it. So one unit changes it by at most 1 whatever other sites
// send. It is the count itself where that is in [0, limit] and limit <= 2^(bits-2). Without bits,
// or of more than 64, it is 0 and that of 64.
func OnCircle(v uint64, bits uint, limit int64) int64 {
	if limit <= 0 {
		return 0
	}
	shift := 64 - min(bits, 64)
	v = v << shift >> shift
	half := uint64(1) << (63 - shift) // 0 without bits, where v is 0 too
	if v >= half {                    // l < 0
		return 0
	}
	return int64(min(v, half-v, uint64(limit)))
}

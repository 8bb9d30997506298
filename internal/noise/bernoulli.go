package noise

import (
	"encoding/binary"
	"io"
	"math/big"
	"math/bits"
)

// bitSource hands out random words. It reads ahead of what it has given, in blocks of a
// fixed size, so that draws depend on the reader's bytes alone.
type bitSource struct {
	r      io.Reader
	buffer [512]byte
	left   int // unread bytes at the buffer's end
	err    error
}

// word returns 64 random bits. After an error it gives zeros, and err is set: the
// caller's result is thrown away. Every loop below ends on err.
func (s *bitSource) word() uint64 {
	if s.left == 0 {
		if s.err == nil {
			_, s.err = io.ReadFull(s.r, s.buffer[:])
		}
		if s.err != nil {
			return 0
		}
		s.left = len(s.buffer)
	}
	v := binary.LittleEndian.Uint64(s.buffer[len(s.buffer)-s.left:])
	s.left -= 8
	return v
}

// below returns a uniform integer in [0, n), n > 0, by rejection.
func (s *bitSource) below(n uint64) uint64 {
	shift := uint(bits.LeadingZeros64(n - 1)) // 64 for n = 1: every word gives 0
	for {
		if v := s.word() >> shift; v < n || s.err != nil {
			return v
		}
	}
}

// bernoulli is true with probability exactly a/b, 0 <= a <= b, b > 0: it compares
// a uniform real with a/b, 64 binary digits at a time. bernoulliBig does the same to wider
// numbers: on the same ratio both take the same words and agree.
func (s *bitSource) bernoulli(a, b uint64) bool {
	if a >= b {
		return true
	}
	for a != 0 {
		var digits uint64
		digits, a = bits.Div64(a, 0, b) // a/b = (digits + a'/b)·2^-64
		switch u := s.word(); {
		case u < digits:
			return true
		case u > digits || s.err != nil:
			return false
		}
	}
	return false // a uniform real is not below what it equals in every digit
}

func (s *bitSource) bernoulliBig(a, b *big.Int) bool {
	if a.Cmp(b) >= 0 {
		return true
	}
	for rest := new(big.Int).Set(a); rest.Sign() != 0; {
		digits, _ := new(big.Int).QuoRem(rest.Lsh(rest, 64), b, rest)
		switch u, d := s.word(), digits.Uint64(); {
		case u < d:
			return true
		case u > d || s.err != nil:
			return false
		}
	}
	return false
}

// bernoulliExp is true with probability exactly exp(-γ), where once(k) is true
// with probability γ/k and γ <= 1 (Canonne, Kamath, Steinke 2020, algorithm 1).
func (s *bitSource) bernoulliExp(once func(k uint64) bool) bool {
	k := uint64(1)
	for once(k) && s.err == nil {
		k++
	}
	return k%2 == 1
}

// bernoulliExpRatio is true with probability exp(-a/b), 0 <= a <= b.
func (s *bitSource) bernoulliExpRatio(a, b uint64) bool {
	return s.bernoulliExp(func(k uint64) bool { return s.bernoulli(a, b) && s.bernoulli(1, k) })
}

// bernoulliExpBig is true with probability exactly exp(-a/b), a >= 0, b > 0: a factor 1/e for each
// whole part, and one for the rest.
func (s *bitSource) bernoulliExpBig(a, b *big.Int) bool {
	whole, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	return s.times(whole, func() bool { return s.bernoulliExpRatio(1, 1) }) &&
		s.bernoulliExp(func(k uint64) bool { return s.bernoulliBig(rest, b) && s.bernoulli(1, k) })
}

// bernoulliExpHalfSquare is true with probability exp(-(a/b)²/2), 0 <= a <= b.
func (s *bitSource) bernoulliExpHalfSquare(a, b uint64) bool {
	return s.bernoulliExp(func(k uint64) bool {
		for range 2 {
			if !s.bernoulli(a, b) {
				return false
			}
		}
		return s.bernoulli(1, 2*k)
	})
}

// times is true if n calls of once are: an intersection of independent events. It
// stops at the first false, so that n may be of any size.
func (s *bitSource) times(n *big.Int, once func() bool) bool {
	for i, one := new(big.Int).Set(n), big.NewInt(1); i.Sign() > 0; i.Sub(i, one) {
		if !once() || s.err != nil {
			return false
		}
	}
	return true
}

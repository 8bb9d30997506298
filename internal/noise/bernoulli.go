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

// word gives 64 random bits. After an error it gives zeros, and err is set: the
// caller's result is thrown away.
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

// below gives a uniform integer in [0, n), n > 0, by rejection.
func (s *bitSource) below(n uint64) uint64 {
	shift := uint(bits.LeadingZeros64(n - 1)) // 64 for n = 1: every word gives 0
	for {
		if v := s.word() >> shift; v < n || s.err != nil {
			return v
		}
	}
}

// bernoulli is true with probability exactly a/b, 0 <= a <= b, b > 0: it compares
// a uniform real with a/b, 64 binary digits at a time.
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

// bernoulliExpHalfSquare is true with probability exp(-(a/b)²/2), 0 <= a <= b.
func (s *bitSource) bernoulliExpHalfSquare(a, b uint64) bool {
	return s.bernoulliExp(func(k uint64) bool {
		first := s.bernoulli(a, b) // two independent draws: (a/b)²
		return first && s.bernoulli(a, b) && s.bernoulli(1, 2*k)
	})
}

// belowBig, bernoulliBig and bernoulliExpBig are the same laws on integers of
// any size.
func (s *bitSource) belowBig(n *big.Int) *big.Int {
	size := n.BitLen()
	words := make([]byte, 8*((size+63)/64))
	for {
		for i := 0; i < len(words); i += 8 {
			binary.BigEndian.PutUint64(words[i:], s.word())
		}
		v := new(big.Int).SetBytes(words)
		v.Rsh(v, uint(8*len(words)-size))
		if v.Cmp(n) < 0 || s.err != nil {
			return v
		}
	}
}

func (s *bitSource) bernoulliBig(a, b *big.Int) bool { return s.belowBig(b).Cmp(a) < 0 }

// bernoulliExpBig is true with probability exp(-a/b), a >= 0, b > 0.
func (s *bitSource) bernoulliExpBig(a, b *big.Int) bool {
	whole, rest := new(big.Int).QuoRem(a, b, new(big.Int))
	for one := big.NewInt(1); whole.Sign() > 0 && s.err == nil; whole.Sub(whole, one) {
		if !s.bernoulliExpRatio(1, 1) {
			return false
		}
	}
	return s.bernoulliExp(func(k uint64) bool {
		return s.bernoulliBig(rest, new(big.Int).Mul(b, new(big.Int).SetUint64(k)))
	})
}

package dataset

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// maxDigits is the most digits whose number is below 2^64, whatever they are.
const maxDigits = 19

// number reads the decimal number that begins at b[i] and gives it with the index
// after it. It gives the float64 nearest to the decimal, ties to even, as
// strconv.ParseFloat does, or ok = false: of everything that it does not know exactly
// by one operation on exact operands, and of what is no number, it says nothing. The
// caller asks strconv then.
func number(b []byte, i int) (v float64, end int, ok bool) {
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	w, start := uint64(0), i
	for ; i < len(b); i++ {
		c := b[i] - '0'
		if c > 9 {
			break
		}
		w = w*10 + uint64(c) // may wrap: then there are too many digits, counted below
	}
	digits, exponent := i-start, 0
	if i < len(b) && b[i] == '.' {
		i++
		start = i
		for i+8 <= len(b) {
			eight := binary.LittleEndian.Uint64(b[i:])
			if !eightDigits(eight) {
				break
			}
			w = w*100000000 + parseEight(eight)
			i += 8
		}
		for ; i < len(b); i++ {
			c := b[i] - '0'
			if c > 9 {
				break
			}
			w = w*10 + uint64(c)
		}
		exponent = start - i
		digits -= exponent
	}
	if digits == 0 || digits > maxDigits {
		return 0, 0, false
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		sign := 1
		if i < len(b) && (b[i] == '-' || b[i] == '+') {
			if b[i] == '-' {
				sign = -1
			}
			i++
		}
		e := 0
		start = i
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
			e = e*10 + int(b[i]-'0')
		}
		if i == start || i-start > 4 {
			return 0, 0, false
		}
		exponent += sign * e
	}
	if v, ok = scaled(w, exponent); !ok {
		return 0, 0, false
	}
	if negative {
		v = -v
	}
	return v, i, true
}

// eightDigits reports whether all eight bytes are '0' to '9': each high nibble is 3
// both before and after 6 is added. No carry crosses a byte that passes.
func eightDigits(x uint64) bool {
	const high, six, threes = 0xf0f0f0f0f0f0f0f0, 0x0606060606060606, 0x3333333333333333
	return x&high|(x+six)&high>>4 == threes
}

// parseEight returns the number that eight digits write, the first in the lowest
// byte: pairs, then fours, then all, each step within its own part of the word.
func parseEight(x uint64) uint64 {
	x -= 0x3030303030303030
	x = x*10 + x>>8
	const mask = 0x000000ff000000ff
	return (x&mask*(100+1000000<<32) + x>>16&mask*(1+10000<<32)) >> 32
}

// scaled returns the float64 nearest to w·10^e where one rounding is all it takes.
func scaled(w uint64, e int) (float64, bool) {
	switch {
	case w == 0:
		return 0, true
	case w <= 1<<53 && e >= -22 && e <= 22:
		// Both are exact (10^22 = 5^22·2^22, 5^22 < 2^53), so the one operation
		// rounds the true value (Clinger 1990).
		if e < 0 {
			return float64(w) / tens[-e], true
		}
		return float64(w) * tens[e], true
	case e == 0:
		return float64(w), true // the conversion rounds to nearest even
	case e < 0 && e >= -27:
		return overFives(w, -e), true
	}
	return 0, false
}

// overFives returns the float64 nearest to w/10^k, w > 0, k in 1..27, where 5^k < 2^64:
// with both brought to 64 bits, the quotient of integers has 63 or 64 bits, and its
// remainder says on which side of a tie the true value lies.
func overFives(w uint64, k int) float64 {
	d := fives[k]
	shiftW, shiftD := bits.LeadingZeros64(w), bits.LeadingZeros64(d)
	w <<= shiftW
	d <<= shiftD
	// (w·2^63)/d: the high word w>>1 is below 2^63 ≤ d, as Div64 wants it.
	q, r := bits.Div64(w>>1, w<<63, d)
	// The value is q·2^(shiftD-shiftW-63-k), with more below if r is not 0.
	e := shiftD - shiftW - 63 - k
	drop := 11 - bits.LeadingZeros64(q) // 64 or 63 bits to 53
	half, rest := uint64(1)<<(drop-1), q&(1<<drop-1)
	q >>= drop
	if rest > half || rest == half && (r != 0 || q&1 == 1) {
		q++ // to 2^53 at most, which is a float64 too
	}
	// Between 10^-27 and 2^64: a normal number, so 2^(e+drop) is one as well.
	return float64(q) * math.Float64frombits(uint64(e+drop+1023)<<52)
}

// tens are exact; fives are too.
var tens = [23]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

var fives = func() (f [28]uint64) {
	f[0] = 1
	for k := 1; k < len(f); k++ {
		f[k] = f[k-1] * 5 // 5^27 < 2^63
	}
	return f
}()

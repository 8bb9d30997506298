package dataset

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sameNumber compares number with strconv: the same bits, or it says nothing.
func sameNumber(t interface{ Fatalf(string, ...any) }, text string) (read bool) {
	v, end, ok := number([]byte(text+",9"), 0)
	if !ok || end != len(text) {
		return false
	}
	want, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Float64bits(v) != math.Float64bits(want) {
		t.Fatalf("%s: %x, strconv says %x, %v", text, v, want, err)
	}
	return true
}

// Whatever the digits, the float64 is strconv's to the last bit.
func TestNumberIsStrconvs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[+-]?[0-9]{0,21}(\.[0-9]{0,21})?([eE][+-]?[0-9]{1,5})?`).Draw(t, "text")
		sameNumber(t, digits)
		v := rapid.Float64().Draw(t, "v")
		for _, p := range []int{-1, 3, 15, 16, 17, 18} {
			sameNumber(t, strconv.FormatFloat(v, 'g', p, 64))
			sameNumber(t, strconv.FormatFloat(math.Mod(v, 1e3), 'f', max(p, 0), 64))
		}
		// Ties: halfway between two neighbours of 54 bits, and a little off.
		m := rapid.Uint64Range(1<<53, 1<<54-1).Draw(t, "m") | 1
		sameNumber(t, strconv.FormatUint(m, 10))
		sameNumber(t, strconv.FormatUint(m, 10)+"."+strings.Repeat("0", rapid.IntRange(0, 3).Draw(t, "zeros")))
		half := strconv.FormatFloat(float64(m>>1)/1024, 'f', -1, 64)
		sameNumber(t, half)
		sameNumber(t, half+"1")
	})
}

// Quotients by powers of five that lie on a tie or one digit beside it: w·10^-k with
// w a multiple of 5^k is a binary fraction of up to 64 bits.
func TestTies(t *testing.T) {
	read := 0
	for k := 1; k <= 4; k++ {
		for i := range uint64(4000) {
			// m has 54 bits and is odd: w/10^k = m/2^k is exactly between two float64.
			w := (1<<53 + 2*i*1234567 + 1) * fives[k]
			for _, near := range []uint64{w - 1, w, w + 1} {
				text := strconv.FormatUint(near, 10)
				if len(text) > maxDigits {
					continue
				}
				text = text[:len(text)-k] + "." + text[len(text)-k:]
				if !sameNumber(t, text) {
					t.Fatalf("%s is not read", text)
				}
				read++
			}
		}
	}
	if read < 10000 {
		t.Fatal(read)
	}
}

// The hardest quotients: exactly on a tie in the 64 bits that are computed, and a little above it
// in the remainder.
func TestBeyondTies(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	read := 0
	for k := 1; k <= 27; k++ {
		d := new(big.Int).SetUint64(fives[k] << bits.LeadingZeros64(fives[k]))
		for range 300 {
			q := (r.Uint64()|1<<63)>>12<<12 | 1<<10 // even in 53 bits, and a half behind
			if k%2 == 0 {
				q >>= 1
			}
			// The least w with w·2^63 ≥ q·d.
			w := new(big.Int).Mul(new(big.Int).SetUint64(q), d)
			w.Add(w, new(big.Int).SetUint64(1<<63-1)).Rsh(w, 63)
			if text := w.String(); len(text) <= maxDigits && w.BitLen() == 64 && sameNumber(t, text+"e-"+strconv.Itoa(k)) {
				read++
			}
		}
	}
	if read < 100 {
		t.Fatal(read)
	}
}

// The usual forms take the quick way, and what is no number does not.
func TestNumberReads(t *testing.T) {
	for _, text := range []string{"0", "-0", "+1", "7", "3.5", ".5", "5.", "-12.25", "1e5", "1E-7", "0.1234567890123456", "-1.2345678901234567e-05",
		"12345678901234567", "9999999999999999999", "99999999.99999999999", "0.000000000000000001", "1e-22", "9007199254740993e-3"} {
		if !sameNumber(t, text) {
			t.Errorf("%s is left to strconv", text)
		}
	}
	for _, text := range []string{"", "-", ".", "-.", "e5", "1e", "1e+", "1e12345", "NaN", "inf", "0x1p3", "1_0", " 1", "1 ", "12345678901234567890", "1e400", "1..2", "--1", "1.2345678/9", "1.234567:"} {
		if v, end, ok := number([]byte(text), 0); ok && end == len(text) {
			t.Errorf("%q: %v", text, v)
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1", "-0.1", "9007199254740993", "0.30000000000000004", "1.7976931348623157e308", "5e-324", "123456789.12345678901e-5", "1e", "+.5e+05"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { sameNumber(t, text) })
}

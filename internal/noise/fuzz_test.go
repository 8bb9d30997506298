package noise

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzFill draws from bytes of the fuzzer's: on machine words and on integers of any size the same
// values or the same end, whatever the bytes and σ; and none after an end.
func FuzzFill(f *testing.F) {
	f.Add(uint64(46_085), bytes.Repeat([]byte{0x5a}, 1024))
	f.Add(uint64(1<<30+1), bytes.Repeat([]byte{0xff, 0, 0x13}, 700))
	f.Add(uint64(1), make([]byte, 512))
	f.Fuzz(func(t *testing.T, sigma uint64, source []byte) {
		g, err := NewGaussian(Sigma(sigma % (1 << 62)))
		if err != nil {
			return
		}
		words, integers := make([]int64, 8), make([]int64, 8)
		err, slow := g.Fill(bytes.NewReader(source), words), onIntegers(g).Fill(bytes.NewReader(source), integers)
		if (err == nil) != (slow == nil) || !slices.Equal(words, integers) {
			t.Fatalf("%v (%v) on words, %v (%v) on integers", words, err, integers, slow)
		}
		if err != nil && !slices.Equal(words, make([]int64, 8)) {
			t.Fatalf("%v is left after %v", words, err)
		}
	})
}

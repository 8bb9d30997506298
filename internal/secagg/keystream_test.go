package secagg

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// keyed returns the streams of n keys, every third subtracted.
func keyed(n int) (keys [][32]byte, streams []keystream) {
	for i := range n {
		keys = append(keys, labelled("stream", i))
		streams = append(streams, newKeystream(keys[i][:], i%3 == 1))
	}
	return keys, streams
}

// TestKeystreams: all keys chunk by chunk give what one after another over the whole vector
// does, to the bit: in every ring, of every length about the chunks' ends, whatever is above
// b bits before.
func TestKeystreams(t *testing.T) {
	check := func(t rapid.TB, width uint, lanes, keys int) {
		t.Helper()
		v := make([]uint64, lanes)
		for i := range v {
			v[i] = 0x9e3779b97f4a7c15 * uint64(i+1)
		}
		want := slices.Clone(v)
		for i := range want {
			want[i] &= ringMask(width)
		}
		names, streams := keyed(keys)
		for i, key := range names {
			expandPlainly(want, key[:], width, i%3 == 1)
		}
		addKeystreams(v, width, streams)
		if !slices.Equal(v, want) {
			t.Fatalf("b = %d, %d lanes, %d keys: other numbers", width, lanes, keys)
		}
	}
	for _, width := range Widths {
		for _, lanes := range []int{0, 1, 2, 3, 15, chunkLanes - 1, chunkLanes, chunkLanes + 1, 3*chunkLanes + 5} {
			for _, keys := range []int{0, 1, 2, 5} {
				check(t, width, lanes, keys)
			}
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		check(r, rapid.SampledFrom(Widths).Draw(r, "b"), rapid.IntRange(0, 4*chunkLanes).Draw(r, "lanes"), rapid.IntRange(0, 6).Draw(r, "keys"))
	})
}

// TestKeystreamsAllocate nothing but the one chunk, however long the vector and many the keys.
func TestKeystreamsAllocate(t *testing.T) {
	v := make([]uint64, 5*chunkLanes)
	_, streams := keyed(7)
	for _, width := range Widths {
		if n := testing.AllocsPerRun(5, func() { addKeystreams(v, width, streams) }); n > 1 {
			t.Errorf("b = %d: %g allocations", width, n)
		}
	}
}

// TestSumPacked: a running sum of packed vectors is that of the vectors, in every ring and
// of every length, without an allocation; what does not fit changes nothing.
func TestSumPacked(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		width := rapid.SampledFrom(Widths).Draw(r, "b")
		lanes := rapid.IntRange(0, 40).Draw(r, "lanes")
		sum, want := make([]uint64, lanes), make([]uint64, lanes)
		for range rapid.IntRange(1, 5).Draw(r, "vectors") {
			v := rapid.SliceOfN(rapid.Uint64(), lanes, lanes).Draw(r, "v")
			raw := Pack(v, width)
			SumInto(want, v, width)
			if err := SumPacked(sum, raw[:len(raw):len(raw)], width); err != nil || !slices.Equal(sum, want) {
				r.Fatalf("b = %d: %x, want %x, %v", width, sum, want, err)
			}
		}
	})
	for _, width := range Widths { // every coordinate overflows
		full := bytes.Repeat([]byte{0xff}, 3*int(width/8))
		v := []uint64{1, 2, 3}
		if err := SumPacked(v, full, width); err != nil || !slices.Equal(v, []uint64{0, 1, 2}) {
			t.Errorf("b = %d: %x, %v", width, v, err)
		}
	}
	sum := []uint64{1, 2, 3}
	for _, c := range []struct {
		bytes int
		bits  uint
	}{{15, 48}, {17, 48}, {19, 48}, {0, 48}, {24, 63}, {3, 8}, {0, 0}} {
		if _, ok := errors.AsType[*ConfigError](SumPacked(sum, bytes.Repeat([]byte{1}, c.bytes), c.bits)); !ok || !slices.Equal(sum, []uint64{1, 2, 3}) {
			t.Errorf("%d bytes of three numbers of %d bits: added", c.bytes, c.bits)
		}
	}
	v, raw := make([]uint64, 1000), make([]byte, 6000)
	if n := testing.AllocsPerRun(10, func() { SumPacked(v, raw, 48) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// BenchmarkKeystreams adds the masks of 100 keys.
func BenchmarkKeystreams(b *testing.B) {
	const keys = 100
	for _, width := range []uint{32, 48, 64} {
		for _, lanes := range []int{1_000, 100_000} {
			v := make([]uint64, lanes)
			b.Run(fmt.Sprintf("b=%d/d=%d", width, lanes), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(keys * lanes * int(width/8)))
				for b.Loop() {
					_, streams := keyed(keys)
					addKeystreams(v, width, streams)
				}
			})
		}
	}
}

// expandPlainly adds one stream to v, a number at a time.
func expandPlainly(v []uint64, key []byte, bits uint, subtract bool) {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	stream := cipher.NewCTR(block, make([]byte, aes.BlockSize))
	width := int(bits / 8)
	const chunk = 4096
	buffer := make([]byte, min(chunk, len(v))*width)
	for len(v) > 0 {
		n := min(chunk, len(v))
		part := buffer[:n*width]
		clear(part)
		stream.XORKeyStream(part, part)
		for i := range v[:n] {
			x := load(part[i*width:], bits)
			if subtract {
				x = -x
			}
			v[i] = (v[i] + x) & ringMask(bits)
		}
		v = v[n:]
	}
}

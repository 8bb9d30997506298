package aggregate

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"covey/internal/noise"
)

// veil is what the tests here keep numbers under that they look for, so as not to find their own.
const veil = 0x5a5aa5a53c3cc3c3

// inMemory counts the pairs of neighbors of a veiled vector that this process has in memory, freed
// or not.
func inMemory(t *testing.T, veiled []uint64) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	at := map[uint64]int{}
	for i, v := range veiled {
		at[v] = i
	}
	found := map[int]bool{}
	piece := make([]byte, 1<<20)
	defer clear(piece)
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		var mode string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); err != nil {
			t.Fatal(err)
		}
		if mode[:2] != "rw" {
			continue
		}
		for ; from < to; from += uint64(len(piece)) {
			n, _ := mem.ReadAt(piece[:min(uint64(len(piece)), to-from)], int64(from))
			last := -1
			for i := 0; i+8 <= n; i += 8 {
				k, ok := at[binary.LittleEndian.Uint64(piece[i:])^veil]
				if ok && last >= 0 && k == last+1 {
					found[k] = true
				}
				if last = -1; ok {
					last = k
				}
			}
		}
	}
	return len(found)
}

// TestDrawsAreWiped: of the noise of a release nothing is in memory after it, freed or not, nor of
// the counts that were chosen from: with the release it would give the exact sum.
func TestDrawsAreWiped(t *testing.T) {
	const values, bits = 512, 64
	sum := make([]uint64, values)
	for i := range sum {
		sum[i] = uint64(i) << 40
	}
	sigma, err := noise.SigmaAtLeast(1 << 45)
	if err != nil {
		t.Fatal(err)
	}
	noised, err := addNoise(sum, bits, sigma, noise.NewKeyed([32]byte{1}))
	if err != nil {
		t.Fatal(err)
	}
	veiled := make([]uint64, values)
	for i := range veiled {
		veiled[i] = (uint64(noised[i]) - sum[i]) ^ veil
	}
	if n := inMemory(t, veiled); n > 0 {
		t.Errorf("%d of %d draws are in memory after the release", n, values)
	}
	// The search finds what is there: the release itself.
	for i := range veiled {
		veiled[i] = uint64(noised[i]) ^ veil
	}
	if n := inMemory(t, veiled); n != values-1 {
		t.Errorf("%d of %d released values are found", n, values)
	}
	runtime.KeepAlive(noised)

	p := choicePlan(t)
	ask, err := p.NewAsk(p.Start(), 0)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]uint64, values) // scores are these, capped at the groups
	for i := range counts {
		counts[i] = uint64(i+1) * uint64(p.Groups) / (2 * values)
		veiled[i] = counts[i] ^ veil
	}
	if _, err := choose(p, ask, counts, p.Bits, noise.NewKeyed([32]byte{2})); err != nil {
		t.Fatal(err)
	}
	clear(counts)
	if n := inMemory(t, veiled); n > values/2 { // small numbers in a row are somebody's by chance
		t.Errorf("%d of %d counts are in memory after the choice", n, values)
	}
}

package hostile

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"covey/internal/proposal"
)

// removalKey is what takes away the noise that a sum of u sites of n does not need, of one slot's
// secret: a chain from n down to u.
func removalKey(secret, ctx [32]byte, n, u int) []byte {
	key := derive(secret[:], ctx[:], "noise chain", 32)
	for at := n; at > u; at-- {
		key = derive(key, nil, "noise chain", 32, u16(at))
	}
	return key
}

// TestNoiseIsRemovedForOneSet: what takes a part of a site's own noise away leaves with its shares
// alone, so on a certificate, of a site in the set alone, of that set's size alone, and once a
// query: of another size in the slot nothing is to be had. Rules A6, L8, N15.
func TestNoiseIsRemovedForOneSet(t *testing.T) {
	w := newWorld(t, options{sites: 6, corrupt: []int{0}, rounds: 4, change: func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed }})
	w.begin()
	if !w.plan.Noise.Removes() {
		t.Fatal("nothing is ever taken away")
	}
	least, n := w.plan.Thresholds.MinSurvivors, w.n()
	sets := [][]int{upTo(6), {0, 1, 2, 3, 4}, {0, 1, 2, 4, 5}, {0, 1, 2, 3}}
	seen := map[int]int{} // keys by size of the set
	for k, u := range sets {
		if len(u) < least {
			continue
		}
		f := field{w, k, 2 * k}
		w.name[k] = fmt.Sprint("over ", u)
		a := f.at(0, 1)
		f.wants("upload", f.uploads(a, w.honest...), 5)
		for _, i := range w.honest {
			if w.shares(i, a, u, make([][]byte, n)) != nil {
				t.Errorf("site %d sends shares without a certificate", i)
			}
		}
		f.signs(a, u, w.honest...)
		ctx, head := w.secagg(a).Context, len(sharesLabel)+headSize+32*n
		for _, i := range w.honest {
			raw := w.shares(i, a, u, w.certificate(a, u))
			if len(raw) < head {
				t.Fatalf("site %d sends no shares", i)
			}
			var want []byte
			if slices.Contains(u, i) && len(u) > least {
				want = removalKey(w.truth[i][a.Slot], ctx, n, len(u))
				seen[len(u)]++
			}
			if !bytes.Equal(raw[head:], want) {
				t.Errorf("over %v site %d sends %d bytes behind its shares, want %d", u, i, len(raw)-head, len(want))
			}
			for size := least; size <= n; size++ {
				if key := removalKey(w.truth[i][a.Slot], ctx, n, size); size != len(u) && bytes.Contains(bytes.Join(w.view.shares, nil), key) {
					t.Errorf("over %v site %d tells what belongs to %d survivors", u, i, size)
				}
			}
		}
		for _, other := range sets {
			if !slices.Equal(other, u) {
				f.wants("open another set", f.opens(a, other, w.honest...), 0)
			}
		}
		w.final(a, u)
	}
	if seen[6] != 5 || seen[5] != 8 {
		t.Errorf("keys by size of the set: %v", seen)
	}
}

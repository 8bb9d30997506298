package study_test

import (
	"reflect"
	"runtime"
	"testing"

	"covey/internal/packed"
	"covey/internal/proposal"
	"covey/internal/study"
)

// TestParseHead: the head is the release but for its values, which it does not read.
func TestParseHead(t *testing.T) {
	r := study.Release{Study: proposal.Digest{1}, Query: 3, Slot: 4, Kind: study.KindPower, Round: 2, Survivors: []int{0, 2}, Units: 7,
		X: packed.Floats{1, 0}, Center: packed.Floats{0.5, 2}, Radius: 3, Grid: 0.25, Sigma: 9, Removed: []int{2}, Rho: 0.125, Noised: packed.Ints{1, -300}}
	encoded, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	before := string(encoded)
	head, err := study.ParseHead(encoded)
	r.Noised = nil
	if err != nil || !reflect.DeepEqual(head, r) || string(encoded) != before {
		t.Errorf("%+v, %v; want %+v", head, err, r)
	}
	r.X, r.Noised = nil, make(packed.Ints, 2_001_000)
	long, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	const runs = 10
	var began, ended runtime.MemStats
	runtime.ReadMemStats(&began)
	for range runs {
		if _, err := study.ParseHead(long); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&ended)
	if n := (ended.TotalAlloc - began.TotalAlloc) / runs; n > 64<<10 {
		t.Errorf("%d bytes are allocated for the head of a release of %d", n, len(long))
	}
	for _, bad := range []string{"", "{}", `,"noised":"`, `{"query":1}`, `{"query":"1","noised":"i1AA=="}`} {
		if head, err := study.ParseHead([]byte(bad)); err == nil {
			t.Errorf("%q has the head %+v", bad, head)
		}
	}
}

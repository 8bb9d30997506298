package study_test

import (
	"math"
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

// TestEncodedAs: a release is encoded as Encode's bytes and as no others, which are compared
// without a second copy of them.
func TestEncodedAs(t *testing.T) {
	r := study.Release{Study: proposal.Digest{1}, Query: 3, Kind: study.KindPower, Survivors: []int{0, 2}, Units: 7,
		X: packed.Floats{1, 0}, Radius: 3, Grid: 0.25, Sigma: 9, Rho: 0.125, Noised: packed.Ints{1, -300}}
	for i, noised := range []packed.Ints{nil, {1, -300}, {1, 2, 3, 1 << 40, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}} {
		r.Noised = noised
		if i == 1 { // the text of a vector of one 0 in a place that Encode escapes
			r.X, r.Found, r.Kind = packed.Floats{0}, packed.Floats{0}, `","x":"f8AAAAAAAAAAA="`
		}
		if i == 2 {
			r.X, r.Center, r.Scale, r.Fill, r.Deviations = nil, packed.Floats{3}, packed.Floats{4, 5}, packed.Floats{6}, packed.Floats{7}
		}
		encoded, err := r.Encode()
		if err != nil || !r.EncodedAs(encoded) {
			t.Fatalf("%s: %v", encoded, err)
		}
		for i := range encoded {
			for _, other := range [][]byte{encoded[:i], append(encoded[:i:i], encoded[i+1:]...), append(append(encoded[:i:i], ' '), encoded[i:]...),
				append(append(encoded[:i:i], encoded[i]^1), encoded[i+1:]...)} {
				if r.EncodedAs(other) {
					t.Fatalf("%s is taken for %s", other, encoded)
				}
			}
		}
		if r.EncodedAs(append(encoded, ' ')) {
			t.Error("a longer one is taken")
		}
	}
	r.Radius = math.NaN()
	if r.EncodedAs(nil) {
		t.Error("what does not encode is taken for nothing")
	}
	r.Radius, r.X = 3, packed.Floats{math.NaN()}
	if r.EncodedAs(nil) {
		t.Error("a vector that does not encode is taken for nothing")
	}
	r.X, r.Noised = make(packed.Floats, 1_000_000), make(packed.Ints, 2_001_000)
	long, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var began, ended runtime.MemStats
	runtime.ReadMemStats(&began)
	if !r.EncodedAs(long) {
		t.Error("a long one is not its own")
	}
	runtime.ReadMemStats(&ended)
	if n := int(ended.TotalAlloc - began.TotalAlloc); n > len(long)/8 {
		t.Errorf("%d bytes are allocated to compare %d", n, len(long))
	}
}

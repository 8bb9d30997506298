package packed

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestTexts: texts that analysts' programs read.
func TestTexts(t *testing.T) {
	for text, v := range map[string]Ints{
		"":               nil,
		"i1AH+A/w==":     {0, 127, -128, -1},
		"i2AAEA/38A":     {256, -256, 127},
		"i3AAABAACA//9/": {65536, -8388608, 8388607},
		"i4AAAAAf////8=": {16777216, -1},
		"i4AAAAgA==":     {-2147483648},
		"i5AAAAgAA=":     {2147483648},
		"i6AAAAAAAB":     {1099511627776},
		"i7AAAAAAAAgA==": {-36028797018963968},
		"i8AAAAAAAAgAA=": {36028797018963968},
		"i8AAAAAAAAAIA=": {-9223372036854775808},
		"i8/////////38=": {9223372036854775807},
		"i1AQID/AAFBQUFBQUFBQU=,BAAAAAAAAAAAAQAA":                     {1, 2, 3, -4, 1099511627776, 5, 5, 5, 5, 5, 5, 5, 5, 5}, // one is in 12 bytes more
		"i2LAEsASwBLAEsASwBLAEsASwBLAEsASwBLAEsAQAA,DgAAAAAAAAD+////": {300, 300, 300, 300, 300, 300, 300, 300, 300, 300, 300, 300, 300, 300, -8589934592},
	} {
		var back Ints
		got, err := v.MarshalText()
		if err != nil || string(got) != text {
			t.Errorf("%v is written %q, %v; want %q", v, got, err, text)
		}
		if err := back.UnmarshalText([]byte(text)); err != nil || !slices.Equal(back, v) {
			t.Errorf("%q is read as %v, %v", text, back, err)
		}
		if !v.IsText([]byte(text)) || v.IsText([]byte(text+"A")) || len(text) > 0 && v.IsText([]byte(text[:len(text)-1])) {
			t.Errorf("%v is not its text %q, or also another", v, text)
		}
	}
	for text, v := range map[string]Floats{
		"":                           nil,
		"f8AAAAAAAA8D8AAAAAAAAAgA==": {1, math.Copysign(0, -1)},
	} {
		var back Floats
		if got, err := v.MarshalText(); err != nil || string(got) != text {
			t.Errorf("%v is written %q, %v; want %q", v, got, err, text)
		}
		if err := back.UnmarshalText([]byte(text)); err != nil || !slices.Equal(back, v) {
			t.Errorf("%q is read as %v, %v", text, back, err)
		}
	}
}

// TestOtherFormsAreRefused: a vector has one text.
func TestOtherFormsAreRefused(t *testing.T) {
	count := 0
	for _, text := range []string{
		"i", "i1", "f8", "i0AA==", "i9AAAAAAAAAAAA", "u1AA==", "I1AA==", "1AA==", "i1AA", "i1AA=", "i1AB==", "i1AA==\n", "i1A\nA==", " i1AA==", "i1-_8=",
		"i1AQID/AAFBQUFBQUFBQU=,BAAAAAAAAAAAAQAA\n", "i1AQID/AAFBQUFBQUFBQU=,BAAA\nAAAAAAAAAQAA", "i1" + strings.Repeat("A", 4*piece/3-1) + "=AAAA", // padded inside, at the end of a piece
		"i2AAA=", "i2//8=", "i2gP8=", "i3AQAAAID/", "i2BQA=", "i2AAAA", "i8AQAAAAAAAAA=", "i8AAAAAAAAgAA=AAAAAAAAgAA=", // in more bytes than they need, of half a number, padded inside
		// exceptions: longer than another width, missing, none, not split, of no number, of a
		// number that is there, that fits, not ascending, twice, cut
		"i1AAE=,AAAAAAAAAAAAAQAA", "i6AQAAAAAAAgAAAAAAAwAAAAAA/P//////AAAAAAABBQAAAAAABQAAAAAABQAAAAAABQAAAAAABQAAAAAABQAAAAAABQAAAAAABQAAAAAABQAAAAAA", "i1AQID/AAFBQUFBQUFBQU=,BAAAAAAAAAAAAQAA,", "i1Kg==,", "i1AQID/AAFBQUFBQUFBQU=BAAAAAAAAAAAAQAA", "i1AQID/AAFBQUFBQUFBQU=,DgAAAAAAAAAAAQAA", "i1AQEBAQEBAQEBAQEBAQEBAQ==,BAAAAAAAAAAAAQAA", "i1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,BAAAAGQAAAAAAAAA", "i1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==,BAAAAAAAAAAAAQAAAwAAAAAAAAAAAQAA", "i1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==,BAAAAAAAAAAAAQAABAAAAAAAAAAAAQAA", "i1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==,BAAAAAAAAAAAAQA=",
	} {
		count++
		var v Ints
		if err := v.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
	bits := func(u ...byte) string { return "f8" + base64.StdEncoding.EncodeToString(u) }
	for _, text := range []string{"f8", "f8AA==", "f4AACAPw==", "i8AAAAAAAA8D8=", "f8AAAAAAAA8D9=", "f8AAAAAAAA8D8",
		bits(0, 0, 0, 0, 0, 0, 0xf0, 0x7f), bits(0, 0, 0, 0, 0, 0, 0xf0, 0xff), bits(1, 0, 0, 0, 0, 0, 0xf8, 0x7f), bits(make([]byte, 9)...)} {
		count++
		var v Floats
		if err := v.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if text, err := (Floats{1, x}).MarshalText(); err == nil {
			t.Errorf("%v is written %q", x, text)
		}
	}
	t.Logf("figure: %d bad inputs: packed numbers", count)
}

// TestEveryVectorComesBack over lengths and widths.
func TestEveryVectorComesBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for turn := range 20_000 {
		n, shift := rng.IntN(60), rng.IntN(64)
		if turn%100 == 0 { // of several pieces, the last one whole or not
			n = piece*rng.IntN(4) + rng.IntN(3)
		}
		ints, floats := make(Ints, n), make(Floats, n)
		for i := range n {
			ints[i] = int64(rng.Uint64()) >> shift
			if rng.IntN(8) == 0 {
				ints[i] = int64(rng.Uint64()) >> rng.IntN(64)
			}
			if v := math.Float64frombits(rng.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
				floats[i] = v
			}
		}
		var i Ints
		var f Floats
		other := func(text []byte) []byte { // a byte of it changed
			if len(text) > 0 {
				text[rng.IntN(len(text))]++
			}
			return append(text, 0)
		}
		text, err := ints.MarshalText()
		if err == nil {
			err = i.UnmarshalText(text)
		}
		if !ints.IsText(text) || ints.IsText(other(text)) {
			t.Fatalf("%v is not its text, or also another", ints)
		}
		if err != nil || !slices.Equal(i, ints) {
			t.Fatalf("%v comes back as %v: %v", ints, i, err)
		}
		text, err = floats.MarshalText()
		if err == nil {
			err = f.UnmarshalText(text)
		}
		type pair struct {
			A Floats `json:"a,omitempty"`
			B Floats `json:"b,omitempty"`
		}
		whole, err2 := json.Marshal(pair{floats, floats})
		head, err3 := json.Marshal(pair{floats.StandIn(), floats.StandIn()})
		rest, same := Behind(append(slices.Clip(whole), "rest"...), head, floats, floats)
		_, differs := Behind(other(whole), head, floats, floats)
		if err2 != nil || err3 != nil || !same || string(rest) != "rest" || n > 0 && differs {
			t.Fatalf("%s stands for %d numbers: the text is its own, %v, and so is another, %v", head, n, same, differs)
		}
		if err != nil || !slices.Equal(f, floats) {
			t.Fatalf("%v comes back as %v: %v", floats, f, err)
		}
	}
}

// TestBehindNothing: nothing is behind a vector that has no text, nor behind a beginning with a
// string that only reads like a stand-in.
func TestBehindNothing(t *testing.T) {
	for name, c := range map[string]struct {
		text, head string
		v          []Floats
	}{
		"not a number":      {`{"a":"f8AQAAAAAA+H8="}`, `{"a":"f8AAAAAAAAAAA="`, []Floats{{math.Float64frombits(0x7ff8000000000001)}}},
		"a string too many": {`{"a":"f8AAAAAAAA8D8=","b":"another"}`, `{"a":"f8AAAAAAAAAAA=","b":"f8AAAAAAAAAAA="`, []Floats{{1}}},
		"a string too few":  {`{"a":"f8AAAAAAAA8D8="}`, `{"a":"f8AAAAAAAAAAA="`, []Floats{{1}, {1}}},
	} {
		if rest, ok := Behind([]byte(c.text), []byte(c.head), c.v...); ok {
			t.Errorf("%s: %q is behind it", name, rest)
		}
	}
}

// TestTooManyInts: a short text cannot take eight times its bytes of memory without a bound.
func TestTooManyInts(t *testing.T) {
	text := []byte("i1" + strings.Repeat("AAAA", maxInts/3+1))
	var v Ints
	if err := v.UnmarshalText(text); err == nil || v != nil {
		t.Error("they are read")
	}
	if err := v.UnmarshalText([]byte("i1" + base64.StdEncoding.EncodeToString(make([]byte, maxInts)))); err != nil || len(v) != maxInts {
		t.Error(len(v), err)
	}
}

func FuzzInts(f *testing.F) {
	for _, text := range []string{"", "i1AH+A/w==", "i3AAABAACA//9/", "i8AAAAAAAAAIA=", "i2//8=", "i1AQID/AAFBQUFBQUFBQU=,BAAAAAAAAAAAAQAA"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v Ints
		if v.UnmarshalText(text) != nil {
			return
		}
		if again, err := v.MarshalText(); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%q is read, and written %q, %v", text, again, err)
		}
	})
}

func FuzzFloats(f *testing.F) {
	for _, text := range []string{"", "f8AAAAAAAA8D8AAAAAAAAAgA==", "f8AAAAAAAA8H8="} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v Floats
		if v.UnmarshalText(text) != nil {
			return
		}
		if again, err := v.MarshalText(); err != nil || !bytes.Equal(again, text) {
			t.Errorf("%q is read, and written %q, %v", text, again, err)
		}
	})
}

package profile

import (
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"covey/internal/dataset"
)

// Whatever the bytes, what is guessed of them is a mapping that can be.
func FuzzGuess(f *testing.F) {
	for _, text := range []string{"a;b\n1,5;2\n", "\xff\xfea\x00,\x00b\x00\n\x00\x00\xd8", "x\n\na|b\n\"1|2\n3|4|5\n"} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, head []byte, cut bool) {
		if m := guessText(dataset.Mapping{}, head, cut); m.Check("") != nil {
			t.Fatalf("%+v is guessed: %v", m, m.Check(""))
		}
	})
}

// What an encoding writes is taken for it; Latin-1 is part of Windows-1252.
func TestEncodingIsGuessed(t *testing.T) {
	for with, want := range map[encoding.Encoding]dataset.Encoding{charmap.ISO8859_1: dataset.Windows1252, charmap.Windows1252: dataset.Windows1252, unicode.UTF16(unicode.BigEndian, unicode.UseBOM): dataset.UTF16} {
		raw, err := with.NewEncoder().String("a,größe µ é\n1,2\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := guessText(dataset.Mapping{}, []byte(raw), false).Encoding; got != want {
			t.Errorf("%v is taken for %q, want %q", with, got, want)
		}
	}
}

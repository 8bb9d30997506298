package study_test

import (
	"bytes"
	"encoding"
	"reflect"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
)

// FuzzTexts: what reads itself from text has one form, up to the case of hex digits.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"", "ff", "00000000000000000000000000000000000000000000000000000000000000aB", "AAA=", "AA==\n", "1h2m3.5s", "-1ns", "9223372036854775807ns"} {
		for kind := range byte(4) {
			f.Add(kind, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, text []byte) {
		var into interface {
			encoding.TextUnmarshaler
			encoding.TextMarshaler
		}
		switch kind % 4 {
		case 0:
			into = new(proposal.Digest)
		case 1:
			into = new(proposal.Key)
		case 2:
			into = new(result.Blob)
		case 3:
			into = new(proposal.Duration)
		}
		if into.UnmarshalText(text) != nil {
			return
		}
		written, err := into.MarshalText()
		if err != nil || kind%4 < 2 && !bytes.EqualFold(written, text) || kind%4 == 2 && !bytes.Equal(written, text) {
			t.Fatalf("%T of %q is written %q (%v)", into, text, written, err)
		}
		again := reflect.New(reflect.TypeOf(into).Elem()).Interface().(encoding.TextUnmarshaler)
		if err := again.UnmarshalText(written); err != nil || !reflect.DeepEqual(again, into) {
			t.Fatalf("%T of %q is read as %v (%v)", into, written, again, err)
		}
	})
}

package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"covey/internal/frame"
)

// FuzzVersionOf: whatever the other end says, a version that can be agreed on and shown, and
// which says itself again in one form.
func FuzzVersionOf(f *testing.F) {
	f.Add("3", "2", "covey-agent/1.4.0")
	f.Add("", "", "")
	f.Add("+3", "03", "\x1b[31m")
	f.Add("99999999999999999999", "-1", "a/b")
	f.Fuzz(func(t *testing.T, newest, oldest, software string) {
		v := VersionOf(map[string][]string{protocolKey: {newest}, oldestKey: {oldest}, softwareKey: {software}}, "an agent")
		if v.Oldest < 0 || (v.Oldest == 0) != (v.Protocol == 0) || v.Oldest > v.Protocol || v.Protocol >= 1<<16 || v.Software == "" || len(v.Software) > 60 {
			t.Fatalf("%+v", v)
		}
		said := map[string][]string{}
		for pairs := v.Pairs(); len(pairs) > 0; pairs = pairs[2:] {
			said[pairs[0]] = []string{pairs[1]}
		}
		if again := VersionOf(said, "an agent"); v.Software == frame.Clean(v.Software) && again != v {
			t.Fatalf("%+v is read again as %+v", v, again)
		}
		if err := Agree(v, This("covey-coordinator")); err != nil && err.Error() == "" {
			t.Fatal("no word about it")
		}
	})
}

// FuzzReceive cuts text into frames where cuts says, the last of a message where its bit says: what
// is received is what was sent, and no more than the limit is held.
func FuzzReceive(f *testing.F) {
	f.Add([]byte("abc"), []byte{0x81}, 10)
	f.Add(bytes.Repeat([]byte("x"), 300), []byte{5, 0, 0x80, 7}, 100)
	f.Fuzz(func(t *testing.T, text, cuts []byte, limit int) {
		limit = min(max(limit, 0), 1<<20)
		var want []byte
		var open bool
		at, frames := text, cuts
		next := func() ([]byte, bool, error) {
			if len(frames) == 0 {
				return nil, false, io.EOF
			}
			n := min(int(frames[0]&0x7f), len(at))
			data, last := at[:n], frames[0]&0x80 != 0
			at, frames = at[n:], frames[1:]
			want, open = append(want, data...), true
			return data, last, nil
		}
		for {
			want, open = nil, false
			got, err := Receive(next, limit)
			switch {
			case err == nil && bytes.Equal(got, want) && len(got) <= limit:
				continue
			case errors.Is(err, ErrTooLong) && len(want) > limit:
			case err == io.EOF && (!open || len(want) == 0): // frames without a byte are not the beginning of a message
			case err == io.ErrUnexpectedEOF && open:
			default:
				t.Fatalf("%d bytes, %v of %d sent under a limit of %d", len(got), err, len(want), limit)
			}
			return
		}
	})
}

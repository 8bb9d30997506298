package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"covey/internal/frame"
	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
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

// FuzzProposed reads what an analyst sends as a proposal: it is refused, or within its bound and
// written again as it was read.
func FuzzProposed(f *testing.F) {
	for _, p := range []*covey.Proposal{{}, {Body: []byte("version = 3"), Signature: make([]byte, 64)}} {
		raw, err := proto.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte{0x0a, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := decodeProposed(raw)
		if err != nil {
			return
		}
		if len(p.Body) > MaxProposed {
			t.Fatalf("%d bytes", len(p.Body))
		}
		again, err := proto.Marshal(&covey.Proposal{Body: p.Body, Signature: p.Signature})
		if err != nil {
			t.Fatal(err)
		}
		if q, err := decodeProposed(again); err != nil || !bytes.Equal(q.Body, p.Body) || !bytes.Equal(q.Signature, p.Signature) {
			t.Fatalf("%+v is read again as %+v (%v)", p, q, err)
		}
	})
}

// FuzzTold reads what a coordinator says of a study: it is refused, or says the same again and can
// be printed as JSON.
func FuzzTold(f *testing.F) {
	for _, told := range []Told{
		{Study: proposal.Digest{1}, Name: "x", Phase: PhaseProposed, Answers: []Answer{{Site: "north", Verdict: study.VerdictPending, Awaited: true, Gone: true}}},
		{Study: proposal.Digest{2}, Own: true, Phase: PhaseEnded, Code: study.CodeRetracted, Done: 3, Queries: 9, Proposed: time.Unix(10, 0).UTC(), Ended: time.Unix(20, 0).UTC()},
	} {
		raw, err := proto.Marshal(told.message())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m covey.Study
		if proto.Unmarshal(raw, &m) != nil {
			return
		}
		told, err := toldOf(&m)
		if err != nil {
			return
		}
		again, err := toldOf(told.message())
		if err != nil || !reflect.DeepEqual(again, told) {
			t.Fatalf("%+v is read again as %+v (%v)", told, again, err)
		}
		if _, err := json.Marshal(told); err != nil {
			t.Fatal(err)
		}
	})
}

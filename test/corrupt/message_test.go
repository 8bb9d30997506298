package corrupt

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// TestMalformed: whatever bytes a site sends as a message, the link ends with a status, and nothing
// else changes: the study goes on with the others (R13, LIM-5).
func TestMalformed(t *testing.T) {
	inBubble(t, func(f *bubble) {
		d := f.study("meanwhile", func(s *proposal.Spec) { s.Rounds, s.Deadlines.Tick = 4, proposal.Duration(time.Second) })
		digest := d[:]
		hello := helloMessage()
		nested := func(tag byte, body []byte) []byte { // tag's field, of any length
			n, out := len(body), []byte{tag}
			for ; n > 127; n >>= 7 {
				out = append(out, byte(n)|0x80)
			}
			return append(append(out, byte(n)), body...)
		}
		for _, c := range []struct {
			name string
			raw  []byte
			want string
		}{
			{"nothing", nil, "not a site message"},
			{"noise", []byte("\xff\xfe\x00 not protobuf"), "not a site message"},
			{"cut short", hello[:len(hello)-1], "not a site message"},
			{"two bodies", append(bytes.Clone(hello), siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{Study: digest}}})...), "not a site message"},
			{"a body that there is not", nested(15<<3|2, []byte{8, 1}), "without a study"},
			{"a number instead of a body", []byte{0x08, 1}, "not a site message"},
			{"names that are not UTF-8", nested(0x0a, []byte{0x0a, 2, 0xc3, 0x28}), "not a site message"},
			{"a name of a data set that is not UTF-8", nested(0x0a, []byte{0x12, 4, 0x0a, 2, 0xff, 0xff}), "not a site message"},
			{"a short digest", siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{Study: digest[:31]}}}), "without a study"},
			{"more boxes than any roster", nested(0x22, bytes.Repeat([]byte{0x1a, 0}, 10_500)), "not a site message"},
			{"more survivors than any roster", nested(9<<3|2, nested(8<<3|2, make([]byte, 60<<10))), "not a site message"},
			{"more data sets than anybody has", nested(0x0a, bytes.Repeat([]byte{0x12, 0}, 10_500)), "not a site message"},
			{"a message over its limit", make([]byte, 4<<20), "over its limit"},
		} {
			ctx, cancel := context.WithCancel(f.ctx)
			w, err := f.proxy.dial(ctx)
			f.Must(err)
			f.Must(w.send(hello))
			if err := w.send(c.raw); err != nil && !strings.Contains(err.Error(), "EOF") {
				t.Errorf("%s: %v", c.name, err)
			}
			for err = nil; err == nil; {
				_, err = w.receive() // what the study has to say, up to the end
			}
			if status.Code(err) != codes.Aborted || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			w.conn.Close()
			cancel()
		}
		// A frame over 1 MiB does not even get there.
		w, err := f.proxy.dial(f.ctx)
		f.Must(err)
		w.Send(&covey.LinkRequest{Frame: &covey.Frame{Data: make([]byte, wire.Max+2<<10), Last: true}})
		for err = nil; err == nil; {
			_, err = w.receive()
		}
		if !strings.Contains(err.Error(), "larger than max") {
			t.Errorf("a large frame: %v", err)
		}
		w.conn.Close()
		v, _, _ := f.private(d)
		if v.Status != round.StatusCompleted || len(v.Faults) > 0 {
			t.Errorf("%+v", v)
		}
		for i, s := range v.Sites[:honest] {
			if !s.Connected {
				t.Errorf("%s lost its link", f.sites[i])
			}
		}
	})
}

// TestSpeaksForNobody: a stream that has not said hello, or whose site opened another since, speaks
// for nobody; of several streams without a hello the oldest ends (LIM-4).
func TestSpeaksForNobody(t *testing.T) {
	inBubble(t, func(f *bubble) {
		d := f.study("meanwhile", func(s *proposal.Spec) { s.Rounds = 2 })
		refusal := siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: d[:], Code: covey.Code_CODE_PLAN_MISMATCH}}})
		w, err := f.proxy.dial(f.ctx)
		f.Must(err)
		defer w.conn.Close()
		f.Must(w.send(refusal))
		if _, err := w.receive(); status.Code(err) != codes.Aborted || !strings.Contains(err.Error(), "before hello") {
			t.Errorf("without a hello: %v", err)
		}
		var open []*siteLink
		for range 4 {
			w, err := f.proxy.dial(f.ctx)
			f.Must(err)
			defer w.conn.Close()
			time.Sleep(time.Second)
			open = append(open, w)
		}
		for i, w := range open[:3] {
			if _, err := w.receive(); status.Code(err) != codes.Aborted || !strings.Contains(err.Error(), "another link") {
				t.Errorf("stream %d of 4: %v", i, err)
			}
		}
		if v := f.node.Coordinator.View(d); len(v.Faults) > 0 || !v.Sites[mallory].Connected {
			t.Errorf("%+v", v)
		}
		f.completed(d)
	})
}

// TestHelloFlood: hellos, and messages that change nothing, are worked off at a bounded rate,
// however fast they come; another site's are not held up (LIM-6).
func TestHelloFlood(t *testing.T) {
	inBubble(t, func(f *bubble) {
		f.proxy.leave()
		for _, c := range []struct {
			name  string
			raw   []byte
			count int
			least time.Duration
		}{
			{"hellos", helloMessage(), 2000, 45 * time.Second},
			{"of no study", siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{Study: make([]byte, 32)}}}), 10_000, 25 * time.Second},
		} {
			if testing.Short() && c.name != "hellos" {
				continue
			}
			time.Sleep(time.Minute) // the site owes nothing
			w, err := f.proxy.dial(f.ctx)
			f.Must(err)
			f.Must(w.send(helloMessage()))
			began := time.Now()
			for range c.count {
				f.Must(w.send(c.raw))
			}
			f.Must(w.send([]byte{0xff})) // ends the link when its turn comes
			d := f.study(c.name, func(s *proposal.Spec) { s.Sites = f.sites[:mallory]; s.Rounds = 2 })
			f.completed(d)
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s: a study of other sites took %v", c.name, took)
			}
			for err = nil; err == nil; {
				_, err = w.receive()
			}
			if took := time.Since(began); took < c.least || !strings.Contains(err.Error(), "not a site message") {
				t.Errorf("%s: %d were worked off in %v: %v", c.name, c.count, took, err)
			}
			w.conn.Close()
		}
	})
}

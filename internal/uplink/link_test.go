package uplink

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"covey/internal/egress"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// newUplink returns the link's keeper of a site that knows no study.
func newUplink(t testing.TB, handle func(wire.Message) wire.Message) *Uplink {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	record, err := egress.Open(t.TempDir(), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { record.Close() })
	return New(Options{Log: log, Now: time.Now, Egress: record, Work: new(sync.WaitGroup), Handle: handle, Head: func(wire.Head) {},
		Hello: func() wire.Hello { return wire.Hello{} }, Studies: func(*wire.Hello) {}, QuantumSafe: func() bool { return false }, Ceiling: func() int { return LeastMessage }})
}

// refused is a site's answer to whatever it is asked.
func refused(r wire.Message) wire.Message {
	if offer, ok := r.(wire.Proposal); ok {
		return wire.Decision{Header: wire.Header{Study: proposal.DigestOf(offer.Body)}, Verdict: study.VerdictRejected, Code: study.CodePlanMismatch}
	}
	return wire.Refusal{Header: r.About(), Code: study.CodeUnknownStudy}
}

// TestUnrecordedIsNotSent: what cannot be written to the site's record does not leave, and ends the
// link.
func TestUnrecordedIsNotSent(t *testing.T) {
	for _, full := range []bool{false, true} {
		u := newUplink(t, refused)
		ctx, cancel := context.WithCancel(t.Context())
		l := newLink(ctx, u)
		l.post(wire.Refusal{Code: study.CodeHeld})
		if full {
			if err := u.o.Egress.Close(); err != nil {
				t.Fatal(err)
			}
		}
		sent := 0
		err := l.write(func([]byte, bool) error { sent++; cancel(); return nil })
		cancel()
		if unrecorded := errors.Is(err, os.ErrClosed); unrecorded != full || (sent == 0) != full {
			t.Errorf("%d sent, %v", sent, err)
		}
	}
}

// coordinatorMessage is a message as it is on the wire.
func coordinatorMessage(t *testing.T, m *covey.CoordinatorMessage) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// inFrames returns a message piece by piece, then io.EOF.
func inFrames(raw []byte) func() ([]byte, bool, error) {
	return func() ([]byte, bool, error) {
		if raw == nil {
			return nil, false, io.EOF
		}
		n := min(len(raw), wire.Size)
		data, last := raw[:n], n == len(raw)
		if raw = raw[n:]; last {
			raw = nil
		}
		return data, last, nil
	}
}

// TestDeafCoordinator: AG-28. A coordinator that asks and never takes an answer does not fill a
// site's memory: the site reads no more of it.
func TestDeafCoordinator(t *testing.T) {
	for name, ask := range map[string]func(int) *covey.CoordinatorMessage{
		// refused: of three studies, which are worked on side by side
		"questions": func(i int) *covey.CoordinatorMessage {
			id := make([]byte, 32)
			id[0] = byte(i % 3)
			return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: id}}}
		},
		"proposals": func(i int) *covey.CoordinatorMessage { // rejected
			return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: []byte{byte(i), byte(i >> 8)}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUplink(t, refused)
				ctx, end := context.WithCancel(t.Context())
				l := newLink(ctx, u)
				u.begin(l, "somewhere", pki.KeyExchange{})
				const most = 4 * maxWaiting
				asked := 0
				u.o.Work.Go(func() {
					l.read(func() ([]byte, bool, error) {
						if asked == most {
							<-ctx.Done()
							return nil, false, ctx.Err()
						}
						raw, err := proto.Marshal(ask(asked))
						asked++
						return raw, true, err
					})
				})
				synctest.Wait()
				if asked >= most {
					t.Errorf("%d messages were read while no answer was taken", asked)
				}
				// Somebody takes them: it goes on.
				u.o.Work.Go(func() { l.write(func([]byte, bool) error { return nil }) })
				synctest.Wait()
				if asked != most {
					t.Errorf("%d messages of %d were read in the end", asked, most)
				}
				end()
				u.o.Work.Wait()
			})
		})
	}
}

// TestAttackAmplification: a deal of 32 MiB, under -short of 4 MiB, for a study that nobody knows,
// whose entries are empty or whose numbers are small, takes no more memory than a few times its
// bytes. AG-36.
func TestAttackAmplification(t *testing.T) {
	u := newUplink(t, nil)
	id := make([]byte, 32)
	size := 32 << 20
	if testing.Short() {
		size = 4 << 20
	}
	survivors := make([]uint32, size-100)
	for name, m := range map[string]*covey.CoordinatorMessage{
		"announcements": {Body: &covey.CoordinatorMessage_Deal{Deal: &covey.Deal{Study: id, Announcements: make([][]byte, size/2-50)}}},
		"boxes":         {Body: &covey.CoordinatorMessage_Confirm{Confirm: &covey.Confirm{Study: id, Boxes: make([][]byte, size/16)}}},
		"certificate":   {Body: &covey.CoordinatorMessage_Open{Open: &covey.Open{Study: id, Certificate: make([][]byte, size/16)}}},
		"survivors":     {Body: &covey.CoordinatorMessage_Release{Release: &covey.Release{Study: id, Survivors: survivors}}},
	} {
		raw := coordinatorMessage(t, m)
		m.Body = nil
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx, end := context.WithCancel(t.Context())
		err := newLink(ctx, u).read(inFrames(raw))
		end()
		runtime.ReadMemStats(&after)
		u.o.Work.Wait()
		if err != wire.ErrNotCoordinator {
			t.Errorf("%s: the link ends with %v", name, err)
		}
		// The pieces are put together in a slice that grows.
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*uint64(size) {
			t.Errorf("%s: %d MiB allocated for %d MiB", name, took>>20, len(raw)>>20)
		}
	}
}

// TestTooLongMessage: what is longer than the site's ceiling ends the link. AG-36.
func TestTooLongMessage(t *testing.T) {
	u := newUplink(t, nil)
	read := func(bytes int) error {
		ctx, end := context.WithCancel(t.Context())
		defer u.o.Work.Wait()
		defer end()
		return newLink(ctx, u).read(inFrames(make([]byte, bytes)))
	}
	if err := read(LeastMessage + 1); err != wire.ErrTooLong {
		t.Errorf("one byte too many: %v", err)
	}
	if err := read(LeastMessage); err != wire.ErrNotCoordinator {
		t.Errorf("as long as may be: %v", err)
	}
}

// TestHeldBytes: what was read and is not worked off yet is bounded in bytes, whatever the number
// of messages. AG-36.
func TestHeldBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUplink(t, refused)
		ctx, end := context.WithCancel(t.Context())
		l := newLink(ctx, u)
		for range maxWaiting { // nobody takes answers: what is worked off waits for room
			l.post(wire.Refusal{Code: study.CodeHeld})
		}
		read := 0
		u.o.Work.Go(func() {
			err := l.read(func() ([]byte, bool, error) {
				if read == 10 {
					<-ctx.Done()
					return nil, false, ctx.Err()
				}
				read++
				body := make([]byte, maxHeld/4)
				body[0] = byte(read)
				return coordinatorMessage(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: body}}}), true, nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		if read > 5 {
			t.Errorf("%d messages are held, each a quarter of what may be", read)
		}
		u.o.Work.Go(func() { l.write(func([]byte, bool) error { return nil }) })
		synctest.Wait()
		if read != 10 {
			t.Errorf("%d of 10 were read in the end", read)
		}
		end()
		u.o.Work.Wait()
	})
}

// TestHeadsInTheirOrder: heads of the chain are passed on as they are read, before what comes
// behind them is worked on, and those of a link that was replaced are not.
func TestHeadsInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []uint64
		u := newUplink(t, func(wire.Message) wire.Message {
			got = append(got, 100)
			return nil
		})
		u.o.Head = func(m wire.Head) { got = append(got, m.Base.Number) }
		head := func(n uint64) []byte {
			return coordinatorMessage(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Head{Head: &covey.Head{Base: n, BaseHead: make([]byte, 32)}}})
		}
		read := func(l *link, all ...[]byte) {
			for _, raw := range all {
				if err := l.read(inFrames(raw)); err != io.EOF {
					t.Fatal(err)
				}
			}
			synctest.Wait()
		}
		old, now := newLink(t.Context(), u), newLink(t.Context(), u)
		query := coordinatorMessage(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Query{Query: &covey.Query{Study: make([]byte, 32)}}})
		u.set(old, Standing{})
		read(old, head(1), head(2), query)
		u.set(nil, Standing{})
		read(old, head(3))
		u.set(now, Standing{})
		read(old, head(4))
		read(now, head(5))
		if want := []uint64{1, 2, 100, 5}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// TestDecisionFindsTheNextLink: AG-27. A proposal is worked on while its link ends; the next one's
// hello does not know the study yet. The decision leaves on that link: the study may have ended
// meanwhile, and nobody would ask again.
func TestDecisionFindsTheNextLink(t *testing.T) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	u := newUplink(t, func(r wire.Message) wire.Message {
		close(reached)
		<-goOn
		return refused(r)
	})
	begin := func() (*link, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		l := newLink(ctx, u)
		u.begin(l, "somewhere", pki.KeyExchange{})
		return l, cancel
	}
	kinds := func(l *link) (out []string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, m := range l.queue {
			out = append(out, m.sent.Kind)
		}
		return out
	}
	first, end := begin()
	first.waiting <- struct{}{} // as read does
	first.dispatch(wire.Proposal{Body: []byte("x")})
	<-reached
	end()
	second, end := begin()
	defer end()
	close(goOn)
	u.o.Work.Wait()
	if got := kinds(second); !slices.Equal(got, []string{"hello", "decision"}) {
		t.Errorf("the second link says %v", got)
	}
	if got := kinds(first); !slices.Equal(got, []string{"hello"}) {
		t.Errorf("the first link says %v", got)
	}
	// The link is there to be found before it is looked up what is open.
	var found *link
	u.o.Studies = func(*wire.Hello) {
		u.mu.Lock()
		defer u.mu.Unlock()
		found = u.link
	}
	fourth, end := begin()
	defer end()
	if found != fourth {
		t.Errorf("%p was the link, want %p", found, fourth)
	}
	// What is posted while a link begins stays behind its hello.
	third := newLink(t.Context(), u)
	third.post(wire.Decision{Verdict: study.VerdictPending})
	u.begin(third, "somewhere", pki.KeyExchange{})
	if got := kinds(third); !slices.Equal(got, []string{"hello", "decision"}) {
		t.Errorf("the third link says %v", got)
	}
}

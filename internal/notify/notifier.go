package notify

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"
)

// every is how often a [Notifier] asks for facts, and looks for notices that are due.
const every = 30 * time.Second

// shown is how many digits of a digest a notice has.
const shown = 12

// Fact holds at the moment: an event of a study, or of this program where Study is empty.
type Fact struct {
	Event Event
	Study string // its digest in hex
	Name  string
}

func (f Fact) id() string { return string(f.Event) + " " + f.Study }

// Options are what a program passes to New.
type Options struct {
	Dir string // the data folder, which holds the queue
	// Targets returns those of the configuration in force ([Under] its folder).
	Targets func() []Target
	// Facts returns all that hold now. Where tell is false somebody else tells of them, such as the
	// coordinator that leads: they count as told.
	Facts func() (facts []Fact, tell bool)
	// Sent is told of each try, before it: of which study, by its digest, and the bytes that leave.
	// After an error they do not leave, and are tried again. May be nil.
	Sent   func(study string, body []byte) error
	Logger *slog.Logger
	Now    func() time.Time // nil: time.Now
}

// Notifier turns facts into notices and delivers them. One goroutine runs it.
type Notifier struct {
	o     Options
	state state
	// fresh is set until the first facts came, where nothing was ever told: what is long over is
	// then no news.
	fresh bool
	web   *http.Client
}

// New reads the queue of a data folder.
func New(o Options) (*Notifier, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s, found, err := load(o.Dir)
	if err != nil {
		return nil, err
	}
	return &Notifier{o: o, state: s, fresh: !found, web: client()}, nil
}

// Run delivers notices until ctx ends. What is on its way then is tried again by the next Run.
func (n *Notifier) Run(ctx context.Context) {
	for {
		n.Step(ctx)
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return
		}
	}
}

// Step asks for facts once, and tries what is due. Notices are on disk before the first try, so
// that a crash between repeats one, with its id, and loses none.
func (n *Notifier) Step(ctx context.Context) {
	targets, now := n.o.Targets(), n.o.Now()
	if len(targets) == 0 {
		return // and nothing is remembered: to a target that is added later, what holds by then is not news
	}
	changed := n.state.setRight(now)
	changed = n.learn(targets, now) || changed
	changed = n.forget(targets) || changed
	if changed && !n.save() {
		return // not on disk: nothing leaves that a crash would send again under another id
	}
	if n.deliver(ctx, targets) {
		n.save()
	}
}

func (n *Notifier) save() bool {
	err := n.state.save(n.o.Dir)
	if err != nil {
		n.o.Logger.Error("notices cannot be kept; they are tried again", "error", err)
	}
	return err == nil
}

// learn makes notices of facts that are new, and reports whether the state changed.
func (n *Notifier) learn(targets []Target, now time.Time) (changed bool) {
	facts, tell := n.o.Facts()
	holds := map[string]bool{}
	for _, f := range facts {
		id := f.id()
		holds[id] = true
		last, told := n.state.Told[id]
		if !told || now.Sub(last) > remembered/2 {
			n.state.Told[id] = now // written now and then, not at each step
			changed = true
		}
		old := n.fresh && (f.Event == Proposed || f.Event == Completed || f.Event == Ended)
		if !told && !old && (tell || f.Study == "") {
			n.enqueue(f, targets, now)
		}
	}
	for id, last := range n.state.Told {
		if !holds[id] && now.Sub(last) > remembered {
			delete(n.state.Told, id)
			changed = true
		}
	}
	changed = changed || n.fresh
	n.fresh = false
	return changed
}

func (n *Notifier) enqueue(f Fact, targets []Target, now time.Time) {
	notice := Notice{ID: rand.Text(), Event: f.Event, Study: f.Study[:min(shown, len(f.Study))], Time: now.UTC().Truncate(time.Second)}
	for _, t := range targets {
		if !t.wants(f.Event) {
			continue
		}
		notice.Name = ""
		if t.Names {
			notice.Name = f.Name
		}
		n.state.Waiting = append(n.state.Waiting, waiting{Notice: notice, Digest: f.Study, Target: t.id(), Next: now})
	}
}

// id stands for a target in the queue: a configuration that changes drops what waits for a target
// that is no longer in it.
func (t Target) id() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q", t.Webhook, t.Command))
	return hex.EncodeToString(h[:8])
}

// forget drops what waits for targets that are gone, and the newest of a target that has more than
// its part of the queue: one that takes nothing costs the others none of theirs.
func (n *Notifier) forget(targets []Target) bool {
	before, most := len(n.state.Waiting), maxQueued/len(targets)
	kept := map[string]int{}
	n.state.Waiting = slices.DeleteFunc(n.state.Waiting, func(w waiting) bool {
		at := slices.IndexFunc(targets, func(t Target) bool { return t.id() == w.Target })
		if at < 0 {
			return true
		}
		if kept[w.Target] >= most {
			n.o.Logger.Error("a notice is dropped: as many as are kept for this target wait already", "most", most, "event", w.Event, "to", targets[at].Place())
			return true
		}
		kept[w.Target]++
		return false
	})
	return len(n.state.Waiting) != before
}

// deliver tries what is due, the oldest first, and reports whether it tried anything. A target that
// failed is left alone until the next step, so that one that hangs holds up the others once.
func (n *Notifier) deliver(ctx context.Context, targets []Target) (tried bool) {
	failed := map[string]bool{}
	var left []waiting
	for _, w := range n.state.Waiting {
		now := n.o.Now()
		at := slices.IndexFunc(targets, func(t Target) bool { return t.id() == w.Target })
		if w.Next.After(now) || failed[w.Target] || ctx.Err() != nil || at < 0 {
			left = append(left, w)
			continue
		}
		tried = true
		body, err := w.body()
		if err == nil {
			if n.o.Sent != nil {
				err = n.o.Sent(w.Digest, body)
			}
			if err == nil {
				err = targets[at].send(ctx, w.Notice, body, now, n.web)
			}
		}
		if err == nil {
			continue
		}
		failed[w.Target] = true
		log := n.o.Logger.With("event", w.Event, "to", targets[at].Place(), "tries", w.Failed+1, "error", err)
		if ctx.Err() == nil {
			if w.Failed++; w.Failed > len(tries) {
				log.Error("a notice was not delivered and is given up")
				continue
			}
			w.Next = now.Add(tries[w.Failed-1])
			log.Warn("a notice was not delivered; it is tried again", "at", w.Next)
		}
		left = append(left, w)
	}
	n.state.Waiting = left
	return tried
}

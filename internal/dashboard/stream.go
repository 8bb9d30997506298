package dashboard

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"covey/internal/proposal"
)

const (
	// rest is how long a rendered page is good for, and how often a stream looks: however
	// many watch, the coordinator is asked twice a second at most.
	rest = 500 * time.Millisecond
	// look is how often a stream looks without being told: a coordinator that follows is
	// told of nothing.
	look = time.Second
	// beat keeps what lies between from ending a quiet stream.
	beat = 15 * time.Second
	// maxStreams bounds open streams, and personStreams those of one person, so that a few leave
	// room for the others; the page says then that it does not renew itself.
	maxStreams    = 64
	personStreams = 16
)

// streams counts the open ones by person.
type streams struct {
	mu   sync.Mutex
	open int
	of   map[string]int
}

// begin counts one more of a person, if there is room; the caller must call end then.
func (s *streams) begin(person string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open >= maxStreams || s.of[person] >= personStreams {
		return false
	}
	if s.of == nil {
		s.of = map[string]int{}
	}
	s.open++
	s.of[person]++
	return true
}

func (s *streams) end(person string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.of[person]--; s.of[person] == 0 {
		delete(s.of, person)
	}
}

// count returns how many are open.
func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// cache holds what was rendered last, by the study that is shown and for whom.
type cache struct {
	mu    sync.Mutex // of the maps: nothing is made under it
	known map[shownTo]*rendering
	// results holds those of completed studies.
	results map[proposal.Digest]shownResult
	// reading is held while a result is read, which is the whole of its study.
	reading sync.Mutex
}

// rendering is a page that is rendered by one visitor at a time, while other pages are.
type rendering struct {
	making sync.Mutex
	cached
}

type shownTo struct {
	study proposal.Digest
	sight string // its key
}

// keptPages bounds how many of each are held.
const keptPages = 32

type cached struct {
	at   time.Time
	main []byte
	page page
}

// main renders the page's changing part, or gives what was rendered just now.
func (d *Dashboard) main(in sight, digest proposal.Digest) (cached, error) {
	at := shownTo{digest, in.key()}
	r := d.cache.rendering(at)
	r.making.Lock()
	defer r.making.Unlock()
	now := d.now()
	if r.main != nil && now.Sub(r.at) >= 0 && now.Sub(r.at) < rest {
		return r.cached, nil
	}
	c := cached{at: now, page: d.model(in, digest)}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "main", c.page); err != nil {
		return cached{}, err
	}
	c.main = b.Bytes()
	r.cached = c
	return c, nil
}

// rendering returns a page's place.
func (c *cache) rendering(at shownTo) *rendering {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.known[at]
	if r == nil {
		if len(c.known) > keptPages || c.known == nil {
			c.known = map[shownTo]*rendering{}
		}
		r = &rendering{}
		c.known[at] = r
	}
	return r
}

// events streams the page's changing part whenever it has changed, until the visitor's login ends
// or is another.
func (d *Dashboard) events(w http.ResponseWriter, r *http.Request, v visitor) {
	var digest proposal.Digest
	if text := r.URL.Query().Get("study"); text != "" {
		var err error
		if digest, err = proposal.ParseDigest(text); err != nil {
			http.NotFound(w, r)
			return
		}
	}
	if !d.streams.begin(v.Name) {
		http.Error(w, "too many pages that update themselves are open", http.StatusServiceUnavailable)
		return
	}
	defer d.streams.end(v.Name)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(text []byte) bool {
		out.SetWriteDeadline(time.Now().Add(10 * time.Second))
		if _, err := w.Write(text); err != nil || out.Flush() != nil {
			return false
		}
		// With HTTP/2 a deadline ends a stream that writes nothing, too.
		return out.SetWriteDeadline(time.Time{}) == nil
	}
	every, quiet := time.NewTicker(look), time.NewTicker(beat)
	defer every.Stop()
	defer quiet.Stop()
	var last []byte
	in := d.sight(v.Person)
	for {
		if now, ok := d.visitor(r); !ok || !now.Same(v.Entry) {
			return
		}
		changed := d.source.Changed()
		c, err := d.main(in, digest)
		if err != nil {
			d.log.Error("dashboard: the page does not render", "error", err)
			return
		}
		if !c.page.Missing {
			d.read(v, "stream", digest)
		}
		if !bytes.Equal(c.main, last) {
			last = c.main
			if !send(event("page", c.main)) {
				return
			}
		}
		select {
		case <-changed:
			if !d.rested(r.Context()) {
				return
			}
		case <-every.C:
		case <-quiet.C:
			// an event, so that a page knows that what it shows is still so
			if !send([]byte("event: beat\ndata:\n\n")) {
				return
			}
		case <-r.Context().Done():
			return
		case <-d.stop:
			return
		}
	}
}

// rested waits so that what changes fast is seen together. It reports false if the stream is over.
func (d *Dashboard) rested(ctx context.Context) bool {
	select {
	case <-time.After(rest):
		return true
	case <-ctx.Done():
	case <-d.stop:
	}
	return false
}

// event is one server-sent event: a line of data for each line of text.
func event(name string, text []byte) []byte {
	var b bytes.Buffer
	b.WriteString("event: " + name + "\n")
	for line := range bytes.Lines(bytes.TrimRight(text, "\n")) {
		b.WriteString("data: ")
		// it would end the line, too
		b.Write(bytes.ReplaceAll(bytes.TrimRight(line, "\r\n"), []byte("\r"), []byte(" ")))
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}

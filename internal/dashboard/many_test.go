package dashboard

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
)

// unstoried is a source that returns no study as a whole.
type unstoried struct {
	*told
	t *testing.T
}

func (s unstoried) Story(proposal.Digest) (outline.Story, bool) {
	s.t.Error("a list asks for a whole study")
	return outline.Story{}, false
}

// TestManyStudies: the list of 1,120 studies and the metrics ask for no study as a whole; with -v
// what each took.
func TestManyStudies(t *testing.T) {
	d, s, now := newTold(t, proposal.DropoutWait)
	one := s.story.View
	one.Sites = make([]outline.SiteView, 5)
	one.Status = round.StatusProposed
	for i := range 1120 - len(s.overview.Studies) {
		v := one
		v.Digest[0], v.Digest[1] = byte(i), byte(i>>8)
		if v.Digest[2]++; i > 120 {
			v.Status = round.StatusCompleted
		}
		s.overview.Studies = append(s.overview.Studies, v)
	}
	d.source = unstoried{s, t}
	in := logIn(d, goodToken, "/").Cookies()[0].Value
	for range 2 {
		for _, path := range []string{"/", "/metrics"} {
			var before, after syscall.Rusage
			syscall.Getrusage(syscall.RUSAGE_SELF, &before)
			r := ask(d, "GET", path, cookie(in))
			syscall.Getrusage(syscall.RUSAGE_SELF, &after)
			if r.StatusCode != http.StatusOK {
				t.Fatal(r.Status)
			}
			text, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			if path == "/" && strings.Count(string(text), "<li class=") < 1120 {
				t.Error("studies are missing")
			}
			t.Logf("%s %v of processor time", path, time.Duration(after.Utime.Nano()-before.Utime.Nano()))
		}
		now.mu.Lock()
		now.at = now.at.Add(rest)
		now.mu.Unlock()
	}
}

// Package lines collects a log, or a screen, that a test reads while something writes it.
package lines

import (
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Log keeps all that is written.
type Log struct {
	mu    sync.Mutex
	text  strings.Builder
	wrote chan struct{} // closed with the next write; nil if nobody waits
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wrote != nil {
		close(l.wrote)
		l.wrote = nil
	}
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Count is how often it says something.
func (l *Log) Count(what string) int { return strings.Count(l.String(), what) }

// Last returns the first group of a pattern's last match, waiting for one beyond the first n.
func (l *Log) Last(t testing.TB, pattern string, n int) string {
	t.Helper()
	match, patience := regexp.MustCompile(pattern), time.After(time.Minute)
	for {
		l.mu.Lock()
		if l.wrote == nil {
			l.wrote = make(chan struct{})
		}
		text, wrote := l.text.String(), l.wrote
		l.mu.Unlock()
		if all := match.FindAllStringSubmatch(text, -1); len(all) > n {
			return all[len(all)-1][1]
		}
		select {
		case <-wrote:
		case <-patience:
			t.Fatalf("no %s in\n%s", pattern, text)
		}
	}
}

// Wait waits until it says something.
func (l *Log) Wait(t testing.TB, what string) {
	t.Helper()
	l.Last(t, "("+regexp.QuoteMeta(what)+")", 0)
}

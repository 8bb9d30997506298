package notify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"covey/internal/pki"
)

// queueFile holds the queue, in a data folder: mode 0600, replaced whole and fsynced.
const queueFile = "notify.json"

// What the queue may hold. A notice that finds its target's part full is dropped, and the log says
// so.
const (
	maxQueued = 1000 // in equal parts, one for each target
	maxFile   = 64 << 20
)

// tries are how long after each failed try the next one follows: eight tries in a day.
var tries = []time.Duration{time.Minute, 4 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour}

// remembered is how long a fact counts as told since it was last noted to hold: one that comes and
// goes is two notices a day at most.
const remembered = 24 * time.Hour

// Notice is what a target is told, as it stands in the body of a webhook's request and on the
// standard input of a command.
type Notice struct {
	ID    string    `json:"id"` // the same each time that it is tried
	Event Event     `json:"event"`
	Study string    `json:"study,omitempty"` // the first 12 digits of its digest
	Name  string    `json:"name,omitempty"`  // only where the target asks for names
	Time  time.Time `json:"time"`            // when it was first known
}

// waiting is a notice on its way to one target.
type waiting struct {
	Notice
	Digest string    `json:"digest,omitempty"` // of the study, whole
	Target string    `json:"target"`           // [Target.id]
	Failed int       `json:"failed"`           // tries
	Next   time.Time `json:"next"`
}

// state is the file.
type state struct {
	// Told has the facts that became notices, with when they last held.
	Told    map[string]time.Time `json:"told"`
	Waiting []waiting            `json:"waiting"`
}

// setRight takes back what a clock noted that ran ahead, and reports whether it did: until that
// time a fact would be no news, and a notice wait.
func (s *state) setRight(now time.Time) (changed bool) {
	for id, last := range s.Told {
		if last.After(now) {
			s.Told[id], changed = now, true
		}
	}
	for i := range s.Waiting {
		if w := &s.Waiting[i]; w.Next.After(now.Add(tries[len(tries)-1])) {
			w.Next, changed = now, true
		}
	}
	return changed
}

// load reads the queue of a data folder; found is false where there is none yet.
func load(dir string) (s state, found bool, err error) {
	path := filepath.Join(dir, queueFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state{Told: map[string]time.Time{}}, false, nil
	}
	if err != nil {
		return state{}, false, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	odd := func(w waiting) bool { return w.Failed < 0 || w.Failed > len(tries) }
	if len(raw) > maxFile || d.Decode(&s) != nil || len(s.Waiting) > maxQueued || s.Told == nil || slices.ContainsFunc(s.Waiting, odd) {
		return state{}, false, fmt.Errorf("%s: is damaged; remove it: what was not sent yet is then lost", path)
	}
	return s, true, nil
}

// save replaces the file. After a crash it is the old or the new one.
func (s state) save(dir string) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return pki.ReplaceFile(filepath.Join(dir, queueFile), raw, 0o600)
}

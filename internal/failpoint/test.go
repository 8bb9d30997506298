//go:build failpoint

package failpoint

import (
	"encoding/json"
	"os"
	"sync/atomic"
	"time"
)

// Enabled says whether this build has failpoints.
const Enabled = true

var hook atomic.Pointer[func(Event) error]

// Set sends every event to f from now on; nil for none. An error that f returns is
// the place's own failure: before a write the write is not made, after it the caller
// does not hear that it was.
func Set(f func(Event) error) {
	if f == nil {
		hook.Store(nil)
		return
	}
	hook.Store(&f)
}

// Hit passes a place.
func Hit(e Event) error {
	f := hook.Load()
	if f == nil {
		return nil
	}
	e.Time = time.Now()
	return (*f)(e)
}

// HistoryVariable names the environment variable that makes a process append its
// events to a file, one JSON object a line. The last one of a process that was killed may be cut
// off; it is as if the kill had come before it.
const HistoryVariable = "COVEY_FAILPOINT_HISTORY"

func init() {
	path := os.Getenv(HistoryVariable)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic("failpoint: " + err.Error())
	}
	Set(func(e Event) error {
		line, err := json.Marshal(e)
		if err == nil {
			// A kill may cut off a write behind any page of it: the next process's first
			// event is on a line of its own all the same.
			_, err = f.Write(append([]byte{'\n'}, line...))
		}
		return err
	})
}

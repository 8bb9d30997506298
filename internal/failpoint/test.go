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
// events to a file, one JSON object a line.
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
			_, err = f.Write(append(line, '\n')) // one write: a kill leaves it whole or absent
		}
		return err
	})
}

package proposals

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
)

const (
	// MaxDaily is how many new proposals of one key a site looks at in a day.
	MaxDaily = 20
	day      = 24 * time.Hour
	// maxArrivals bounds the file. Only who has the coordinator's place can bring so many keys, and
	// may then bring more proposals than a day's of a key: PendingStore's bounds hold for it, too.
	maxArrivals = 1000
)

// Arrivals counts, over a day and over restarts, the new proposals that each analyst's key signed.
// Losing the file loses the day's count alone.
type Arrivals struct {
	path string
	mu   sync.Mutex
	all  []arrival // the oldest first
}

type arrival struct {
	Key   proposal.Key    `json:"key"`
	Study proposal.Digest `json:"study"`
	Time  time.Time       `json:"time"`
	// Ahead is the earliest time at which the clock was seen before Time: it ran ahead, or was put
	// back. Until it reaches Time the arrival counts for a day from then on, as a clock that was
	// once years ahead would refuse the key's proposals for years.
	Ahead time.Time `json:"ahead,omitzero"`
}

// past reports whether an arrival no longer counts.
func (one arrival) past(now time.Time) bool {
	from := one.Time
	if now.Before(from) {
		from = one.Ahead
	}
	return now.Sub(from) >= day
}

// ahead notes of all arrivals that are later than now that they are, and reports whether one is
// new.
func (a *Arrivals) ahead(now time.Time) (noted bool) {
	for i := range a.all {
		one := &a.all[i]
		if now.Before(one.Time) && (one.Ahead.IsZero() || now.Before(one.Ahead)) {
			one.Ahead, noted = now, true
		}
	}
	return noted
}

// OpenArrivals reads the file, which may be missing; one that does not read counts nothing.
func OpenArrivals(path string) (*Arrivals, error) {
	a := &Arrivals{path: path}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil && json.Unmarshal(text, &a.all) != nil {
		a.all = nil
	}
	return a, nil
}

// Take reports whether a proposal of a key may be looked at, by the site's clock: it came within
// the last day already, or fewer than 20 others of its key did. It is on disk before it is looked
// at, so that neither a crash nor a clock that was set back makes room.
func (a *Arrivals) Take(key proposal.Key, id proposal.Digest, now time.Time) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	noted := a.ahead(now)
	a.all = slices.DeleteFunc(a.all, func(one arrival) bool { return one.past(now) })
	n := 0
	for _, one := range a.all {
		if one.Study == id {
			return true, a.write(noted)
		}
		if bytes.Equal(one.Key, key) {
			n++
		}
	}
	if n >= MaxDaily {
		return false, a.write(noted)
	}
	a.all = append(a.all, arrival{Key: key, Study: id, Time: now})
	a.all = a.all[max(0, len(a.all)-maxArrivals):]
	return true, a.write(true)
}

// write puts what changed on disk.
func (a *Arrivals) write(changed bool) error {
	if !changed {
		return nil
	}
	text, err := json.Marshal(a.all)
	if err != nil {
		return err
	}
	return pki.ReplaceFile(a.path, text, 0o600)
}

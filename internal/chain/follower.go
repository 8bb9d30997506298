package chain

import (
	"errors"
	"fmt"
	"slices"
)

// maxEntries is how long a chain a site follows: what one that kept nothing is shown must fit into
// its memory.
const maxEntries = 1 << 20

// Shown is a piece of a chain as a coordinator shows it: where it begins, the steps from there on,
// and the coordinator's signature on the head that they lead to.
type Shown struct {
	Base      Head
	Steps     []Step
	Signature []byte
}

// An Entry is a link as a site keeps it, with the step that led to it: the zero one where it was
// not shown.
type Entry struct {
	Head
	Step Step
}

// Record is what a site has kept. Its errors are the store's.
type Record interface {
	// Last returns the kept link of the highest number; the zero Head if nothing is kept. whole
	// reports whether all links before it are kept, too.
	Last() (last Head, whole bool, err error)
	// At returns a kept entry.
	At(number uint64) (e Entry, ok bool, err error)
	// Has reports whether a step is kept.
	Has(s Step) (bool, error)
}

// ForkError is a chain that has another link than the one kept: of two pasts one is not this
// federation's.
type ForkError struct {
	Number      uint64
	Kept, Shown Link
}

func (e *ForkError) Error() string {
	return fmt.Sprintf("the coordinator's chain is another one from entry %d on at the latest: its head there is %s, and this site kept %s", e.Number, e.Shown, e.Kept)
}

// BehindError is a chain that ends before the link that was kept: the coordinator has lost entries,
// or was not told of them.
type BehindError struct{ Kept, Shown Head }

func (e *BehindError) Error() string {
	return fmt.Sprintf("the coordinator's chain ends at entry %d where this site kept %d", e.Shown.Number, e.Kept.Number)
}

// GapError is a piece of a chain that does not begin where the last one ended, or of too many
// steps.
type GapError struct{ At, Base uint64 }

func (e *GapError) Error() string {
	return fmt.Sprintf("the coordinator shows its chain from entry %d on, where it showed it up to %d, or more than %d entries", e.Base, e.At, maxEntries)
}

// ErrUnshown is a link on which no head was shown.
var ErrUnshown = errors.New("the coordinator shows no head of its chain")

// A Follower is how far a site was shown the chain on one link. It is not safe for use by several
// goroutines.
type Follower struct {
	record Record
	begun  bool
	at     Head // shown last
	signed Signed
	fork   *ForkError
	gap    *GapError
	fresh  []Entry // shown and not kept, ascending; none of a chain that is another one
}

// Follow begins a link, and returns the head to tell the coordinator: the zero one if nothing is
// kept, or not all up to it, so that all is shown.
func Follow(r Record) (*Follower, Head, error) {
	last, whole, err := r.Last()
	if err != nil || !whole {
		last = Head{}
	}
	return &Follower{record: r}, last, err
}

// Take follows a piece. What speaks against it is Check's to return; the error is the record's.
func (f *Follower) Take(s Shown) error {
	if f.gap != nil {
		return nil // nothing that follows counts, nor costs anything
	}
	if err := f.trim(); err != nil {
		return err
	}
	kept, ok, err := f.held(s.Base.Number)
	if err != nil {
		return err
	}
	fits := s.Base == f.at || !f.begun && ok
	if !fits || s.Base.Number+uint64(len(s.Steps)) > maxEntries {
		f.gap, f.fresh = &GapError{At: f.at.Number, Base: s.Base.Number}, nil
		return nil
	}
	f.begun, f.at = true, s.Base
	if ok {
		f.compare(kept)
	}
	for _, step := range s.Steps {
		f.at = Head{f.at.Number + 1, f.at.Link.next(step)}
		kept, ok, err := f.record.At(f.at.Number)
		if err != nil {
			return err
		}
		if ok {
			f.compare(kept.Link)
		}
		if (!ok || kept.Step != step) && f.fork == nil {
			f.fresh = append(f.fresh, Entry{f.at, step})
		}
	}
	f.signed = Signed{f.at, s.Base, s.Signature}
	return nil
}

// compare finds a fork in the link that is shown.
func (f *Follower) compare(kept Link) {
	if f.fork == nil && kept != f.at.Link {
		f.fork, f.fresh = &ForkError{f.at.Number, kept, f.at.Link}, nil
	}
}

// held returns the link of a number that this site was shown or kept.
func (f *Follower) held(number uint64) (Link, bool, error) {
	if number == 0 {
		return start(), true, nil
	}
	if i, ok := slices.BinarySearchFunc(f.fresh, number, func(e Entry, n uint64) int { return int(e.Number) - int(n) }); ok {
		return f.fresh[i].Link, true, nil
	}
	kept, ok, err := f.record.At(number)
	return kept.Link, ok, err
}

// trim forgets what is kept already.
func (f *Follower) trim() error {
	for len(f.fresh) > 0 {
		if kept, _, err := f.record.At(f.fresh[0].Number); err != nil || kept != f.fresh[0] {
			return err
		}
		f.fresh = f.fresh[1:]
	}
	f.fresh = nil // of what a site that kept nothing is shown, up to 75 MB
	return nil
}

// Check is nil if the chain that was shown on this link extends the one that was kept. Its error
// is a *ForkError, a *BehindError, a *GapError, ErrUnshown, or the record's.
func (f *Follower) Check() error {
	last, _, err := f.record.Last()
	switch {
	case err != nil:
		return err
	case f.fork != nil:
		return f.fork
	case f.gap != nil:
		return f.gap
	case !f.begun:
		return ErrUnshown
	case f.at.Number < last.Number:
		return &BehindError{last, f.at}
	}
	// What was kept since Take looked, of another link, may be of another chain. A link is the hash
	// of all before it: one comparison is enough.
	link, ok, err := f.held(last.Number)
	if err == nil && ok && last.Number > 0 && link != last.Link {
		f.fork, f.fresh = &ForkError{last.Number, last.Link, link}, nil
		return f.fork
	}
	return err
}

// Shown returns what was shown last; false before anything was.
func (f *Follower) Shown() (Signed, bool) { return f.signed, f.begun }

// Fresh returns what must be kept, less what is kept already. The caller must not change it. The
// error is the record's.
func (f *Follower) Fresh() ([]Entry, error) {
	err := f.trim()
	return f.fresh, err
}

// Has reports whether a step is in the chain, kept or shown.
func (f *Follower) Has(s Step) (bool, error) {
	if slices.ContainsFunc(f.fresh, func(e Entry) bool { return e.Step == s }) {
		return true, nil
	}
	return f.record.Has(s)
}

// Holds reports whether the chain, which Check must find in order, has the head h, and s is the
// step that led to it.
func (f *Follower) Holds(h Head, s Step) (bool, error) {
	if err := f.Check(); err != nil || h.Number == 0 || h.Number > f.at.Number {
		return false, err
	}
	l, ok, err := f.held(h.Number)
	if err != nil || !ok || l != h.Link {
		return false, err
	}
	before, ok, err := f.held(h.Number - 1)
	return ok && before.next(s) == l, err
}

package history

// Finder is the search of rule un-noised by itself, for a test that has texts and memory
// of its own: files, pages, a core.
type Finder struct{ l *leaks }

// NewFinder returns one that looks for nothing yet.
func NewFinder() *Finder { return &Finder{newLeaks()} }

// Follow looks for an exact vector of the ring of that many bits from now on: what is said when it
// is found. Vectors without a value of 2^20, of one value, and with nothing from 2^16 on beside one
// below 2^40, are not followed; false says so.
func (f *Finder) Follow(what string, v []int64, ring uint) bool {
	before := len(f.l.vectors)
	f.l.follow(what, v, ring)
	return len(f.l.vectors) > before
}

// Find says what is in data, or "". Two values of one vector have to be in it, so that a
// large file is better looked at in pieces.
func (f *Finder) Find(data []byte) string { return f.l.find(data, exact) }

package history

import (
	"cmp"
	"crypto/sha256"
	"slices"
)

// line is one command in a coordinator's log.
type line struct {
	index int
	hash  [32]byte
	entry *entry
}

// logs are all coordinators'. An entry is committed once a quorum holds the same bytes at
// the same index, all at one time: what raft truncated counts no more.
type logs struct {
	quorum int
	begun  map[string]map[int]line     // by owner, index: before, and no after yet
	held   map[string]map[int][32]byte // by owner, index: as the log is now
	last   map[string]int              // by owner: the largest index held
	// committed is the first thing committed at an index. Raft commits no second, unless
	// a backup was put back; rewound says that one was.
	committed map[int][32]byte
	rewound   bool
}

func newLogs(quorum int) logs {
	return logs{
		quorum: quorum, begun: map[string]map[int]line{}, held: map[string]map[int][32]byte{},
		last: map[string]int{}, committed: map[int][32]byte{},
		// A log of one may go back to a backup, and what raft itself writes then,
		// over lost entries, is not seen here. Nobody else proposes beside it.
		rewound: quorum <= 1,
	}
}

// begin notes a write that began.
func (l *logs) begin(owner string, e line) {
	if l.begun[owner] == nil {
		l.begun[owner] = map[int]line{}
	}
	l.begun[owner][e.index] = e
}

// survive returns what a killed process may have written without saying so.
func (l *logs) survive(owner string) []line {
	var out []line
	for _, e := range l.begun[owner] {
		out = append(out, e)
	}
	delete(l.begun, owner)
	slices.SortFunc(out, func(a, b line) int { return cmp.Compare(a.index, b.index) })
	return out
}

// store makes a write durable and says whether that committed the entry.
func (l *logs) store(owner string, e line) (committed bool) {
	delete(l.begun[owner], e.index)
	h := l.held[owner]
	if h == nil {
		h = map[int][32]byte{}
		l.held[owner] = h
	}
	if old, ok := h[e.index]; ok && old != e.hash {
		for i := e.index; i <= l.last[owner]; i++ {
			delete(h, i)
		}
		l.last[owner] = e.index
	}
	h[e.index] = e.hash
	l.last[owner] = max(l.last[owner], e.index)
	holders := 0
	for _, other := range l.held {
		if other[e.index] == e.hash {
			holders++
		}
	}
	if holders < l.quorum {
		return false
	}
	switch old, ok := l.committed[e.index]; {
	case ok && old == e.hash:
		return false
	case ok:
		l.rewound = true
	}
	l.committed[e.index] = e.hash
	return true
}

func hashOf(parts ...[]byte) [32]byte {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		for i := range size {
			size[i] = byte(len(p) >> (8 * i))
		}
		h.Write(size[:])
		h.Write(p)
	}
	return [32]byte(h.Sum(nil))
}

// Package shelf keeps bytes that are rarely read on disk, for as long as a process runs: a file
// without a name, which the system takes back whatever happens to the process. It is no store: what
// is on a shelf can be made again from one.
package shelf

import (
	"errors"
	"hash/crc32"
	"io"
	"os"
	"sync"
)

// Shelf is a file that only grows. The zero Shelf keeps everything in memory. Its methods may be
// called from many goroutines.
type Shelf struct {
	mu   sync.Mutex
	file *os.File // nil: none, or one that failed
	end  int64
}

// Item is where bytes are. The zero Item is of no bytes.
type Item struct {
	size int64
	sum  uint32
	at   int64
	file *os.File // nil where held has the bytes
	held []byte
}

// Size returns how many bytes an item has.
func (i Item) Size() int64 { return i.size }

// New makes a shelf in a folder.
func New(dir string) (*Shelf, error) {
	f, err := os.CreateTemp(dir, ".shelf-*") // 0600
	if err != nil {
		return nil, err
	}
	// Its name goes at once: a crash leaves nothing to be cleaned up. The file goes when nobody can
	// reach it any more.
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Shelf{file: f}, nil
}

var table = crc32.MakeTable(crc32.Castagnoli)

// Put keeps b, which the caller must not change afterwards. Where the disk does not take it, it
// stays in memory: putting never fails.
func (s *Shelf) Put(b []byte) Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	item := Item{size: int64(len(b)), sum: crc32.Checksum(b, table), at: s.end, file: s.file}
	if s.file != nil {
		if _, err := s.file.WriteAt(b, s.end); err == nil {
			s.end += item.size
			return item
		}
		item.file = nil
	}
	item.held = b
	return item
}

// errChanged is a file that does not hold what was written to it.
var errChanged = errors.New("shelf: the disk returns other bytes than were written")

// Bytes reads an item, whose bytes must not be changed. Its error is the disk's.
func (i Item) Bytes() ([]byte, error) {
	if i.file == nil {
		return i.held, nil
	}
	b := make([]byte, i.size)
	if _, err := i.file.ReadAt(b, i.at); err != nil && err != io.EOF {
		return nil, err
	}
	if crc32.Checksum(b, table) != i.sum {
		return nil, errChanged
	}
	return b, nil
}

// Package shelf keeps rarely read bytes on disk, for as long as a process runs. They are in a file
// without a name, which the system removes however the process ends. A shelf is not a store: its
// content can be made again from one.
package shelf

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sync"
)

// Shelf is a file that only grows. The zero Shelf keeps everything in memory. Its methods may be
// called from many goroutines.
type Shelf struct {
	mu   sync.Mutex
	file *os.File // nil: none, or one that failed
	end  int64
}

// Item is where bytes are. The zero Item has no bytes.
type Item struct {
	size int64
	sum  uint32
	at   int64
	file *os.File // nil where held has the bytes
	held []byte
}

// New makes a shelf in a folder.
func New(dir string) (*Shelf, error) {
	f, err := os.CreateTemp(dir, ".shelf-*") // 0600
	if err != nil {
		return nil, err
	}
	// Its name goes at once: a crash leaves nothing to be cleaned up. The file goes once nothing
	// refers to it.
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Shelf{file: f}, nil
}

var table = crc32.MakeTable(crc32.Castagnoli)

// Put keeps b, which the caller must not change afterwards. If the disk does not take it, it stays
// in memory: Put never fails.
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
func (i Item) Bytes() ([]byte, error) { return i.read(nil) }

// read is Bytes, in the memory of buf where that is enough.
func (i Item) read(buf []byte) ([]byte, error) {
	if i.file == nil {
		return i.held, nil
	}
	b := slices.Grow(buf[:0], int(i.size))[:i.size]
	n, err := i.file.ReadAt(b, i.at)
	if err != nil && err != io.EOF {
		return nil, err
	}
	// What a file that was cut no longer has must not come from an earlier use of the buffer, which
	// may have held this item.
	if n != len(b) || crc32.Checksum(b, table) != i.sum {
		return nil, errChanged
	}
	return b, nil
}

// Pieces are bytes in order. One piece at a time is in memory as they are read.
type Pieces []Item

// buffers are for pieces that are copied: a snapshot has hundreds of megabytes of them.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Copy writes all of them.
func (p Pieces) Copy(w io.Writer) error {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for _, item := range p {
		b, err := item.read(*buf)
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			return err
		}
		if item.file != nil {
			*buf = b
		}
	}
	return nil
}

// Reader reads all of them. Its error is the disk's.
func (p Pieces) Reader() io.Reader { return &reader{left: p} }

type reader struct {
	left  Pieces
	piece []byte // what is left of the last one
}

func (r *reader) Read(b []byte) (int, error) {
	for len(r.piece) == 0 {
		if len(r.left) == 0 {
			return 0, io.EOF
		}
		piece, err := r.left[0].Bytes()
		if err != nil {
			return 0, err
		}
		r.piece, r.left = piece, r.left[1:]
	}
	n := copy(b, r.piece)
	r.piece = r.piece[n:]
	return n, nil
}

// taken is the size of the pieces that Take makes.
const taken = 1 << 20

// Take puts the next size bytes of r.
func (s *Shelf) Take(r io.Reader, size int64) (p Pieces, err error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for left := size; left != 0; {
		b, err := next(*buf, r, min(left, taken))
		if err != nil {
			return nil, err
		}
		item := s.Put(b)
		if *buf = b; item.file == nil {
			*buf = nil // the item has it
		}
		p, left = append(p, item), left-int64(len(b))
	}
	return p, nil
}

// Write writes the length of a text, in 8 bytes, and the text; Read reads it.
func Write(w io.Writer, text []byte) error {
	_, err := w.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// Read reads what Write wrote.
func Read(r io.Reader) ([]byte, error) {
	length, err := next(nil, r, 8)
	if err != nil {
		return nil, err
	}
	return next(nil, r, int64(binary.BigEndian.Uint64(length)))
}

var errLength = errors.New("shelf: a length that nothing has")

// next reads size bytes, in the memory of buf where that is enough. A made-up size costs at most
// twice the memory of the bytes that are there.
func next(buf []byte, r io.Reader, size int64) ([]byte, error) {
	if size < 0 || size > 1<<40 {
		return nil, errLength
	}
	b := slices.Grow(buf[:0], int(min(size, 1<<20)))[:min(size, 1<<20)]
	for at := int64(0); ; b = append(b, make([]byte, min(size-at, at))...) {
		n, err := io.ReadFull(r, b[at:])
		if at += int64(n); err != nil || at == size {
			return b, err
		}
	}
}

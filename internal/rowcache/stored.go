package rowcache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"runtime/debug"
	"time"
	"unsafe"

	"covey/internal/dataset"
)

// A cache file is one header page and four sections, each padded to 8 bytes, then one CRC-32C for
// each chunk of the file, over its part of the sections. Little-endian throughout.
//
//	values   rows×d numbers of 4 or 8 bytes, the rows of a unit together
//	counts   u32 for each unit, its rows; none without a unit column
//	absent   u32 for each dropped row, its index, ascending
//	gaps     as in [dataset.Rows.Gaps], in the order of values; none where every cell has a value
//
// The checksum is against disks and torn writes, not against people: anyone who can write here can
// replace the site's key next to it. No privacy hangs on it: what a unit can change is bounded for
// any values (package clip).
const (
	storedMagic   = "COVEYROW"
	storedVersion = 3
	pageSize      = 4096
	chunkSize     = 1 << 20
	// writeSize is how much is written at a time, from a multiple of it: Linux then keeps that much
	// in one piece of memory and maps it as one, where its file system can. On a virtual machine
	// with pieces of 1 MiB a study of mapped rows took 1.6 times as long (BenchmarkStudy).
	writeSize = 2 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// storedHeader describes a cache file.
type storedHeader struct {
	width               int // bytes of a value
	rows, d             int
	units               int
	counted             bool // there is a counts section
	absent              int
	recipe, sha         [32]byte
	gapped              bool  // there is a gaps section
	counts, gone, sums  int64 // where sections begin
	gaps                int64 // likewise
	size                int64 // of the file
	valuesEnd, sectsEnd int64
}

// headerSize is what of the page the header's own CRC is over; the CRC follows.
const headerSize = 136

var errNotStored = errors.New("not a cache file of this version")

func (h *storedHeader) encode() []byte {
	out := make([]byte, 0, pageSize)
	out = append(out, storedMagic...)
	le := binary.LittleEndian
	out = le.AppendUint32(out, storedVersion)
	out = le.AppendUint32(out, uint32(h.width))
	flag := func(set bool) int {
		if set {
			return 1
		}
		return 0
	}
	for _, v := range []int{h.rows, h.d, h.units, flag(h.counted), h.absent} {
		out = le.AppendUint64(out, uint64(v))
	}
	out = le.AppendUint64(out, uint64(h.size))
	out = append(append(out, h.recipe[:]...), h.sha[:]...)
	out = le.AppendUint64(out, uint64(flag(h.gapped)))
	out = le.AppendUint32(out, crc32.Checksum(out, castagnoli))
	return out[:pageSize]
}

// decodeHeader reads the first page of a file of size bytes. The error is errNotStored.
func decodeHeader(page []byte, size int64) (*storedHeader, error) {
	le := binary.LittleEndian
	if len(page) != pageSize || string(page[:8]) != storedMagic || le.Uint32(page[8:]) != storedVersion ||
		le.Uint32(page[headerSize:]) != crc32.Checksum(page[:headerSize], castagnoli) {
		return nil, errNotStored
	}
	h := &storedHeader{width: int(le.Uint32(page[12:]))}
	var n [6]uint64
	for i := range n {
		n[i] = le.Uint64(page[16+8*i:])
	}
	rows, d, units, counted, absent, gapped := n[0], n[1], n[2], n[3], n[4], le.Uint64(page[128:])
	if h.width != 4 && h.width != 8 || rows < 1 || rows > dataset.MaxRows || d < 1 || d > dataset.MaxValues/rows || units < 1 || units > rows ||
		counted > 1 || counted == 0 && units != rows || absent > rows || gapped > 1 || n[5] != uint64(size) {
		return nil, errNotStored
	}
	h.rows, h.d, h.units, h.counted, h.absent, h.size = int(rows), int(d), int(units), counted == 1, int(absent), size
	h.gapped = gapped == 1
	copy(h.recipe[:], page[64:])
	copy(h.sha[:], page[96:])
	if h.place(); h.size != size {
		return nil, errNotStored
	}
	return h, nil
}

// place computes where sections are, and the size, from the shape.
func (h *storedHeader) place() {
	pad := func(n int64) int64 { return (n + 7) &^ 7 }
	h.valuesEnd = pageSize + int64(h.rows)*int64(h.d)*int64(h.width)
	h.counts = pageSize + pad(h.valuesEnd-pageSize)
	h.gone = h.counts
	if h.counted {
		h.gone += pad(4 * int64(h.units))
	}
	h.gaps = h.gone + pad(4*int64(h.absent))
	h.sectsEnd = h.gaps
	if h.gapped {
		h.sectsEnd += pad(int64(h.rows) * int64(dataset.GapStride(h.d)))
	}
	h.sums = h.sectsEnd
	h.size = h.sums + 4*((h.sectsEnd+chunkSize-1)/chunkSize)
}

// Stored are rows in a cache file, mapped read-only: Values or Values32, and Gaps, lie in the file
// and are read from disk as they are touched. They must not be touched after Close.
type Stored struct {
	dataset.Rows
	path     string
	file     *os.File
	size     int64
	modified time.Time
	head     *storedHeader
	data     []byte // the file
	unmap    func() error
}

// openStored opens a cache file and checks all but the sections' checksum ([Stored.Verify]).
func openStored(path string, recipe, sha [32]byte) (*Stored, error) {
	s, err := openNamed(path)
	if err == nil && (s.head.recipe != recipe || s.head.sha != sha) {
		return nil, errors.Join(&dataset.Error{File: path, Reason: "holds other rows than its name says"}, s.Close())
	}
	return s, err
}

// openNamed opens a cache file of whatever rows.
func openNamed(path string) (*Stored, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, dataset.Unreadable(path, err)
	}
	s, err := mapStored(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

func mapStored(path string, f *os.File) (_ *Stored, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, dataset.Unreadable(path, err)
	}
	page := make([]byte, pageSize)
	if _, err := f.ReadAt(page, 0); err != nil {
		return nil, dataset.Unreadable(path, errNotStored)
	}
	h, err := decodeHeader(page, info.Size())
	if err != nil {
		return nil, dataset.Unreadable(path, err)
	}
	if h.size > math.MaxInt {
		return nil, &dataset.Error{File: path, Reason: "is beyond what this processor can address"}
	}
	s := &Stored{path: path, file: f, size: info.Size(), modified: info.ModTime(), head: h}
	if s.data, s.unmap, err = mapFile(f, int(h.size)); err != nil {
		return nil, dataset.Unreadable(path, err)
	}
	if err := guarded(path, s.read); err != nil {
		return nil, errors.Join(err, s.unmap())
	}
	return s, nil
}

// read fills Rows from the mapping.
func (s *Stored) read() error {
	h := s.head
	s.Rows = dataset.Rows{Rows: h.rows, Units: h.units, D: h.d, Dropped: h.absent, SHA256: h.sha}
	if h.width == 8 {
		s.Values = numbersOf[float64](s.data[pageSize:h.valuesEnd])
	} else {
		s.Values32 = numbersOf[float32](s.data[pageSize:h.valuesEnd])
	}
	if h.counted {
		s.Unit = make([]int, 0, h.rows)
		for u := range h.units {
			n := int(binary.LittleEndian.Uint32(s.data[h.counts+4*int64(u):]))
			if n < 1 || n > h.rows-len(s.Unit) {
				return dataset.Unreadable(s.path, errNotStored)
			}
			for range n {
				s.Unit = append(s.Unit, u)
			}
		}
		if len(s.Unit) != h.rows {
			return dataset.Unreadable(s.path, errNotStored)
		}
	}
	last := -1
	for i := range h.absent {
		at := int(binary.LittleEndian.Uint32(s.data[h.gone+4*int64(i):]))
		if at <= last || at >= h.rows {
			return dataset.Unreadable(s.path, errNotStored)
		}
		s.Absent = append(s.Absent, at)
		last = at
	}
	if h.gapped {
		s.Gaps = s.data[h.gaps : h.gaps+int64(h.rows)*int64(dataset.GapStride(h.d))]
	}
	return nil
}

// Verify reads the whole file once and compares its checksums: an *dataset.Error if a byte is
// another than was written. It may run while others read the values, so that a file
// larger than memory is read from disk once for both.
func (s *Stored) Verify() error {
	return guarded(s.path, func() error {
		h := s.head
		table := s.data[h.sums:h.size]
		for at := int64(0); at < h.sectsEnd; at += chunkSize {
			chunk := s.data[max(at, pageSize):min(at+chunkSize, h.sectsEnd)]
			if crc32.Checksum(chunk, castagnoli) != binary.LittleEndian.Uint32(table[4*(at/chunkSize):]) {
				return &dataset.Error{File: s.path, Reason: errDamaged}
			}
		}
		return nil
	})
}

const errDamaged = "is damaged: a checksum does not match"

// Check returns an error unless the file is still as long and as old as when it was opened. Of
// another, no value must be touched: pages beyond its new end are gone, and reading one ends the
// process.
func (s *Stored) Check() error {
	info, err := s.file.Stat()
	if err != nil {
		return dataset.Unreadable(s.path, err)
	}
	if info.Size() != s.size || !info.ModTime().Equal(s.modified) {
		return &dataset.Error{File: s.path, Reason: "was written to after it was opened"}
	}
	return nil
}

// Close ends the mapping. No goroutine may be reading values.
func (s *Stored) Close() error {
	s.Values, s.Values32, s.Gaps = nil, nil, nil
	err := s.unmap()
	return errors.Join(err, s.file.Close())
}

// Rest lets the system take the rows' pages back, which its file cache or the disk still has. Rows
// may be read later, or meanwhile, at the cost of loading their pages again.
func (s *Stored) Rest() { rest(s.data) }

// String returns the shape, never the values.
func (s *Stored) String() string {
	return fmt.Sprintf("rowcache.Stored(%d×%d) [redacted]", s.Rows.Rows, s.D)
}

// Format is [Stored.String] whatever the verb.
func (s *Stored) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// Guard runs f, which reads mapped values on this goroutine, and turns a page that cannot be
// read (a file cut short meanwhile, a disk's fault) into an *dataset.Error. Goroutines that f
// starts are not covered.
func (s *Stored) Guard(f func() error) error { return guarded(s.path, f) }

func guarded(path string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			// A fault of memory has an address (runtime/debug.SetPanicOnFault); anything
			// else is a bug and goes on.
			if _, ok := r.(interface{ Addr() uintptr }); !ok {
				panic(r)
			}
			err = &dataset.Error{File: path, Reason: "a part of it can no longer be read"}
		}
	}()
	return f()
}

// littleEndian says whether numbers in memory are as in the file.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// numbersOf returns bytes as the numbers that they are, in place where the processor is
// little-endian; raw begins on a multiple of 8 bytes: a page of a mapping, or an allocation.
func numbersOf[T float32 | float64](raw []byte) []T {
	var zero T
	width := int(unsafe.Sizeof(zero))
	if littleEndian {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/width)
	}
	out := make([]T, len(raw)/width)
	for i := range out {
		if width == 8 {
			out[i] = T(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
		} else {
			out[i] = T(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	}
	return out
}

// appendNumbers appends values as a file holds them.
func appendNumbers(out []byte, values []float64, width int) []byte {
	switch {
	case width == 4:
		for _, v := range values {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		}
	case littleEndian:
		out = append(out, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*len(values))...)
	default:
		for _, v := range values {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	return out
}

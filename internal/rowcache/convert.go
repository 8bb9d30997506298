package rowcache

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"covey/internal/dataset"
)

// draft is a cache file under way, under a temporary name that a crash leaves behind and
// the next Open removes.
type draft struct {
	dir, name string
	root      *os.Root
	file      *os.File
	width     int
	buffer    []byte // not written yet, at first with the header's page; begins on a whole chunk
	sums      []byte // CRCs of the chunks written, without that page
	length    int64  // of the sections so far
	gaps      []byte // of all rows, in order; nil for none
}

func newDraft(root *os.Root, dir string, precision dataset.Precision) (*draft, error) {
	var random [8]byte
	rand.Read(random[:])
	d := &draft{dir: dir, root: root, name: hex.EncodeToString(random[:]) + temporary, width: 8, buffer: make([]byte, pageSize, writeSize+chunkSize)}
	if precision == dataset.Float32 {
		d.width = 4
	}
	var err error
	if d.file, err = root.OpenFile(d.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, d.unwritable(err)
	}
	return d, nil
}

func (d *draft) unwritable(err error) error {
	reason := err
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		reason = p.Err
	}
	return &dataset.Error{File: filepath.Join(d.dir, d.name), Reason: "cannot be written: " + reason.Error(), Err: err}
}

// abandon removes the file.
func (d *draft) abandon() error {
	return errors.Join(d.file.Close(), d.root.Remove(d.name))
}

// take is a sink.
func (d *draft) take(block []float64) error {
	for len(block) > 0 {
		n := min(len(block), chunkSize/8)
		d.buffer = appendNumbers(d.buffer, block[:n], d.width)
		d.length += int64(n * d.width)
		block = block[n:]
		if err := d.drain(false); err != nil {
			return err
		}
	}
	return nil
}

// drain writes what makes whole multiples of writeSize, or all that there is.
func (d *draft) drain(all bool) error {
	whole := len(d.buffer) / writeSize * writeSize
	if all {
		whole = len(d.buffer)
	}
	for at := 0; at < whole; at += chunkSize {
		chunk := d.buffer[at:min(at+chunkSize, whole)]
		if len(d.sums) == 0 {
			chunk = chunk[pageSize:]
		}
		d.sums = binary.LittleEndian.AppendUint32(d.sums, crc32.Checksum(chunk, castagnoli))
	}
	if whole > 0 {
		if _, err := d.file.Write(d.buffer[:whole]); err != nil {
			return d.unwritable(err)
		}
		d.buffer = append(d.buffer[:0], d.buffer[whole:]...)
	}
	return nil
}

// words appends a section of u32.
func (d *draft) words(n int, word func(i int) uint32) error {
	for i := range n {
		d.buffer = binary.LittleEndian.AppendUint32(d.buffer, word(i))
		d.length += 4
		if len(d.buffer) >= writeSize {
			if err := d.drain(false); err != nil {
				return err
			}
		}
	}
	d.pad()
	return nil
}

// raw appends bytes.
func (d *draft) raw(bytes []byte) error {
	for len(bytes) > 0 {
		n := min(len(bytes), chunkSize)
		d.buffer = append(d.buffer, bytes[:n]...)
		d.length += int64(n)
		bytes = bytes[n:]
		if len(d.buffer) >= writeSize {
			if err := d.drain(false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *draft) pad() {
	for d.length%8 != 0 {
		d.buffer = append(d.buffer, 0)
		d.length++
	}
}

// finish writes what follows the values, and the header last; then everything is on
// disk, and nobody may write to it any more.
func (d *draft) finish(h *storedHeader, counts []int, absent []int) error {
	d.pad()
	if h.counted {
		if err := d.words(len(counts), func(u int) uint32 { return uint32(counts[u]) }); err != nil {
			return err
		}
	}
	if err := d.words(len(absent), func(i int) uint32 { return uint32(absent[i]) }); err != nil {
		return err
	}
	if err := d.raw(d.gaps); err != nil {
		return err
	}
	d.pad()
	if err := d.drain(true); err != nil {
		return err
	}
	h.width, h.gapped = d.width, d.gaps != nil
	h.place()
	_, err := d.file.Write(d.sums)
	if err == nil {
		_, err = d.file.WriteAt(h.encode(), 0)
	}
	if err == nil {
		err = d.file.Sync()
	}
	if err == nil {
		err = d.file.Chmod(0o400)
	}
	if err != nil {
		return d.unwritable(err)
	}
	return nil
}

// convert reads a source into a temporary cache file, finished and on disk.
func (c *Cache) convert(s dataset.Source, q dataset.Request, o dataset.ReadOptions) (_ *draft, sha [32]byte, err error) {
	d, err := newDraft(c.root, c.dir, q.Precision)
	if err != nil {
		return nil, sha, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.abandon())
		}
	}()
	r, unit, err := dataset.ReadTo(s, q, o, d.take)
	if err != nil {
		return nil, sha, err
	}
	d.gaps = r.Gaps
	h := &storedHeader{rows: r.Rows, d: r.D, units: r.Units, counted: unit != nil, absent: len(r.Absent), recipe: s.Recipe(q), sha: r.SHA256}
	var counts []int
	if h.counted {
		counts = make([]int, r.Units)
		together := true
		for i, u := range unit {
			counts[u]++
			together = together && (i == 0 || unit[i-1] <= u)
		}
		if !together {
			grouped, err := c.group(d, q.Precision, r, unit, counts)
			if err != nil {
				return nil, sha, err
			}
			err = d.abandon()
			if d = grouped; err != nil {
				return nil, sha, err
			}
		}
	}
	if err := d.finish(h, counts, r.Absent); err != nil {
		return nil, sha, err
	}
	return d, r.SHA256, nil
}

// group copies a draft's rows unit by unit, in the order in which they came within a unit,
// so that nobody has to do it in memory later. r.Absent becomes their places there, and gaps move
// with their rows.
func (c *Cache) group(from *draft, precision dataset.Precision, r *dataset.Rows, unit []int32, counts []int) (_ *draft, err error) {
	if err := from.drain(true); err != nil {
		return nil, err
	}
	size := int(from.length) + pageSize
	data, unmap, err := mapFile(from.file, size)
	if err != nil {
		return nil, from.unwritable(err)
	}
	defer func() { err = errors.Join(err, unmap()) }()
	to, err := newDraft(c.root, c.dir, precision)
	if err != nil {
		return nil, err
	}
	// order[i] is the row that comes i-th.
	next := make([]int, len(counts))
	for u := 1; u < len(counts); u++ {
		next[u] = next[u-1] + counts[u-1]
	}
	order := make([]int32, r.Rows)
	for i, u := range unit {
		order[next[u]] = int32(i)
		next[u]++
	}
	absent, gone := make([]bool, r.Rows), r.Absent[:0]
	for _, i := range r.Absent {
		absent[i] = true
	}
	row := r.D * to.width
	err = guarded(from.file.Name(), func() error {
		for at, i := range order {
			if absent[i] {
				gone = append(gone, at)
			}
			if from.gaps != nil {
				stride := dataset.GapStride(r.D)
				to.gaps = append(to.gaps, from.gaps[int(i)*stride:][:stride]...)
			}
			if err := to.raw(data[pageSize+int(i)*row:][:row]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, to.abandon())
	}
	r.Absent = gone
	return to, nil
}

package rowcache

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"covey/internal/dataset"
)

// A header whose checksum is right is refused all the same where its numbers do not fit each other
// or the file: what follows would be read beyond its sections, or by lengths that wrapped.
func TestHeaderNumbers(t *testing.T) {
	const ( // of the words from byte 16 on
		rows, d, units, counted, absent, size = 0, 1, 2, 3, 4, 5
	)
	good := storedHeader{width: 8, rows: 1 << 20, d: 3, units: 7, counted: true, absent: 2}
	wrapped := good
	wrapped.d = 1<<41 + 1 // rows·d·8 is 2^64 and as much as a file can have
	uncounted := good
	uncounted.counted = false
	for name, c := range map[string]struct {
		of     storedHeader
		change func(page []byte, word func(int, uint64))
		more   int64 // bytes of the file beyond what the header says
		ok     bool
	}{
		"as written":          {of: good, ok: true},
		"as written, gaps":    {of: storedHeader{width: 4, rows: 3, d: 9, units: 3, gapped: true}, ok: true},
		"magic":               {of: good, change: func(p []byte, _ func(int, uint64)) { p[0] = 'c' }},
		"version":             {of: good, change: func(p []byte, _ func(int, uint64)) { p[8]++ }},
		"width":               {of: good, change: func(p []byte, _ func(int, uint64)) { p[12] = 16 }},
		"no rows":             {of: good, change: func(_ []byte, word func(int, uint64)) { word(rows, 0) }},
		"too many rows":       {of: good, change: func(_ []byte, word func(int, uint64)) { word(rows, dataset.MaxRows+1) }},
		"other rows":          {of: good, change: func(_ []byte, word func(int, uint64)) { word(rows, 1<<20-1) }},
		"no columns":          {of: good, change: func(_ []byte, word func(int, uint64)) { word(d, 0) }},
		"a length that wraps": {of: wrapped},
		"no units":            {of: good, change: func(_ []byte, word func(int, uint64)) { word(units, 0) }},
		"more units":          {of: storedHeader{width: 8, rows: 3, d: 1, units: 4, counted: true}},
		"units of no column":  {of: uncounted},
		"gapped twice":        {of: good, change: func(p []byte, _ func(int, uint64)) { p[128] = 2 }},
		"gaps of no section":  {of: good, change: func(p []byte, _ func(int, uint64)) { p[128] = 1 }},
		"counted twice":       {of: good, change: func(_ []byte, word func(int, uint64)) { word(counted, 2) }},
		"more dropped":        {of: storedHeader{width: 8, rows: 3, d: 1, units: 3, absent: 4}},
		"another size":        {of: good, change: func(_ []byte, word func(int, uint64)) { word(size, 4096) }},
		"a longer file":       {of: good, more: 8},
		"a shorter file":      {of: good, more: -8},
		"the checksum":        {of: good, change: func(p []byte, _ func(int, uint64)) { p[headerSize]++ }},
	} {
		c.of.place()
		page := c.of.encode()
		if c.change != nil {
			c.change(page, func(i int, v uint64) { binary.LittleEndian.PutUint64(page[16+8*i:], v) })
		}
		if name != "the checksum" {
			binary.LittleEndian.PutUint32(page[headerSize:], crc32.Checksum(page[:headerSize], castagnoli))
		}
		if h, err := decodeHeader(page, c.of.size+c.more); (err == nil) != c.ok || err != nil && (err != errNotStored || h != nil) {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
}

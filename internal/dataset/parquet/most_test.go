package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/test/cost"
)

// TestMostOfParquet: a packed file with more rows than may be kept is told apart from one that
// cannot be read.
func TestMostOfParquet(t *testing.T) {
	type row struct {
		A float64 `parquet:"a"`
	}
	path := writeParquet(t, make([]row, 100_000))
	q := dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Missing: dataset.MissingError}
	if r, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{Most: 800_000}); err != nil || r.Rows != 100_000 {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{Most: 799_999}); !errors.Is(err, dataset.ErrMost) {
		t.Errorf("one byte less: %v", err)
	}
}

// TestMostMemory: a large file may take memory by its length, but not the machine's all.
func TestMostMemory(t *testing.T) {
	const gib = int64(1) << 30
	for _, c := range []struct {
		size, free int64
		known      bool
		want       int64
	}{
		{1000, 100 * gib, true, gib},
		{gib, 100 * gib, true, 16 * gib},
		{gib, 8 * gib, true, 6 * gib},
		{gib, 0, true, gib},
		{gib, 0, false, 16 * gib},
	} {
		if got := most(c.size, c.free, c.known); got != c.want {
			t.Errorf("%d bytes with %d free, %v: %d, want %d", c.size, c.free, c.known, got, c.want)
		}
	}
}

// TestLongFooter: a footer of many small structures is refused before they take 70 times its
// length, twice.
func TestLongFooter(t *testing.T) {
	// Decoded once they would take half of what they may.
	const chunks = 1 << 20
	footer := binary.AppendUvarint([]byte{0x49, 0x1C, 0x19, 0xFC}, chunks) // one row group
	footer = append(footer, bytes.Repeat([]byte("\x18\x05aaaaa\x00"), chunks)...)
	footer = append(footer, 0, 0)
	file := slices.Concat([]byte("PAR1"), footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), []byte("PAR1"))
	s := dataset.Source{Path: cost.File(t, "a.parquet", file)}
	cost.Bounded(t, uint64(len(file))+1<<20, func() {
		_, err := dataset.Inspect(s, "", dataset.ReadOptions{})
		if e, ok := errors.AsType[*dataset.Error](err); !ok || !strings.Contains(e.Reason, "its footer may take more than 1024 MiB") {
			t.Error(err)
		}
	})
}

package egress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// tailBytes is how much of the file one look at its end reads: some hundreds of lines.
const tailBytes = 64 << 10

// Tail returns the last lines of a data directory's egress.jsonl that end before a place in the
// file, in bytes, the newest first, at most most; before is 0 for the end. next is where older ones
// end, 0 if there are no older ones. A line that a crash cut off is left out, and so is one that is
// being written. Nothing is verified: Verify does.
func Tail(dir string, before int64, most int) (lines []Line, next int64, err error) {
	f, err := os.Open(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if before <= 0 || before > info.Size() {
		before = info.Size()
	}
	from := max(0, before-tailBytes)
	text := make([]byte, before-from)
	if _, err := io.ReadFull(io.NewSectionReader(f, from, before-from), text); err != nil {
		return nil, 0, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if from > 0 { // the first may have begun before
		cut := bytes.IndexByte(text, '\n') + 1
		if cut == len(text) { // and is longer than all of this
			return nil, from, nil
		}
		text, from = text[cut:], from+int64(cut)
	}
	for len(text) > 0 && len(lines) < most {
		begin := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
		var line Line
		if json.Unmarshal(text[begin:], &line) == nil {
			lines = append(lines, line)
		}
		text = text[:begin]
	}
	return lines, from + int64(len(text)), nil
}

// Alike are messages of one kind that say the same. Their sizes may differ by the bytes that a
// query's number takes.
type Alike struct {
	Kind, What         string
	Times, Least, Most int // Least and Most are bytes of one
}

// Group puts messages alike together, in the order of the first of each, and returns the bytes of
// all.
func Group(planned []Planned) (groups []Alike, total int) {
	for _, p := range planned {
		total += p.Bytes
		i := slices.IndexFunc(groups, func(g Alike) bool { return g.Kind == p.Kind && g.What == p.What })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Alike{p.Kind, p.What, 0, p.Bytes, p.Bytes})
		}
		g := &groups[i]
		g.Times, g.Least, g.Most = g.Times+1, min(g.Least, p.Bytes), max(g.Most, p.Bytes)
	}
	return groups, total
}

// Size returns Least and Most in words.
func (g Alike) Size() string {
	if g.Least == g.Most {
		return strconv.Itoa(g.Most)
	}
	return fmt.Sprintf("%d-%d", g.Least, g.Most)
}

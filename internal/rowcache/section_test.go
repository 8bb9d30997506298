package rowcache

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/test/rows"
)

// Counts and places that do not fit the rows are refused though every checksum is right: units
// without rows, or rows of no unit, would be summed as what they are not.
func TestSectionsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		counts, absent []int
		ok             bool
	}{
		"as written":       {[]int{1, 2}, []int{0, 2}, true},
		"a unit of none":   {[]int{0, 3}, nil, false},
		"rows of no unit":  {[]int{1, 1}, nil, false},
		"more than rows":   {[]int{2, 2}, nil, false},
		"dropped twice":    {[]int{1, 2}, []int{1, 1}, false},
		"out of order":     {[]int{1, 2}, []int{2, 1}, false},
		"dropped, no row":  {[]int{1, 2}, []int{3}, false},
		"far more than it": {[]int{1, 1 << 31}, nil, false},
	} {
		c2 := rows.Open(t, Open)
		d, err := newDraft(c2.root, c2.dir, dataset.Float64)
		if err != nil {
			t.Fatal(err)
		}
		h := &storedHeader{rows: 3, d: 1, units: len(c.counts), counted: true, absent: len(c.absent)}
		if err := errors.Join(d.take([]float64{1, 2, 3}), d.finish(h, c.counts, c.absent), d.file.Close()); err != nil {
			t.Fatal(err)
		}
		s, err := openNamed(filepath.Join(c2.dir, d.name))
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), errNotStored.Error()) {
			t.Errorf("%s: %v", name, err)
		}
		if s != nil {
			s.Close()
		}
	}
}

// A file that holds other rows than its name says is made again.
func TestLoadLooksBehindTheName(t *testing.T) {
	c, s := rows.Open(t, Open), dataset.Source{Path: write(t, "a,b\n1,2\n")}
	made := rows.Load(t, c.Load, s, one("a"), "one")
	if err := c.root.Link(filepath.Base(made.path), cached{short(s.Recipe(one("b"))), short(made.SHA256), "one"}.String()); err != nil {
		t.Fatal(err)
	}
	if got := rows.Load(t, c.Load, s, one("b"), "one"); got.Values[0] != 2 {
		t.Errorf("column b is %v", got.Values)
	}
}

// Check sees another length, and another time of the same length.
func TestCheckSeesEither(t *testing.T) {
	c, s := rows.Open(t, Open), dataset.Source{Path: write(t, "a\n1\n")}
	made := rows.Load(t, c.Load, s, one("a"), "one")
	made.size++
	if made.Check() == nil {
		t.Error("another length is not seen")
	}
	made.size--
	made.modified = made.modified.Add(-1)
	if made.Check() == nil {
		t.Error("another time is not seen")
	}
}

package shelf

import (
	"bytes"
	"io"
	"os"
	"testing"
)

// TestShelf: what is put is read again: from a file without a name, or from memory if there is no
// file or it is full.
func TestShelf(t *testing.T) {
	dir := t.TempDir()
	s, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("the folder holds %v, %v", names, err)
	}
	full := &Shelf{file: s.file, end: 1 << 62} // beyond what any disk takes
	for name, on := range map[string]*Shelf{"a file": s, "memory": new(Shelf), "a full disk": full} {
		a, b, none := on.Put([]byte("first")), on.Put(bytes.Repeat([]byte{7}, 1<<20)), on.Put(nil)
		if got, err := a.Bytes(); err != nil || string(got) != "first" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if got, err := b.Bytes(); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{7}, 1<<20)) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if got, err := none.Bytes(); err != nil || len(got) != 0 {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if inMemory := a.held != nil; inMemory == (name == "a file") {
			t.Errorf("%s: in memory: %v", name, inMemory)
		}
	}
}

// TestCopies: what one shelf's pieces are copied to another is the same, and stays so while others
// are copied, on disk and in memory.
func TestCopies(t *testing.T) {
	file := func(end int64) *Shelf {
		s, err := New(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		s.end = end
		return s
	}
	for name, on := range map[string]*Shelf{"a file": file(0), "memory": new(Shelf), "a full disk": file(1 << 62)} {
		var wrote [3]bytes.Buffer
		var from, to [3]Pieces
		for i := range from {
			for k := range 3 {
				from[i] = append(from[i], on.Put(bytes.Repeat([]byte{byte(10*i + k)}, (k+1)*taken/2)))
			}
			if err := from[i].Copy(&wrote[i]); err != nil {
				t.Fatal(err)
			}
		}
		for i := range from {
			p, err := on.Take(bytes.NewReader(wrote[i].Bytes()), int64(wrote[i].Len()))
			if err != nil {
				t.Fatal(err)
			}
			to[i] = p
		}
		for i := range from {
			a, err := io.ReadAll(from[i].Reader())
			b, err2 := io.ReadAll(to[i].Reader())
			if err != nil || err2 != nil || len(a) != 3*taken || !bytes.Equal(a, wrote[i].Bytes()) || !bytes.Equal(a, b) {
				t.Errorf("%s: %d: %d bytes, %v, copied as %d and taken as %d, %v", name, i, len(a), err, wrote[i].Len(), len(b), err2)
			}
		}
	}
}

// TestChanged: bytes that the disk has changed are an error, and so is an end that is missing.
func TestChanged(t *testing.T) {
	s, err := New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Put([]byte("first")), s.Put([]byte("second"))
	if _, err := s.file.WriteAt([]byte("F"), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.file.Truncate(8); err != nil {
		t.Fatal(err)
	}
	for _, i := range []Item{a, b} {
		if got, err := i.Bytes(); err == nil {
			t.Errorf("%q is returned", got)
		}
		if (Pieces{i}).Copy(io.Discard) == nil {
			t.Error("other bytes are copied")
		}
	}
}

// TestCut: what a cut file no longer has does not come from the memory that the same bytes were
// read into before.
func TestCut(t *testing.T) {
	s, err := New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	item := s.Put([]byte("first"))
	before, err := item.read(nil)
	if err != nil || string(before) != "first" {
		t.Fatalf("%q, %v", before, err)
	}
	if err := s.file.Truncate(4); err != nil {
		t.Fatal(err)
	}
	if got, err := item.read(before); err == nil {
		t.Errorf("%q is returned", got)
	}
}

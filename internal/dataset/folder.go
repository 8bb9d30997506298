package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// maxFiles bounds the files of a folder.
const maxFiles = 10_000

// folder is a directory of Parquet files that are one data set: their rows, file by file in the
// order of the names' bytes. Names that begin with _ or . do not count. A name may hold a value, so
// that no error names a file but by its place.
//
// All files are open from before the first is read until the folder was listed again; they and the
// second list must be what was there at first, or the folder changed while it was read.
type folder struct {
	path  string
	root  *os.Root
	names []string
	parts []*hashedFile
	first table      // of the first part; nil where no rows are read
	sums  [][32]byte // of the parts that were read
}

// isFolder reports whether the source is a directory of files.
func (s Source) isFolder() bool {
	if s.Query != nil || s.Kind() != Parquet {
		return false
	}
	info, err := os.Stat(s.Path)
	return err == nil && info.IsDir()
}

// openFolder lists a folder and opens its files.
func openFolder(path string, o ReadOptions) (*folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	f := &folder{path: path, root: root}
	if f.names, err = f.list(); err == nil {
		err = f.open(o)
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// list returns the names of the files that count, sorted by bytes.
func (f *folder) list() ([]string, error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, unreadable(f.path, err)
	}
	defer dir.Close()
	var names []string
	for {
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			name := e.Name()
			switch {
			case name == "_delta_log" || name == ".hoodie":
				return nil, &Error{File: f.path, Reason: "is a Delta or Hudi table, whose log lists the files that count; export its rows to plain Parquet files"}
			case name[0] == '_' || name[0] == '.':
				continue
			case e.IsDir() && strings.Contains(name, "="):
				return nil, &Error{File: f.path, Reason: "holds folders named KEY=VALUE, whose values are in no file; write that column into the files, all in one folder"}
			case e.IsDir():
				return nil, &Error{File: f.path, Reason: "holds a folder; all files must be in one"}
			case len(names) == maxFiles:
				return nil, &Error{File: f.path, Reason: fmt.Sprintf("holds over %d files", maxFiles)}
			}
			names = append(names, name)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, unreadable(f.path, err)
		}
	}
	if len(names) == 0 {
		return nil, &Error{File: f.path, Reason: "holds no Parquet files"}
	}
	slices.Sort(names)
	return names, nil
}

// open opens the files that were listed. None outside the folder is: a symlink that leads there is
// an error.
func (f *folder) open(o ReadOptions) error {
	total, done := int64(0), int64(0)
	for i, name := range f.names {
		label := fmt.Sprintf("%s: file %d of %d", f.path, i+1, len(f.names))
		if FormatOf(name) != Parquet {
			return &Error{File: label, Reason: "its name does not end in .parquet"}
		}
		// Before it is opened: a pipe would wait for a writer.
		if info, err := f.root.Stat(name); err != nil {
			return unreadable(label, err)
		} else if !info.Mode().IsRegular() {
			return &Error{File: label, Reason: "is not a file"}
		}
		file, err := f.root.Open(name)
		if err != nil {
			return unreadable(label, err)
		}
		before, err := file.Stat()
		if err == nil && !before.Mode().IsRegular() {
			err = errors.New("is not a file")
		}
		if err != nil {
			file.Close()
			return unreadable(label, err)
		}
		part := &hashedFile{path: label, file: file, before: before, hash: sha256.New()}
		f.parts = append(f.parts, part)
		total += before.Size()
	}
	if o.Progress != nil {
		for _, part := range f.parts {
			before := done
			part.progress = func(read, _ int64) { o.Progress(before+read, total) }
			done += part.before.Size()
		}
	}
	return nil
}

func (f *folder) changed() error {
	return &Error{File: f.path, Reason: "the folder changed while it was read", Remedy: wholeFile}
}

// pin lists the folder again and returns its pin: SHA-256 over "covey folder 1\n", the number of
// files in 64 bits, and for each file in order its name, behind its length in 64 bits, its size in
// 64 bits, and its SHA-256; little-endian.
func (f *folder) pin() (sum [32]byte, err error) {
	names, err := f.list()
	if err != nil || !slices.Equal(names, f.names) || len(f.sums) != len(names) {
		return sum, f.changed()
	}
	pin := sha256.New()
	pin.Write([]byte("covey folder 1\n"))
	number := func(v int64) { pin.Write(binary.LittleEndian.AppendUint64(nil, uint64(v))) }
	number(int64(len(names)))
	for i, name := range names {
		before := f.parts[i].before
		now, err := f.root.Stat(name)
		if err != nil || !os.SameFile(now, before) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
			return sum, f.changed()
		}
		number(int64(len(name)))
		pin.Write([]byte(name))
		number(before.Size())
		pin.Write(f.sums[i][:])
	}
	return [32]byte(pin.Sum(nil)), nil
}

// took ends a part.
func (f *folder) took(part *hashedFile) error {
	sum, err := part.finish()
	f.sums = append(f.sums, sum)
	return err
}

func (f *folder) close() {
	for _, part := range f.parts {
		part.close()
	}
	f.root.Close() // only read from
}

// schemed is a driver's table that can be compared with another of its format.
type schemed interface {
	// Schema is equal for two tables of equal columns and types. It is for comparing alone: it may
	// hold text of the file.
	Schema() string
}

// schemaOf returns "" for a table that cannot be compared.
func schemaOf(t table) string {
	if t, ok := t.(driven).Table.(schemed); ok {
		return t.Schema()
	}
	return ""
}

// openTables is openFolder that opens the first file's table, too.
func openTables(path string, o ReadOptions) (*folder, error) {
	f, err := openFolder(path, o)
	if err != nil {
		return nil, err
	}
	if f.first, err = drive(Parquet, f.parts[0], nil); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *folder) header() []string { return f.first.header() }
func (f *folder) word() string     { return f.first.word() }

// rows hands the files' rows to b, each file's numbered for itself.
func (f *folder) rows(b *builder) error {
	t, schema := f.first, schemaOf(f.first)
	for i, part := range f.parts {
		if i > 0 {
			var err error
			if t, err = drive(Parquet, part, nil); err != nil {
				return err
			}
		}
		if schemaOf(t) != schema {
			return &Error{Schema: SchemaFormat, File: part.path, Reason: "its columns or their types are not those of the first file"}
		}
		b.file, b.taken.before = part.path, b.taken.rows
		if err := t.rows(b); err != nil {
			return err
		}
		if err := f.took(part); err != nil {
			return err
		}
	}
	b.file = f.path
	return nil
}

// pinFolder is pin of a folder.
func (s Source) pinFolder(o ReadOptions) ([32]byte, error) {
	f, err := openFolder(s.Path, o)
	if err != nil {
		return [32]byte{}, err
	}
	defer f.close()
	for _, part := range f.parts {
		if err := f.took(part); err != nil {
			return [32]byte{}, err
		}
	}
	return f.pin()
}

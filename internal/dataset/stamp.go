package dataset

import (
	"crypto/sha256"
	"fmt"
	"os"
	"time"
)

// Stamp is what a file, or a folder of files, looks like from outside: two that differ are of other
// bytes, or were written again; two that are equal are most likely of the same.
type Stamp struct {
	Size     int64     // of all files, in bytes
	Modified time.Time // the last of them
	files    [32]byte  // of a folder: which files there are, and of when
}

// Same reports whether two stamps are equal.
func (s Stamp) Same(other Stamp) bool {
	return s.Size == other.Size && s.Modified.Equal(other.Modified) && s.files == other.files
}

// Stamp looks at a file or folder without reading it; of a query it is an error.
func (s Source) Stamp() (Stamp, error) {
	if s.Query != nil {
		return Stamp{}, &Error{File: s.Query.Name(), Reason: "is not a file"}
	}
	info, err := os.Stat(s.Path)
	if err != nil {
		return Stamp{}, unreadable(s.Path, err)
	}
	if !s.isFolder() {
		return Stamp{Size: info.Size(), Modified: info.ModTime()}, nil
	}
	root, err := os.OpenRoot(s.Path)
	if err != nil {
		return Stamp{}, unreadable(s.Path, err)
	}
	f := &folder{path: s.Path, root: root}
	defer f.close()
	names, err := f.list()
	if err != nil {
		return Stamp{}, err
	}
	out, all := Stamp{}, sha256.New()
	for i, name := range names {
		info, err := root.Stat(name)
		if err != nil {
			return Stamp{}, unreadable(fmt.Sprintf("%s: file %d of %d", s.Path, i+1, len(names)), err)
		}
		out.Size += info.Size()
		if info.ModTime().After(out.Modified) {
			out.Modified = info.ModTime()
		}
		fmt.Fprintf(all, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	out.files = [32]byte(all.Sum(nil))
	return out, nil
}

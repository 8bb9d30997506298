package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"path"
	"slices"
	"strings"
	"time"
)

// tarred returns entries with their folders as a tar of root's, sorted. prefix begins every name.
func tarred(all []entry, at time.Time, prefix string) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	seen := map[string]bool{"": true}
	folder := func(name string) error {
		if seen[name] {
			return nil
		}
		seen[name] = true
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: prefix + name + "/", Mode: 0o755, ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatGNU})
	}
	for _, e := range sorted(all) {
		for i, c := range e.name {
			if c == '/' {
				if err := folder(e.name[:i]); err != nil {
					return nil, err
				}
			}
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: prefix + e.name, Mode: e.mode, Size: int64(len(e.content)), ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatGNU}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func sorted(all []entry) []entry {
	out := slices.Clone(all)
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return out
}

// compressed returns gzip's form, without a name or a time.
func compressed(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(raw)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

func gzipped(all []entry, at time.Time) ([]byte, error) {
	raw, err := tarred(all, at, "")
	if err != nil {
		return nil, err
	}
	return compressed(raw)
}

func zipped(all []entry, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range sorted(all) {
		h := &zip.FileHeader{Name: path.Clean(e.name), Method: zip.Deflate, Modified: at}
		h.SetMode(permission(e.mode))
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

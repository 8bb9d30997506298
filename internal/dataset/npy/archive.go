package npy

import (
	"archive/zip"
	"io"
	"strings"

	"github.com/klauspost/compress/flate"

	"covey/internal/dataset"
)

// maxParts bounds the arrays of an archive.
const maxParts = 1 << 16

func openArchive(src *dataset.File) (*table, error) {
	t := &table{src: src}
	z, err := zip.NewReader(src, src.Size())
	if err != nil || len(z.File) > maxParts {
		return nil, t.bad("", errZip)
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader)
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		p, err := archivedArray(src, f, name)
		if err != nil {
			return nil, t.bad(name, err)
		}
		t.parts = append(t.parts, p)
	}
	if len(t.parts) == 0 {
		return nil, &dataset.Error{File: src.Path(), Reason: "the archive holds no array"}
	}
	return t, t.nameColumns(src.Names())
}

const errZip = arrayFault("not NPZ, cut off, or damaged")

// maxDeflation is above how many bytes one byte of DEFLATE can stand for (258 in two bits).
const maxDeflation = 1033

// archivedArray returns an array of an archive.
func archivedArray(src *dataset.File, f *zip.File, name string) (*part, error) {
	if f.Method != zip.Store && f.Method != zip.Deflate {
		return nil, errZip
	}
	head, err := f.Open()
	if err != nil {
		return nil, errZip
	}
	defer head.Close()
	a, err := readArray(head)
	if err != nil {
		return nil, err
	}
	if uint64(a.begin)+uint64(a.length()) != f.UncompressedSize64 {
		return nil, errLength
	}
	// or a row's memory is taken before it is missed
	if f.UncompressedSize64/maxDeflation > uint64(src.Size()) {
		return nil, errZip
	}
	p := &part{array: a, name: name, open: func() (io.ReadCloser, error) {
		r, err := f.Open()
		if err == nil {
			_, err = io.CopyN(io.Discard, r, a.begin)
		}
		return r, err
	}}
	if f.Method == zip.Store {
		offset, err := f.DataOffset()
		if err != nil || offset > src.Size()-int64(f.UncompressedSize64) {
			return nil, errZip
		}
		p.at = io.NewSectionReader(src, offset+a.begin, a.length())
	}
	return p, nil
}

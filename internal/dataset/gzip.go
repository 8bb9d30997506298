package dataset

import (
	"compress/flate"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// openGzip reads a CSV file that gzip packed; several members one after another are one
// file. The pin is of the packed bytes, and so is progress.
func openGzip(src *hashedFile, m Mapping) (table, error) {
	in, err := unpack(src)
	if err != nil {
		return nil, err
	}
	return openText(src, in, m)
}

// unpack returns the bytes that gzip packed.
func unpack(src *hashedFile) (io.Reader, error) {
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, unreadable(src.path, packed(err))
	}
	return &gunzip{z}, nil
}

type gunzip struct{ z *gzip.Reader }

func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err != nil && err != io.EOF {
		err = packed(err)
	}
	return n, err
}

// errPacked is a file that is not, or not all, what gzip wrote.
var errPacked = errors.New("not gzip, cut off, or damaged")

// packed keeps the operating system's errors and words all others as one: some carry
// an offset, none a remedy.
func packed(err error) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	if corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errPacked
	}
	return err
}

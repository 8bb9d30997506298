package dataset

import (
	"bytes"
	"io"
)

// Head returns the first bytes of a text file, unpacked, at most n of them. The error is an
// *[Error].
func Head(s Source, n int) ([]byte, error) {
	src, err := open(s.Path, ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer src.close()
	var in io.Reader = src
	if s.Kind() == CSVGzip {
		if in, err = unpack(src); err != nil {
			return nil, err
		}
	}
	head := make([]byte, n)
	n, err = io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, unreadable(s.Path, err)
	}
	return head[:n], nil
}

// Decode returns the beginning of a text file as UTF-8. It reports false where a byte order mark
// says that the file is in another encoding.
func (e Encoding) Decode(head []byte) (string, bool) {
	_, text, err := decode(bytes.NewReader(head), e, "")
	if err != nil {
		return "", false
	}
	all, _ := io.ReadAll(text) // of memory; what an encoding does not know it replaces
	return string(all), true
}

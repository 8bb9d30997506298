package packed

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
)

// Zip returns a text as a gzip file, which "zcat" prints. Another build may write other bytes for
// the same text: what is signed or hashed is the text.
func Zip(text []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // a level that there is
	w.Write(text)                                     // into memory
	w.Close()
	return out.Bytes()
}

// errZip is a file that Zip did not write, or a text that is too long.
var errZip = errors.New("packed text is damaged or too long")

// Unzip returns the text, of at most so many bytes.
func Unzip(zipped []byte, most int) ([]byte, error) {
	size := Length(zipped)
	if size < 0 || size > most {
		return nil, errZip
	}
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, errZip
	}
	var out bytes.Buffer
	out.Grow(min(size, 1032*len(zipped)) + bytes.MinRead) // a byte is never worth more
	n, err := io.Copy(&out, io.LimitReader(r, int64(size)+1))
	if err != nil || n != int64(size) {
		return nil, errZip
	}
	return out.Bytes(), nil
}

// Length returns how many bytes the text of a gzip file has, by the file's last word; -1 if the
// file is too short.
func Length(zipped []byte) int {
	if len(zipped) < 18 {
		return -1
	}
	return int(binary.LittleEndian.Uint32(zipped[len(zipped)-4:]))
}

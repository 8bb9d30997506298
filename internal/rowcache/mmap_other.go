//go:build !unix

package rowcache

import (
	"io"
	"os"
	"unsafe"
)

// mapFile reads the first size bytes into memory, on a multiple of 8 bytes.
func mapFile(f *os.File, size int) (data []byte, unmap func() error, err error) {
	words := make([]uint64, (size+7)/8)
	data = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, int64(size)), data)
	return data, func() error { return nil }, err
}

// rest does nothing here: data is in memory.
func rest([]byte) {}

package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
)

// cutShort is an error if a bbolt file lacks pages that it says it has, as where a disk filled
// while it was copied. bbolt maps it into memory and does not look: reading what is not there ends
// the process, now or much later. bbolt makes the file longer before it counts a page: neither a
// crash nor another process that writes to the file makes one that is refused.
func cutShort(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // bbolt makes one
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var newest, needs uint64
	for page := range int64(2) {
		var b [80]byte // the head of a page, and what bbolt keeps of its file
		if _, err := f.ReadAt(b[:], page*int64(os.Getpagesize())); err == io.EOF {
			continue // bbolt says what is wrong with a file that is as short as that
		} else if err != nil {
			return err
		}
		sum := fnv.New64a()
		sum.Write(b[16:72])
		number := binary.NativeEndian.Uint64
		if txid := number(b[64:]); number(b[72:]) == sum.Sum64() && txid >= newest {
			newest, needs = txid, number(b[56:])*uint64(binary.NativeEndian.Uint32(b[24:]))
		}
	}
	info, err := f.Stat() // after the pages were read
	if err == nil && uint64(info.Size()) < needs {
		err = &LostError{fmt.Errorf("the database was cut short, to %d bytes of %d: was the disk full while it was copied? Restore the whole data folder again, with more room; or if other coordinators run, remove this one there and add one under a new name", info.Size(), needs)}
	}
	return err
}

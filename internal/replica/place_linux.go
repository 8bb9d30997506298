package replica

import "golang.org/x/sys/unix"

// place returns what tells a file from its copies, nil if the file system does not say when it was
// made.
func place(path string) []byte {
	var s unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &s) != nil || s.Mask&unix.STATX_BTIME == 0 {
		return nil
	}
	return placeOf(s.Ino, s.Btime.Sec, s.Btime.Nsec)
}

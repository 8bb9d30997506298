package memory

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Free returns how many bytes this process may still take before the machine swaps or its control
// group's limit ends it, and false if that is not known. The system's file cache counts as free.
func Free() (int64, bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	free, known := field(text, "MemAvailable:")
	free <<= 10
	group, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return free, known
	}
	// of version 2: the group and all above it
	if _, path, ok := strings.Cut(string(group), "0::"); ok {
		path, _, _ = strings.Cut(path, "\n")
		for {
			if left, ok := leftIn(filepath.Join("/sys/fs/cgroup", path)); ok && (!known || left < free) {
				free, known = left, true
			}
			if path == "/" || path == "." || path == "" {
				break
			}
			path = filepath.Dir(path)
		}
	}
	return free, known
}

// leftIn returns what a control group's limit leaves; false if it has no limit.
func leftIn(dir string) (int64, bool) {
	number := func(name string) (int64, bool) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return 0, false
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64) // "max" is no number
		return n, err == nil
	}
	most, limited := number("memory.max")
	used, known := number("memory.current")
	if !limited || !known {
		return 0, false
	}
	if stat, err := os.ReadFile(filepath.Join(dir, "memory.stat")); err == nil {
		for _, files := range []string{"inactive_file ", "active_file "} { // a file read twice is active
			n, _ := field(stat, files)
			used -= n
		}
	}
	return max(0, most-used), true
}

// field returns the number after a name at the beginning of a line.
func field(text []byte, name string) (int64, bool) {
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if words := strings.Fields(rest); len(words) > 0 {
				n, err := strconv.ParseInt(words[0], 10, 64)
				return n, err == nil
			}
		}
	}
	return 0, false
}

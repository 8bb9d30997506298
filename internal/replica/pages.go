package replica

import (
	"path/filepath"
	"sync"
)

// restAfter is how many bytes are written to the log, or read of it, before the pages that its
// file has in memory are given back.
const restAfter = 1 << 20

// pages are those of the log's file, which bbolt maps: as an entry is written, its neighbors are
// read. The zero pages are of no file.
type pages struct {
	path string // absolute, without links; empty for none

	// held as the file is written, since that can map it anew. Nobody waits for time meanwhile.
	mu   sync.Mutex
	used int
	last [4]int // bytes of entries: about as many are read as a next one is written
	at   int
}

// plain returns the path of a file as the system has it; empty if it cannot be told.
func plain(path string) string {
	path, err := filepath.Abs(path)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return ""
	}
	return path
}

// write runs a write of so many bytes.
func (p *pages) write(bytes int, f func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := f()
	for _, n := range p.last {
		p.used += n
	}
	p.use(bytes)
	return err
}

// read notes a read of so many bytes. It waits for no write.
func (p *pages) read(bytes int) {
	if p.mu.TryLock() {
		defer p.mu.Unlock()
		p.use(bytes)
	}
}

// close runs the close of the file, if there is one. Nothing is given back from then on: what is at
// the file's old addresses is not its own.
func (p *pages) close(f func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.path = ""
	if f == nil {
		return nil
	}
	return f()
}

func (p *pages) use(bytes int) {
	p.last[p.at%len(p.last)] = bytes
	p.at++
	if p.used += bytes; p.used > restAfter && p.path != "" {
		p.used = 0
		rest(p.path)
	}
}

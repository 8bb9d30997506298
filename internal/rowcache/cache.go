package rowcache

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"covey/internal/dataset"
)

// Cache is a folder of data sets as a study reads them: parsed, offset, scaled, in rows. It
// holds rows in the clear, in files that only this process's user may read (0400 in a folder
// of 0700).
//
// A file's name is RECIPE.PIN.OWNER.rows: what was asked of the source, the source's pin,
// and for whom it is kept. Another owner of the same rows is another link to the
// same file. A file appears under its name whole and on disk, or not at all; a crash
// leaves a temporary one, which the next Open removes.
type Cache struct {
	dir  string
	root *os.Root
}

const (
	temporary = ".tmp"
	suffix    = ".rows"
)

// Open makes the folder and removes what a crash left half written. One process at a
// time may have it open, which is the caller's to see to. Every error is an [*dataset.Error].
func Open(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, dataset.Unreadable(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, dataset.Unreadable(dir, err)
	}
	c := &Cache{dir, root}
	names, err := c.names()
	for _, name := range names {
		if strings.HasSuffix(name, temporary) && err == nil {
			err = c.remove(name)
		}
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return c, nil
}

// Close releases the folder. Rows that were loaded stay.
func (c *Cache) Close() error { return c.root.Close() }

func (c *Cache) names() ([]string, error) {
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return nil, dataset.Unreadable(c.dir, err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (c *Cache) remove(name string) error {
	if err := c.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return dataset.Unreadable(filepath.Join(c.dir, name), err)
	}
	return nil
}

// cached is a file's name, taken apart.
type cached struct{ recipe, pin, owner string }

func (n cached) String() string { return n.recipe + "." + n.pin + "." + n.owner + suffix }

func parseName(name string) (cached, bool) {
	body, ok := strings.CutSuffix(name, suffix)
	parts := strings.Split(body, ".")
	if !ok || len(parts) != 3 {
		return cached{}, false
	}
	return cached{parts[0], parts[1], parts[2]}, true
}

// short names 32 bytes in a file's name; the header holds all of them.
func short(sum [32]byte) string { return hex.EncodeToString(sum[:16]) }

// Load returns a source's rows from a cache file, which it makes first if there is none. owner
// is a word of letters, digits and dashes.
//
// The source's bytes are hashed each time, so a changed file is another data set whatever
// its times say. The checksums of the cache file are left to [Stored.Verify]. Every
// error is an [*dataset.Error]; of a file that was damaged, nothing is given and it is made again.
// A query is asked each time ([Cache.Find] does not).
func (c *Cache) Load(s dataset.Source, q dataset.Request, owner string, o dataset.ReadOptions) (*Stored, error) {
	recipe := s.Recipe(q)
	names, err := c.names()
	if err != nil {
		return nil, err
	}
	if s.Query != nil {
		return c.make(s, q, recipe, owner, o)
	}
	// Without a file of this recipe there is nothing that the pin could be of.
	for _, name := range names {
		if n, ok := parseName(name); ok && n.recipe == short(recipe) {
			sha, err := s.Pin(o)
			if err != nil {
				return nil, err
			}
			if stored := c.find(names, recipe, sha, owner); stored != nil {
				return stored, nil
			}
			break
		}
	}
	return c.make(s, q, recipe, owner, o)
}

// Find returns the owner's rows whose pin accept wants, without a look at the source; nil if there
// are none, or none that are whole.
func (c *Cache) Find(s dataset.Source, q dataset.Request, owner string, accept func(pin [32]byte) bool) *Stored {
	names, err := c.names()
	if err != nil {
		return nil
	}
	recipe := s.Recipe(q)
	for _, name := range names {
		n, ok := parseName(name)
		if !ok || n.owner != owner || n.recipe != short(recipe) {
			continue
		}
		stored, err := openNamed(filepath.Join(c.dir, name))
		if err != nil {
			continue
		}
		if stored.head.recipe == recipe && accept(stored.SHA256) {
			return stored
		}
		stored.Close()
	}
	return nil
}

// find opens the owner's file or links another's; nil if there is none that is whole.
func (c *Cache) find(names []string, recipe, sha [32]byte, owner string) *Stored {
	want := cached{short(recipe), short(sha), owner}
	for _, own := range []bool{true, false} {
		for _, name := range names {
			n, ok := parseName(name)
			if !ok || n.recipe != want.recipe || n.pin != want.pin || (n.owner == owner) != own {
				continue
			}
			if !own {
				// Where links cannot be made, rows are converted again.
				if err := c.root.Link(name, want.String()); err != nil {
					continue
				}
			}
			stored, err := openStored(filepath.Join(c.dir, want.String()), recipe, sha)
			if err == nil {
				return stored
			}
			c.remove(want.String()) // made again under this name, or the error shows there
		}
	}
	return nil
}

func (c *Cache) make(s dataset.Source, q dataset.Request, recipe [32]byte, owner string, o dataset.ReadOptions) (*Stored, error) {
	d, sha, err := c.convert(s, q, o)
	if err != nil {
		return nil, err
	}
	name := cached{short(recipe), short(sha), owner}.String()
	if err := c.root.Rename(d.name, name); err != nil {
		return nil, errors.Join(d.unwritable(err), d.abandon())
	}
	if err := errors.Join(d.file.Close(), c.sync()); err != nil {
		return nil, d.unwritable(err)
	}
	if err := c.stale(owner, short(sha)); err != nil {
		return nil, err
	}
	return openStored(filepath.Join(c.dir, name), recipe, sha)
}

// stale removes an owner's files of other pins: what their sources held once.
func (c *Cache) stale(owner, pin string) error {
	names, err := c.names()
	for _, name := range names {
		if n, ok := parseName(name); ok && n.owner == owner && n.pin != pin && err == nil {
			err = c.remove(name)
		}
	}
	return err
}

// sync puts names on disk.
func (c *Cache) sync() error {
	dir, err := c.root.Open(".")
	if err != nil {
		return err
	}
	err = dir.Sync()
	return errors.Join(err, dir.Close())
}

// Discard closes rows and removes their file, which the next Load makes again.
func (c *Cache) Discard(s *Stored) error {
	return errors.Join(s.Close(), c.remove(filepath.Base(s.path)))
}

// Drop removes an owner's files. Rows that are open stay readable until they are closed.
func (c *Cache) Drop(owner string) error {
	return c.Retain(func(o string) bool { return o != owner })
}

// Retain removes the files of all owners that keep does not want, and whatever in the folder
// is no file of a cache.
func (c *Cache) Retain(keep func(owner string) bool) error {
	names, err := c.names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if n, ok := parseName(name); ok && keep(n.owner) {
			continue
		}
		if strings.HasSuffix(name, temporary) {
			continue // being written
		}
		if err := c.remove(name); err != nil {
			return err
		}
	}
	return nil
}

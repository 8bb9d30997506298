package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// cutDisk is a ledger's log and keys on a disk that a power cut leaves with what was fsynced and
// any of the pages written since.
type cutDisk struct {
	t     *testing.T
	r     *rand.Rand
	dir   string
	files map[string]*cutFile
	armed bool   // the power is cut at one of the next fsyncs
	left  string // what the cut left; "" before it
}

type cutFile struct {
	*os.File
	disk    *cutDisk
	durable []byte
	dirty   map[int64]bool // pages
	page    int64
}

func (d *cutDisk) file(page int64) func(*os.File) blockFile {
	return func(f *os.File) blockFile {
		b, err := os.ReadFile(f.Name())
		must(d.t, err)
		c := &cutFile{f, d, b, map[int64]bool{}, page}
		d.files[filepath.Base(f.Name())] = c
		return c
	}
}

func (f *cutFile) WriteAt(p []byte, at int64) (int, error) {
	for page := at / f.page; page*f.page < at+int64(len(p)); page++ {
		f.dirty[page] = true
	}
	return f.File.WriteAt(p, at)
}

func (f *cutFile) Sync() error {
	if f.disk.armed && f.disk.r.IntN(3) == 0 {
		f.disk.cut()
	}
	for page := range f.dirty {
		f.flush(&f.durable, page)
	}
	clear(f.dirty)
	if f.disk.armed && f.disk.r.IntN(6) == 0 {
		f.disk.cut()
	}
	return nil
}

// flush writes a page to an image of the disk.
func (f *cutFile) flush(image *[]byte, page int64) {
	b := make([]byte, f.page)
	n, _ := f.ReadAt(b, page*f.page)
	if grow := page*f.page + int64(n) - int64(len(*image)); grow > 0 {
		*image = append(*image, make([]byte, grow)...)
	}
	copy((*image)[page*f.page:], b[:n])
}

func (d *cutDisk) cut() {
	if d.left != "" {
		return
	}
	d.armed, d.left = false, crash(d.t, d.dir)
	for name, f := range d.files {
		image := bytes.Clone(f.durable)
		for page := range f.dirty {
			if d.r.IntN(2) == 0 {
				f.flush(&image, page)
			}
		}
		must(d.t, os.WriteFile(filepath.Join(d.left, name), image, 0o600))
	}
}

// TestPowerCuts: MUST: whatever pages a series of power cuts leaves, all that was returned is on
// record, with the same bytes.
func TestPowerCuts(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		cuts(t, seed)
	}
}

func cuts(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 7))
	d := &cutDisk{t: t, r: r, dir: filepath.Join(t.TempDir(), "l"), files: map[string]*cutFile{}}
	type told struct {
		upload, shares string
		signed, final  bool
	}
	const studies = 3
	acked, done, approved := map[[2]int]*told{}, [studies]bool{}, [studies]bool{}
	next := [studies]int{}
	at := func(s, q int) *told {
		k := [2]int{s, q}
		if acked[k] == nil {
			acked[k] = &told{}
		}
		return acked[k]
	}
	n := 0
	fresh := func() ([]byte, error) {
		n++
		return bytes.Repeat(fmt.Appendf(nil, "%d.", n), 1+r.IntN(3000)), nil
	}
	for life := range 12 {
		d.files, d.left = map[string]*cutFile{}, ""
		d.armed = life > 0 && r.IntN(3) == 0 // also while it opens
		l, err := open(d.dir, hooks{keysFile: d.file(32), logFile: d.file(logPage)})
		if err != nil {
			t.Fatalf("seed %d, life %d: %v", seed, life, err)
		}
		l.db.NoSync = true
		for s := range studies {
			j := l.Journal(study(byte(s)))
			e, _ := l.Study(study(byte(s)))
			if approved[s] && e.State != Approved && e.State != Finished || done[s] && e.State != Finished {
				t.Fatalf("seed %d, life %d: study %d is %v", seed, life, s, e.State)
			}
			spent := 0
			for k, a := range acked {
				if k[0] != s {
					continue
				}
				q := k[1]
				if _, on, _ := j.UploadedIn(q); a.upload != "" && !on {
					t.Fatalf("seed %d, life %d: upload %v is lost", seed, life, k)
				}
				if a.upload != "" {
					spent++
				}
				if _, on := j.Signed(q); a.signed && !on {
					t.Fatalf("seed %d, life %d: signature %v is lost", seed, life, k)
				}
				if _, on, _ := j.SharedIn(q, q); a.shares != "" && !on {
					t.Fatalf("seed %d, life %d: shares %v are lost", seed, life, k)
				}
				if _, on := j.FinalResult(q); a.final && !on {
					t.Fatalf("seed %d, life %d: result %v is lost", seed, life, k)
				}
				if _, err := j.Slot(q); a.final && err != ErrErased && err != ErrAbsent {
					t.Fatalf("seed %d, life %d: secret %v after the result: %v", seed, life, k, err)
				}
			}
			if e.Queries < spent {
				t.Fatalf("seed %d, life %d: study %d: %d charged, %d uploads left", seed, life, s, e.Queries, spent)
			}
		}
		d.armed = d.left == "" && r.IntN(2) == 0
		ops := 1 + r.IntN(40)
		for range ops {
			if d.left != "" {
				break
			}
			s := r.IntN(studies)
			id := study(byte(s))
			j := l.Journal(id)
			ack := func(err error, fn func()) {
				if d.left == "" && err == nil {
					fn()
				}
				_, failed := errors.AsType[*StoreError](err)
				_, lost := errors.AsType[*LostError](err)
				if failed || lost {
					t.Fatalf("seed %d, life %d: %v", seed, life, err)
				}
			}
			q := max(0, next[s]-r.IntN(3))
			ctx := context("c")
			switch r.IntN(11) {
			case 0:
				a := approval(byte(s), 1000)
				a.CapRho = 1e6
				ack(l.Approve(a), func() { approved[s] = true })
				slots := map[int][]byte{}
				for k := range 60 {
					slots[k] = []byte("secret")
				}
				if d.left == "" && r.IntN(2) == 0 {
					ack(j.PutSlots(slots), func() {})
				}
			case 1, 2, 3:
				both, shares := false, "" // of a new upload, with a signature and shares
				var with []Opening
				if r.IntN(2) == 0 {
					with = []Opening{{[]byte("U"), func() ([]byte, error) { both = true; return fresh() }, func() ([]byte, error) {
						v, err := fresh()
						shares = string(v)
						return v, err
					}}}
				}
				v, err := j.Upload(q, q, ctx, 1, fresh, with...)
				ack(err, func() {
					at(s, q).signed = at(s, q).signed || both
					if both {
						at(s, q).shares = shares
					}
					if a := at(s, q); a.upload != "" && a.upload != string(v) {
						t.Fatalf("seed %d: another upload", seed)
					} else {
						a.upload = string(v)
					}
					next[s] = max(next[s], q)
				})
			case 4:
				_, err := j.Sign(q, q, ctx, []byte("U"), fresh)
				ack(err, func() { at(s, q).signed = true })
			case 5:
				v, err := j.OpenShares(q, q, ctx, []byte("U"), fresh)
				ack(err, func() {
					if a := at(s, q); a.shares != "" && a.shares != string(v) {
						t.Fatalf("seed %d: other shares", seed)
					} else {
						a.shares = string(v)
					}
				})
			case 6:
				if r.IntN(2) == 0 {
					err := j.FinalThenErase(q, q, []byte("z"))
					ack(err, func() {})
					if err == nil && d.left == "" && r.IntN(2) == 0 {
						ack(j.Erase(), func() { at(s, q).final = true; next[s] = q + 1 })
					}
				} else {
					ack(j.Final(q, q, []byte("z")), func() { at(s, q).final = true; next[s] = q + 1 })
				}
			case 7:
				_, err := j.PutAnnouncement([]byte("seeds"), []byte("v"))
				ack(err, func() {})
			case 8:
				_, err := j.Close([]byte("why"))
				ack(err, func() {})
				if err == nil && d.left == "" && r.IntN(2) == 0 {
					ack(j.Erase(), func() {})
				}
			case 9:
				err := l.update(of("test", id), func(tx *bbolt.Tx) error {
					return errors.Join(l.put(tx, []byte("t"), []byte("t"), metaBucket), errors.New("no"))
				})
				ack(err, func() {})
				entries, head := chainOf(byte(r.IntN(200)))
				l.ShownChain(entries, head)
				ack(l.KeepChain(), func() {})
			case 10:
				if r.IntN(8) == 0 {
					ack(l.Finish(id, "done"), func() { done[s] = true })
				}
			}
		}
		if d.left == "" {
			d.cut()
		}
		l.Close()
		d.dir = d.left
	}
}

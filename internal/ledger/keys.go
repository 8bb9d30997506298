package ledger

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"covey/internal/fsync"
)

const (
	keysName  = "keys"
	keySize   = 32
	keysMagic = "covey keys v1\n\x00\x00" // 16 bytes; the ledger's 16-byte id follows
)

// wrapKey seals one item. That of a slot's secret also seals the slot's upload and shares, that of
// a setup's announcement what else the setup leaves: they are erased with it. It is used for
// nothing else.
type wrapKey [keySize]byte

func (wrapKey) String() string               { return "[redacted]" }
func (wrapKey) GoString() string             { return "[redacted]" }
func (wrapKey) Format(f fmt.State, _ rune)   { io.WriteString(f, "[redacted]") }
func (wrapKey) LogValue() slog.Value         { return slog.StringValue("[redacted]") }
func (wrapKey) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// blockFile is what keyFile needs of *os.File.
type blockFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
}

// keyFile holds wrap key i at byte 32·(i+1), after a header of 32 bytes. A key
// is zero before it is first written and after it is erased; its place is
// never given to another item once the item is committed. Reads and writes of
// one key do not overlap: a torn key would look like a damaged item.
type keyFile struct {
	mu sync.RWMutex
	f  blockFile
}

// createKeys makes the key file of ledger id under dir, durably. The caller
// has committed the id to the database first, so that a key file without its
// database is always a loss and never a start that was cut short.
func createKeys(dir string, id [16]byte) error {
	return createFile(dir, keysName, append([]byte(keysMagic), id[:]...))
}

// createFile makes a file under dir, durably, in place of any other.
func createFile(dir, name string, content []byte) error {
	tmp := filepath.Join(dir, name+".new")
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
		return err
	}
	return fsync.Dir(dir)
}

// openKeys opens the key file of ledger id: another ledger's is a *LostError.
func openKeys(dir string, id [16]byte, wrap func(*os.File) blockFile) (*keyFile, error) {
	f, err := os.OpenFile(filepath.Join(dir, keysName), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, lostKeys("is missing")
	}
	if err != nil {
		return nil, err
	}
	var head [keySize]byte
	_, err = f.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return nil, errors.Join(err, f.Close())
	}
	if !bytes.Equal(head[:], append([]byte(keysMagic), id[:]...)) {
		return nil, errors.Join(lostKeys("is damaged or belongs to another ledger"), f.Close())
	}
	if err := f.Chmod(0o600); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if wrap == nil {
		return &keyFile{f: dataFile{f}}, nil
	}
	return &keyFile{f: wrap(f)}, nil
}

// lostKeys is a key file that is not what ledger.db needs; the budgets are in
// ledger.db.
func lostKeys(reason string) *LostError {
	return &LostError{File: keysName, Reason: reason, Budgets: true}
}

func (k *keyFile) offset(i uint64) int64 { return keySize * (1 + int64(i)) }

// put writes keys at places first, first+1, … and fsyncs once.
func (k *keyFile) put(first uint64, keys []wrapKey) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	buf := make([]byte, 0, keySize*len(keys))
	for i := range keys {
		buf = append(buf, keys[i][:]...)
	}
	defer clear(buf)
	if _, err := k.f.WriteAt(buf, k.offset(first)); err != nil {
		return err
	}
	return k.f.Sync()
}

// get reads key i. A zero key is ErrErased; a file too short to hold a key
// that an item was sealed under is a *LostError.
func (k *keyFile) get(i uint64) (wrapKey, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var key wrapKey
	n, err := k.f.ReadAt(key[:], k.offset(i))
	switch {
	case err == io.EOF && n < keySize:
		return wrapKey{}, lostKeys("is cut short")
	case err != nil && err != io.EOF:
		return wrapKey{}, &StoreError{Op: "read a key", Err: err}
	case key == wrapKey{}:
		return wrapKey{}, ErrErased
	}
	return key, nil
}

// zero overwrites the keys at the given places and fsyncs once. After it
// returns nil no item sealed under them can be read from these files.
func (k *keyFile) zero(places []uint64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var none wrapKey
	for _, i := range places {
		if _, err := k.f.WriteAt(none[:], k.offset(i)); err != nil {
			return err
		}
	}
	return k.f.Sync()
}

func (k *keyFile) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.f.Close()
}

func newKey() wrapKey {
	var k wrapKey
	rand.Read(k[:]) // never fails: crypto/rand ends the process instead
	return k
}

// seal appends value to b, encrypted under k; name binds the ciphertext to its place in the
// database, so that entries cannot be swapped.
func (k *wrapKey) seal(b, value, name []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	return aead.Seal(b, nil, value, name), nil
}

func (k *wrapKey) open(sealed, name []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, err
	}
	return aead.Open(nil, nil, sealed, name)
}

func (k *wrapKey) aead() (cipher.AEAD, error) {
	block, err := aes.NewCipher(k[:])
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

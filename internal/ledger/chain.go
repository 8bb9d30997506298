package ledger

import (
	"bytes"
	"encoding/binary"
	"encoding/json"

	"go.etcd.io/bbolt"

	"covey/internal/chain"
)

// The coordinator's chain as this site was shown it (internal/chain): in chainBucket each link by
// its number, 8 bytes, with the step that led to it behind it; in metaBucket under signedKey, as
// JSON, the head that was shown last, with its signature.
var (
	chainBucket = []byte("chain")
	signedKey   = []byte("chain-signed")
)

// ofChain is the study of what is written of the chain.
var ofChain [32]byte

// staged is what the next transaction keeps.
type staged struct {
	entries []chain.Entry
	head    chain.Signed
}

// ShownChain has the next transaction, whatever it is about, keep entries of the chain that were
// checked against those on record, and the signed head that they lead to: they cost no fsync of
// their own. KeepChain makes sure that they are kept.
func (l *Ledger) ShownChain(entries []chain.Entry, head chain.Signed) {
	l.shownMu.Lock()
	defer l.shownMu.Unlock()
	l.shown = &staged{entries, head}
}

// KeepChain returns once everything that ShownChain was told is on disk.
func (l *Ledger) KeepChain() error {
	l.shownMu.Lock()
	waits := l.shown != nil
	l.shownMu.Unlock()
	if !waits {
		return l.Err()
	}
	return l.update(of("chain", ofChain), func(*bbolt.Tx) error { return nil })
}

// putShown keeps what is staged, in a write transaction; done is to be called once it is on disk.
func (s *store) putShown(tx *bbolt.Tx) (done func(), err error) {
	s.shownMu.Lock()
	waits := s.shown
	s.shownMu.Unlock()
	if waits == nil {
		return func() {}, nil
	}
	signed, err := json.Marshal(waits.head)
	if err != nil {
		return nil, stored("wrote", err)
	}
	put := func(bucket, key, value []byte) error {
		if b := tx.Bucket(bucket); b != nil && bytes.Equal(b.Get(key), value) {
			return nil // what is on record costs nothing
		}
		return s.put(tx, key, value, bucket)
	}
	for _, e := range waits.entries {
		if err := put(chainBucket, chainKey(e.Number), append(bytes.Clone(e.Link[:]), e.Step[:]...)); err != nil {
			return nil, err
		}
	}
	if err := put(metaBucket, signedKey, signed); err != nil {
		return nil, err
	}
	return func() {
		s.shownMu.Lock()
		defer s.shownMu.Unlock()
		if s.shown == waits {
			s.shown = nil
		}
	}, nil
}

// PinChain forgets the chain but for one link, of the chain that is followed from now on: the
// operator's word. It returns once that is on disk.
func (l *Ledger) PinChain(h chain.Head) error {
	return l.update(of("chain", ofChain), func(tx *bbolt.Tx) error {
		l.shownMu.Lock()
		l.shown = nil // of the chain that is given up
		l.shownMu.Unlock()
		if err := first(
			func() error { return l.do(tx, change{op: opDrop, path: [][]byte{chainBucket}}) },
			func() error { return l.do(tx, change{op: opDelete, path: [][]byte{metaBucket}, key: signedKey}) },
		); err != nil || h.Number == 0 {
			return err
		}
		return l.put(tx, chainKey(h.Number), append(bytes.Clone(h.Link[:]), make([]byte, len(chain.Step{}))...), chainBucket)
	})
}

// Chain returns the kept chain.
func (l *Ledger) Chain() chain.Record { return chainRecord{l} }

type chainRecord struct{ l *Ledger }

func (r chainRecord) view(fn func(*bbolt.Bucket) error) error {
	return r.l.view(func(tx *bbolt.Tx) error {
		if b := tx.Bucket(chainBucket); b != nil {
			return fn(b)
		}
		return nil
	})
}

func (r chainRecord) Last() (last chain.Head, whole bool, err error) {
	whole = true
	err = r.view(func(b *bbolt.Bucket) error {
		cursor := b.Cursor()
		k, v := cursor.Last()
		if k == nil {
			return nil
		}
		e, err := decodeEntry(k, v)
		if err != nil {
			return err
		}
		// links that are not kept all come before those that are
		k, _ = cursor.First()
		last, whole = e.Head, bytes.Equal(k, chainKey(1))
		return nil
	})
	return last, whole, err
}

func (r chainRecord) At(number uint64) (e chain.Entry, ok bool, err error) {
	err = r.view(func(b *bbolt.Bucket) error {
		k := chainKey(number)
		v := b.Get(k)
		if v == nil {
			return nil
		}
		e, err = decodeEntry(k, v)
		ok = err == nil
		return err
	})
	return e, ok, err
}

// Has looks from the end: what is asked for is among the last.
func (r chainRecord) Has(step chain.Step) (ok bool, err error) {
	err = r.view(func(b *bbolt.Bucket) error {
		cursor := b.Cursor()
		for k, v := cursor.Last(); k != nil && !ok; k, v = cursor.Prev() {
			e, err := decodeEntry(k, v)
			if err != nil {
				return err
			}
			ok = e.Step == step
		}
		return nil
	})
	return ok, err
}

// SignedHead returns the last head that was kept with its signature; false if there is none.
func (l *Ledger) SignedHead() (h chain.Signed, ok bool, err error) {
	err = l.view(func(tx *bbolt.Tx) error {
		v := tx.Bucket(metaBucket).Get(signedKey)
		if v == nil {
			return nil
		}
		if json.Unmarshal(v, &h) != nil {
			return errDamaged
		}
		ok = true
		return nil
	})
	return h, ok, err
}

func chainKey(number uint64) []byte { return binary.BigEndian.AppendUint64(nil, number) }

func decodeEntry(k, v []byte) (e chain.Entry, err error) {
	if len(k) != 8 || len(v) != len(e.Link)+len(e.Step) {
		return e, errDamaged
	}
	e.Number = binary.BigEndian.Uint64(k)
	e.Link, e.Step = chain.Link(v[:len(e.Link)]), chain.Step(v[len(e.Link):])
	return e, nil
}

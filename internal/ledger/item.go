package ledger

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"

	"go.etcd.io/bbolt"
)

// Buckets inside a study's bucket. The first four hold items: secrets sealed
// under wrap keys of their own.
var (
	setupBucket  = []byte("setup")       // kind
	slotBucket   = []byte("slot")        // slot
	uploadBytes  = []byte("upload-item") // slot
	shareBytes   = []byte("share-item")  // query
	uploadBucket = []byte("upload")      // slot  -> uploadRecord
	shareBucket  = []byte("share")       // query -> Signed, no signature
	signedBucket = []byte("signed")      // slot  -> Signed
	finalBucket  = []byte("final")       // query -> resultKey -> finalRecord
	chargeBucket = []byte("charge")      // query -> ρ, float64 bits
	entryKey     = []byte("entry")       // -> entry
	proposalKey  = []byte("proposal")    // -> the approved proposal's bytes, zipped
	configKey    = []byte("config")      // -> Approval.Config
	progressKey  = []byte("progress")    // -> progress
	resultKey    = []byte("result")      // -> resultRecord
	itemBuckets  = [][]byte{setupBucket, slotBucket, uploadBytes, shareBytes}
	studyBuckets = [][]byte{setupBucket, slotBucket, uploadBytes, shareBytes, uploadBucket, shareBucket, signedBucket, finalBucket, chargeBucket}
	// internal: no record, and the rules allow one
	errNothing      = errors.New("ledger: nothing on record")
	itemErased byte = 0
	itemLive   byte = 1
)

// item is a sealed secret as stored: one byte itemLive, the place of its wrap
// key (8 bytes big endian), the ciphertext; or the one byte itemErased, which
// stays so that an erased secret cannot be stored anew.
type item struct {
	erased bool
	place  uint64
	sealed []byte
}

func (i item) encode() []byte {
	if i.erased {
		return []byte{itemErased}
	}
	return append(binary.BigEndian.AppendUint64([]byte{itemLive}, i.place), i.sealed...)
}

// decodeItem aliases b.
func decodeItem(b []byte) (item, error) {
	switch {
	case len(b) == 1 && b[0] == itemErased:
		return item{erased: true}, nil
	case len(b) >= 9 && b[0] == itemLive:
		return item{place: binary.BigEndian.Uint64(b[1:9]), sealed: b[9:]}, nil
	}
	return item{}, errDamaged
}

var errDamaged = &LostError{File: dbName, Reason: "is damaged"}

// record is one study inside one transaction.
type record struct {
	l  *Ledger
	id [32]byte
	tx *bbolt.Tx
	b  *bbolt.Bucket // nil in a view of an unknown study
}

func (l *Ledger) record(tx *bbolt.Tx, id [32]byte) *record {
	return &record{l: l, id: id, tx: tx, b: tx.Bucket(studiesBucket).Bucket(id[:])}
}

// create makes the study's buckets, in a write transaction.
func (r *record) create() error {
	for _, name := range studyBuckets {
		if err := r.l.do(r.tx, change{op: opMake, path: [][]byte{studiesBucket, r.id[:], name}}); err != nil {
			return err
		}
	}
	r.b = r.tx.Bucket(studiesBucket).Bucket(r.id[:])
	return nil
}

// get returns the raw value in one of the study's buckets, nil if absent. It
// aliases the transaction's memory.
func (r *record) get(bucket, key []byte) []byte { return r.in(key, bucket) }

// in is get where a path of buckets leads to.
func (r *record) in(key []byte, path ...[]byte) []byte {
	b := r.b
	for _, name := range path {
		if b == nil {
			return nil
		}
		b = b.Bucket(name)
	}
	if b == nil {
		return nil
	}
	v := b.Get(key)
	r.l.read += len(v)
	return v
}

// put sets a key in one of the study's buckets, or of the study itself where bucket is nil.
func (r *record) put(bucket, key, value []byte) error {
	path := [][]byte{studiesBucket, r.id[:]}
	if bucket != nil {
		path = append(path, bucket)
	}
	return r.l.put(r.tx, key, value, path...)
}

// load decodes the JSON value under key; false if there is none.
func (r *record) load(bucket, key []byte, into any) (bool, error) {
	var v []byte
	if bucket != nil {
		v = r.get(bucket, key)
	} else if r.b != nil {
		v = r.b.Get(key)
	}
	if v == nil {
		return false, nil
	}
	if json.Unmarshal(v, into) != nil {
		return false, errDamaged
	}
	return true, nil
}

func (r *record) save(bucket, key []byte, value any) error {
	v, err := json.Marshal(value)
	if err != nil {
		return &FieldError{Field: string(key), Reason: "cannot be stored: " + err.Error()}
	}
	return r.put(bucket, key, v)
}

// name is what an item's ciphertext is bound to.
func (r *record) name(bucket, key []byte) []byte {
	return bytes.Join([][]byte{[]byte(format), r.id[:], bucket, key}, []byte{'/'})
}

// secret opens the item under key: ErrAbsent, ErrErased, or a *LostError if it
// does not open under its key (one of the two files is not of this time).
func (r *record) secret(bucket, key []byte) ([]byte, error) {
	v := r.get(bucket, key)
	if v == nil {
		return nil, ErrAbsent
	}
	it, err := decodeItem(v)
	if err != nil {
		return nil, err
	}
	if it.erased {
		return nil, ErrErased
	}
	k, err := r.l.keys.get(it.place)
	if err != nil {
		return nil, err
	}
	defer clear(k[:])
	value, err := k.open(it.sealed, r.name(bucket, key))
	if err != nil {
		return nil, lostKeys("does not fit " + dbName)
	}
	if value == nil {
		value = []byte{}
	}
	return value, nil
}

// keep seals the values under fresh keys and stores them. The keys are fsynced
// before the transaction can commit: a committed item can always be opened,
// and a crash in between leaves keys that the next items overwrite.
func (r *record) keep(bucket []byte, keys, values [][]byte) error {
	first, err := r.l.newPlaces(r.tx, len(keys))
	if err != nil {
		return err
	}
	wraps := make([]wrapKey, len(keys))
	defer clear(wraps)
	for i := range wraps {
		wraps[i] = newKey()
	}
	if err := r.l.keys.put(first, wraps); err != nil {
		return stored("wrote the key file", err)
	}
	for i, key := range keys {
		sealed, err := wraps[i].seal(item{place: first + uint64(i)}.encode(), values[i], r.name(bucket, key))
		if err != nil {
			return stored("sealed a secret", err)
		}
		if err := r.put(bucket, key, sealed); err != nil {
			return err
		}
	}
	return nil
}

// keepWith seals a value under the key of another item, with which it is erased: no key is made,
// and none fsynced. ErrAbsent or ErrErased if there is no such item.
func (r *record) keepWith(other spot, bucket, key, value []byte) error {
	v := r.get(other.bucket, other.key)
	if v == nil {
		return ErrAbsent
	}
	it, err := decodeItem(v)
	if err != nil {
		return err
	}
	if it.erased {
		return ErrErased
	}
	k, err := r.l.keys.get(it.place)
	if err != nil {
		return err
	}
	defer clear(k[:])
	sealed, err := k.seal(item{place: it.place}.encode(), value, r.name(bucket, key))
	if err != nil {
		return stored("sealed a secret", err)
	}
	return r.put(bucket, key, sealed)
}

// spot is where an item is stored.
type spot struct{ bucket, key []byte }

// live lists the items of bucket that are not erased and that pick accepts.
func (r *record) live(bucket []byte, pick func(key []byte) (bool, error)) ([]spot, error) {
	var spots []spot
	b := r.b.Bucket(bucket)
	if b == nil {
		return nil, errDamaged
	}
	err := b.ForEach(func(key, v []byte) error {
		it, err := decodeItem(v)
		if err != nil || it.erased {
			return err
		}
		ok, err := pick(key)
		if ok {
			spots = append(spots, spot{bucket, bytes.Clone(key)})
		}
		return err
	})
	return spots, err
}

// erase zeroes the items' keys, fsyncs, then replaces the items by tombstones.
// A crash in between leaves items under zero keys, which read as ErrErased. What
// says that they go is durable before they go.
func (r *record) erase(spots []spot) error {
	var places []uint64
	for _, s := range spots {
		it, err := decodeItem(r.get(s.bucket, s.key))
		if err != nil {
			return err
		}
		if !it.erased && !slices.Contains(places, it.place) {
			places = append(places, it.place)
		}
	}
	if len(places) == 0 {
		return nil
	}
	if err := r.l.settle(); err != nil {
		return err
	}
	if err := r.l.keys.zero(places); err != nil {
		return stored("erased a key", err)
	}
	for _, s := range spots {
		if err := r.put(s.bucket, s.key, item{erased: true}.encode()); err != nil {
			return err
		}
	}
	return nil
}

// due lists the live items that the study's own records say must be gone: all of them once it is
// finished, those of slots up to the last final one before, and the setup's secrets once it is
// confirmed or closed. With check it reads the keys of all others: an item under a zeroed key was
// erased by a later ledger.db than this one, a *LostError.
func (r *record) due(check bool) ([]spot, error) {
	if r.b == nil {
		return nil, nil
	}
	e, ok, err := r.entry()
	if err != nil || !ok {
		return nil, err
	}
	p, err := r.progress()
	if err != nil {
		return nil, err
	}
	finished := e.State == Finished
	stays := func(bucket, key []byte) error {
		it, err := decodeItem(r.get(bucket, key))
		if err != nil {
			return err
		}
		k, err := r.l.keys.get(it.place)
		clear(k[:])
		if errors.Is(err, ErrErased) { // that an item goes is on record before it goes
			return olderThan(keysName)
		}
		return err
	}
	past := func(slot int) bool { return slot <= p.FinalSlot }
	var all []spot
	for _, bucket := range itemBuckets {
		spots, err := r.live(bucket, func(key []byte) (bool, error) {
			if finished {
				return true, nil
			}
			switch string(bucket) {
			case string(setupBucket):
				if string(key) == SetupSecrets && r.ended() {
					return true, nil
				}
			case string(slotBucket), string(uploadBytes):
				if slot, ok := number(key); !ok || past(slot) {
					return true, nil
				}
			case string(shareBytes):
				var s signedRecord
				if ok, err := r.load(shareBucket, key, &s); err != nil || !ok {
					return true, err
				}
				if past(s.Slot) {
					return true, nil
				}
			}
			if !check {
				return false, nil
			}
			return false, stays(bucket, key)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, spots...)
	}
	return all, nil
}

// finishErasures carries out what is due, for one study or, without arguments, as Open does, for
// all. Open alone looks at the keys of what stays: a study of many slots has as many at each query.
func (l *Ledger) finishErasures(studies ...[32]byte) error {
	type debt struct {
		id    [32]byte
		spots []spot
	}
	var pending []debt // what is due stays due
	opening := studies == nil
	err := l.view(func(tx *bbolt.Tx) error {
		if opening {
			err := tx.Bucket(studiesBucket).ForEachBucket(func(k []byte) error {
				if len(k) != 32 {
					return errDamaged
				}
				studies = append(studies, [32]byte(k))
				return nil
			})
			if err != nil {
				return err
			}
		}
		for _, id := range studies {
			spots, err := l.record(tx, id).due(opening)
			if err != nil {
				return err
			}
			if len(spots) > 0 {
				pending = append(pending, debt{id, spots})
			}
		}
		return nil
	})
	if err != nil || len(pending) == 0 {
		return err
	}
	// The keys are zeroed durably; Open puts the rest on record again if it is lost.
	return l.updateLater(of("erase", pending[0].id), func(tx *bbolt.Tx) error {
		for _, p := range pending {
			if err := l.record(tx, p.id).erase(p.spots); err != nil {
				return err
			}
		}
		return nil
	})
}

// index is the key of a slot or a query, number its inverse.
func index(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }

func number(key []byte) (int, bool) {
	if len(key) != 4 {
		return 0, false
	}
	n := binary.BigEndian.Uint32(key)
	return int(n), n <= maxIndex
}

const maxIndex = 1<<31 - 1

func checkIndex(field string, i int) error {
	if i < 0 || i > maxIndex {
		return &FieldError{Field: field, Reason: "is negative or too large"}
	}
	return nil
}

func checkPlace(query, slot int) error {
	return errors.Join(checkIndex("query", query), checkIndex("slot", slot))
}

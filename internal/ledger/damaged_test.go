package ledger

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"go.etcd.io/bbolt"
)

// TestDamagedChargeAllowsNone: a recorded charge that cannot be read does not count as 0. No other
// query of the study is charged, and neither is this one again.
func TestDamagedChargeAllowsNone(t *testing.T) {
	number := func(x float64) []byte { return binary.BigEndian.AppendUint64(nil, math.Float64bits(x)) }
	for name, damage := range map[string][]byte{"short": number(1.5)[:7], "long": append(number(1.5), 0), "empty": {},
		"negative": number(-1.5), "no number": number(math.NaN()), "infinite": number(math.Inf(1))} {
		l := mustOpen(t, t.TempDir())
		must(t, l.Approve(approval(1, 2)))
		must(t, l.Charge(study(1), 0, 1.5))
		must(t, l.update(of("test", study(1)), func(tx *bbolt.Tx) error {
			id := study(1)
			return tx.Bucket(studiesBucket).Bucket(id[:]).Bucket(chargeBucket).Put(index(0), damage)
		}))
		for _, query := range []int{0, 1} {
			if err := l.Charge(study(1), query, 1.5); !errors.Is(err, errDamaged) {
				t.Errorf("%s: query %d is charged: %v", name, query, err)
			}
			_, err := l.Journal(study(1)).Upload(query, query, [32]byte{1}, 1.5, func() ([]byte, error) {
				t.Errorf("%s: an upload of query %d is made", name, query)
				return []byte("masked"), nil
			})
			if !errors.Is(err, errDamaged) {
				t.Errorf("%s: query %d: %v", name, query, err)
			}
		}
		must(t, l.Close())
	}
}

// TestDamagedResultOpensNothing: a query whose result is stored otherwise than results are is not
// taken for one that has none, of which another sum could be made on the same charge.
func TestDamagedResultOpensNothing(t *testing.T) {
	for name, put := range map[string]func(*bbolt.Bucket) error{
		"a value in a result's place": func(b *bbolt.Bucket) error { return b.Put(index(0), append(index(0), "result"...)) },
		"a slot that is cut": func(b *bbolt.Bucket) error {
			of, err := b.CreateBucketIfNotExists(index(0))
			if err != nil {
				return err
			}
			return of.Put(resultKey, index(0)[:3])
		},
	} {
		l := mustOpen(t, t.TempDir())
		must(t, l.Approve(approval(1, 2)))
		must(t, l.update(of("test", study(1)), func(tx *bbolt.Tx) error {
			id := study(1)
			return put(tx.Bucket(studiesBucket).Bucket(id[:]).Bucket(finalBucket))
		}))
		j := l.Journal(study(1))
		if err := j.Final(0, 0, []byte("result")); !errors.Is(err, errDamaged) {
			t.Errorf("%s: a result: %v", name, err)
		}
		_, err := j.Upload(0, 1, [32]byte{1}, 1.5, func() ([]byte, error) {
			t.Errorf("%s: an upload is made", name)
			return []byte("masked"), nil
		})
		if !errors.Is(err, errDamaged) {
			t.Errorf("%s: an upload: %v", name, err)
		}
		if got, ok := j.FinalResult(0); ok {
			t.Errorf("%s: %q is the result", name, got)
		}
		must(t, l.Close())
	}
}

//go:build !linux

package ledger

import "go.etcd.io/bbolt"

// mapped leaves it to bbolt how much of ledger.db it maps.
const mapped = 0

// rest does nothing here.
func rest(*bbolt.Tx) {}

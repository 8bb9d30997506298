package ledger

import (
	"testing"

	"covey/test/disk"
)

// TestBegunOnAFullDisk: a first start that a full disk ends, wherever, is done again by the next
// one: nothing was ever in this ledger.
func TestBegunOnAFullDisk(t *testing.T) {
	disk.Full[*StoreError](t, Open, func(l *Ledger) error { return l.Approve(approval(1, 1)) })
}

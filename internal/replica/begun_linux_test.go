package replica

import (
	"testing"

	"covey/test/disk"
)

// TestBegunOnAFullDisk: a first start that a full disk ends, wherever, is done again by the next
// one: nothing was ever in this log.
func TestBegunOnAFullDisk(t *testing.T) {
	begin := func(dir string) (*Node, error) { return Open(dir, &list{}, Options{}) }
	disk.Full[*StoreError](t, begin, func(n *Node) error {
		apply(t, n, "entry")
		return nil
	})
}

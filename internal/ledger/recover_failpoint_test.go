//go:build failpoint

package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"covey/internal/failpoint"
)

// TestRecoverCutShort fails each write of Recover and of Restore, before and after it
// is durable. What is left is refused by Open and taken by another try, or whole.
func TestRecoverCutShort(t *testing.T) {
	defer failpoint.Set(nil)
	harm := map[string]func(dir string) error{
		"recover": func(dir string) error { return os.Remove(filepath.Join(dir, keysName)) },
		"restore": func(dir string) error { return os.Remove(filepath.Join(dir, dbName)) },
	}
	for what, harm := range harm {
		for _, point := range []string{what, "made"} {
			for _, phase := range []failpoint.Phase{failpoint.Before, failpoint.After} {
				t.Run(strings.Join([]string{what, point, string(phase)}, " "), func(t *testing.T) {
					dir, _ := used(t)
					l := mustOpen(t, dir)
					populations, studies := l.Populations(), l.Studies()
					must(t, l.Close())
					do := func() error {
						if what == "restore" {
							return Restore(dir, populations, studies)
						}
						_, err := Recover(dir, nil)
						return err
					}
					must(t, harm(dir))
					hit := false
					failpoint.Set(func(e failpoint.Event) error {
						if e.Point != failpoint.LedgerPrefix+point || e.Phase != phase || e.Owner != dir {
							return nil
						}
						hit = true
						return syscall.EIO
					})
					if err := do(); !errors.Is(err, syscall.EIO) || !hit {
						t.Fatalf("%v, want an I/O error", err)
					}
					failpoint.Set(nil)
					l, err := Open(dir)
					if err != nil {
						mustBe[*LostError](t, err)
						must(t, do())
						l = mustOpen(t, dir)
					}
					defer l.Close()
					if p := l.Populations(); len(p) != 1 || p[0].SpentRho != 3.5 || p[0].ReservedRho != 0 {
						t.Errorf("populations %+v, want 3.5 spent", p)
					}
				})
			}
		}
	}
}

func mustBe[E error](t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[E](err); !ok {
		t.Fatalf("%T %v", err, err)
	}
}

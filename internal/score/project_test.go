package score

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"covey/internal/dataset"
	"covey/internal/siteconfig"
)

// failing is a disk that is full.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}
func (f *failing) Seek(int64, int) (int64, error) { return 0, nil }

// TestFullDisk: a failing write ends the projection with its error, and all its goroutines.
func TestFullDisk(t *testing.T) {
	r, p := sample(t, 3, 2, nil)
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]string, 100_000)
	for i := range rows {
		rows[i] = []string{"1", "2", "3"}
	}
	s := write(t, r.Columns, rows)
	for _, format := range []Format{CSV, NPY, Parquet} {
		synctest.Test(t, func(t *testing.T) { // fails where a goroutine is left
			if _, err := Project(m, s, siteconfig.Dataset{}.Request(p.Proposal.Spec), &failing{1 << 16}, Options{Format: format}); err == nil || !strings.Contains(err.Error(), "no space") {
				t.Errorf("%s: %v", format, err)
			}
		})
	}
}

// TestCutShort: a data set that ends in the middle ends the projection with its error, and all its
// goroutines.
func TestCutShort(t *testing.T) {
	r, p := sample(t, 3, 2, nil)
	m, err := New(r, p)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]string, 100_000)
	for i := range rows {
		rows[i] = []string{"1", "2", "3"}
	}
	rows[len(rows)-1] = []string{"1", "2"}
	s := write(t, r.Columns, rows)
	for _, format := range []Format{CSV, NPY, Parquet} {
		synctest.Test(t, func(t *testing.T) { // fails where a goroutine is left
			var fault *dataset.Error
			if _, err := Project(m, s, siteconfig.Dataset{}.Request(p.Proposal.Spec), &failing{1 << 30}, Options{Format: format}); !errors.As(err, &fault) {
				t.Errorf("%s: %v", format, err)
			}
		})
	}
}

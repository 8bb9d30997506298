package dataset

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"covey/test/cost"
)

// benchCSV writes about size bytes of d columns.
func benchCSV(b testing.TB, size, d int, field func(r *rand.Rand) string) (path string, columns []Column) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for j := range d {
		if j > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "c%d", j)
		columns = append(columns, Column{fmt.Sprintf("c%d", j), 0.5, 2})
	}
	for text.Len() < size {
		text.WriteByte('\n')
		for j := range d {
			if j > 0 {
				text.WriteByte(',')
			}
			text.WriteString(field(r))
		}
	}
	path = filepath.Join(b.TempDir(), "bench.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return path, columns
}

// BenchmarkCSV reads numbers as Python and Julia write float64, and as instruments do, on one
// goroutine, the hash included.
//
//	go test ./internal/dataset -run '^$' -bench CSV -benchtime 5x
func BenchmarkCSV(b *testing.B) {
	for name, field := range map[string]func(r *rand.Rand) string{
		"17 digits": func(r *rand.Rand) string { return strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64) },
		"6 digits":  func(r *rand.Rand) string { return strconv.FormatFloat(100*r.Float64(), 'f', 4, 64) },
	} {
		path, columns := benchCSV(b, 32<<20, 64, field)
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			cost.PerCore(b, info.Size(), func() {
				if _, err := ReadCSV(path, columns, "", MissingError); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

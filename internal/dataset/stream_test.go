package dataset

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestStreamIsRead: a stream's rows are those that Read returns, with their units, gaps and dropped
// rows, over many blocks.
func TestStreamIsRead(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,a,b,c\n")
	for i := range 20_000 {
		cell := func(j int) string {
			switch (i*7 + j*13) % 101 {
			case 0:
				return "NA"
			case 1:
				return "oops"
			}
			return strconv.Itoa(i*3 + j)
		}
		text.WriteString("p" + strconv.Itoa(i/3) + "," + cell(0) + "," + cell(1) + "," + cell(2) + "\n")
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Source{Path: path}
	for _, missing := range []Missing{MissingDropFaulty, MissingGaps} {
		for _, precision := range []Precision{Float64, Float32} {
			q := Request{Columns: []Column{{"a", 5, 3}, {"b", 0, 1}, {"c", 1, 7}}, Unit: "id", Missing: missing, Precision: precision}
			want, err := Read(s, q, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var values []float64
			var gaps []byte
			var absent []int
			blocks, rows := 0, 0
			got, err := Stream(s, q, ReadOptions{}, func(b Block) error {
				n := len(b.Values) / 3
				if b.First != rows || len(b.Units) != n {
					t.Fatalf("a block of %d rows begins at %d with %d units, want %d", n, b.First, len(b.Units), rows)
				}
				for i, u := range b.Units {
					if u != "p"+strconv.Itoa((rows+i)/3) {
						t.Fatalf("row %d is of %s", rows+i, u)
					}
				}
				for _, i := range b.Absent {
					absent = append(absent, rows+i)
				}
				if b.Gaps == nil {
					b.Gaps = make([]byte, n)
				}
				blocks, rows, values, gaps = blocks+1, rows+n, append(values, b.Values...), append(gaps, b.Gaps...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if precision == Float32 {
				for _, v := range want.Values32 {
					want.Values = append(want.Values, float64(v))
				}
			}
			if blocks < 2 || !slices.Equal(values, want.Values) || !slices.Equal(absent, want.Absent) || want.Gaps != nil && !slices.Equal(gaps, want.Gaps) {
				t.Errorf("%v %v: %d blocks hold other rows than Read returns", missing, precision, blocks)
			}
			if got.Rows != want.Rows || got.Dropped != want.Dropped || got.Faulty != want.Faulty || got.SHA256 != want.SHA256 {
				t.Errorf("%v %v: %+v, want %+v", missing, precision, got, want)
			}
		}
	}
	enough := errors.New("enough")
	if _, err := Stream(s, Request{Columns: []Column{{"id", 0, 1}}, Missing: MissingDropFaulty}, ReadOptions{}, func(Block) error { return enough }); err != enough {
		t.Errorf("%v, want visit's error", err)
	}
}

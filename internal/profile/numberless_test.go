package profile

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"covey/internal/dataset"
)

// TestWhyNoNumbers: where no study asks for columns, a profile says of which no number can be read,
// and why. A file whose compression is not read would look like one of texts.
func TestWhyNoNumbers(t *testing.T) {
	type row struct {
		Age float64 `parquet:"age"`
		Sex string  `parquet:"sex"`
		Won bool    `parquet:"won"`
	}
	for name, c := range map[string]struct {
		options []parquet.WriterOption
		want    []string
	}{
		"plain": {nil, []string{"no number can be read of sex: its type is not a number, but text;", "no number can be read of won: its type is not a number, but a boolean;"}},
		"lz4":   {[]parquet.WriterOption{parquet.Compression(&parquet.Lz4Raw)}, []string{"no number can be read of age, sex, won: is compressed with LZ4"}},
	} {
		dir := t.TempDir()
		if err := parquet.WriteFile(filepath.Join(dir, "t.parquet"), []row{{40, "F", true}, {41, "M", false}}, c.options...); err != nil {
			t.Fatal(err)
		}
		config, d := site(t, dir, "t.parquet", "", "")
		r, err := Of(config, d, nil, dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := looks(r, AboutType)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q lacks %q", name, got, want)
			}
		}
	}
}

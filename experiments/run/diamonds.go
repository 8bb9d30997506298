package run

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// diamondsFile is the demo's data (cmd/coordinator/diamonds/NOTICE.md).
const diamondsFile = "cmd/coordinator/diamonds/diamonds.csv.gz"

// diamondColumns are the demo's, with its public offset and scale.
var diamondColumns = []struct {
	name          string
	offset, scale float64
}{{"carat", 0.8, 0.5}, {"depth", 62, 1.5}, {"table", 57, 2.2}, {"price", 4000, 4000}, {"x", 5.7, 1.1}, {"y", 5.7, 1.1}, {"z", 3.5, 0.7}}

// Diamonds returns the 53,940 rows in the demo's scaled columns, less their public offsets or as
// they are; the components of their second moment are looked for. The rows do not depend on a seed,
// a study's noise does.
func Diamonds(name string, offset bool) (*Data, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(root, diamondsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	d := len(diamondColumns)
	var values []float64
	for i, row := range rows[1:] {
		for _, c := range diamondColumns {
			v, err := strconv.ParseFloat(row[at[c.name]], 64)
			if err != nil {
				return nil, fmt.Errorf("diamonds: row %d, column %s: not a number", i+1, c.name)
			}
			if offset {
				v -= c.offset
			}
			values = append(values, v/c.scale)
		}
	}
	return newData(name, d, values, nil)
}

// Root returns the repository's folder, from anywhere inside the experiments' module.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Dir(dir), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("run: not inside the module of the experiments")
		}
	}
}

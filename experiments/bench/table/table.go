// Package table writes files of rows for benchmarks.
package table

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// Parquet's rows are written so many at a time; so many times make a group of rows.
const (
	blockRows   = 1000
	groupBlocks = 8
)

// Write writes n rows of d columns c0, c1, … to a new file, as its name ends: .csv, .npy or
// .parquet. next fills in one row after another; numbers read back to the same bits.
func Write(path string, n, d int, next func(row []float64)) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	switch format := filepath.Ext(path); format {
	case ".csv":
		csv(w, n, d, next)
	case ".npy":
		npy(w, n, d, next)
	case ".parquet":
		err = writeParquet(w, n, d, next)
	default:
		err = fmt.Errorf("table: no format %q", format)
	}
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func csv(w *bufio.Writer, n, d int, next func([]float64)) {
	var line []byte
	for j := range d {
		line = fmt.Appendf(line, "c%d,", j)
	}
	line[len(line)-1] = '\n'
	w.Write(line)
	row := make([]float64, d)
	for range n {
		next(row)
		line = line[:0]
		for _, v := range row {
			line = append(strconv.AppendFloat(line, v, 'f', -1, 64), ',')
		}
		line[len(line)-1] = '\n'
		w.Write(line)
	}
}

func npy(w *bufio.Writer, n, d int, next func([]float64)) {
	head := fmt.Sprintf("%-117s\n", fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", n, d))
	w.WriteString("\x93NUMPY\x01\x00")
	w.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(head))))
	w.WriteString(head)
	row := make([]float64, d)
	var line []byte
	for range n {
		next(row)
		line = line[:0]
		for _, v := range row {
			line = binary.LittleEndian.AppendUint64(line, math.Float64bits(v))
		}
		w.Write(line)
	}
}

func writeParquet(w *bufio.Writer, n, d int, next func([]float64)) error {
	group := parquet.Group{}
	place := make([]int, d) // of c0, c1, … among the schema's columns, which are in the order of names
	for j := range d {
		group[fmt.Sprintf("c%d", j)] = parquet.Leaf(parquet.DoubleType)
	}
	schema := parquet.NewSchema("rows", group)
	for at, path := range schema.Columns() {
		j, err := strconv.Atoi(path[0][1:])
		if err != nil {
			return err
		}
		place[j] = at
	}
	to := parquet.NewGenericWriter[any](w, schema)
	columns, row := make([][]parquet.Value, d), make([]float64, d)
	for written, blocks := 0, 1; written < n; blocks++ {
		for at := range columns {
			columns[at] = columns[at][:0]
		}
		for range min(n-written, blockRows) {
			next(row)
			for j, v := range row {
				columns[place[j]] = append(columns[place[j]], parquet.DoubleValue(v))
			}
			written++
		}
		for at, c := range to.ColumnWriters() {
			if _, err := c.WriteRowValues(columns[at]); err != nil {
				return err
			}
		}
		if blocks%groupBlocks > 0 {
			continue
		}
		for _, c := range to.ColumnWriters() {
			if err := c.Flush(); err != nil {
				return err
			}
		}
		if err := to.Flush(); err != nil {
			return err
		}
	}
	return to.Close()
}

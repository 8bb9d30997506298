package plain

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"

	"covey/internal/proposal"
)

// Columns returns d columns, named as those of an NPY matrix are.
func Columns(d int) []proposal.Column {
	columns := make([]proposal.Column, d)
	for j := range columns {
		columns[j] = proposal.Column{Name: "c" + strconv.Itoa(j), Scale: 1}
	}
	return columns
}

// numbers returns the values of seeded rows of d, in hundredths, one after another: Gaussian, with
// column j's variance proportional to 1/(j+1).
func numbers(d int) func() float64 {
	rng, at := rand.New(rand.NewPCG(1, 0x62656e6368)), 0
	root := make([]float64, d)
	for j := range root {
		root[j] = 100 / math.Sqrt(float64(j+1))
	}
	return func() float64 {
		v := math.Round(root[at%d]*rng.NormFloat64()) / 100
		at++
		return v
	}
}

// Values returns n seeded rows of d, one after another.
func Values(n, d int) []float64 {
	next, values := numbers(d), make([]float64, n*d)
	for i := range values {
		values[i] = next()
	}
	return values
}

// WriteRows writes the rows of Values as a CSV file, which reads back to the same bits.
func WriteRows(path string, n, d int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	for j := range d {
		if j > 0 {
			w.WriteByte(',')
		}
		fmt.Fprintf(w, "c%d", j)
	}
	w.WriteByte('\n')
	next := numbers(d)
	var b []byte
	for range n {
		b = b[:0]
		for j := range d {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, next(), 'f', -1, 64)
		}
		w.Write(append(b, '\n'))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// WriteNPY writes them as an NPY matrix, which agents read ten times as fast.
func WriteNPY(path string, n, d int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	head := fmt.Sprintf("%-117s\n", fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", n, d))
	w.WriteString("\x93NUMPY\x01\x00")
	w.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(head))))
	w.WriteString(head)
	next := numbers(d)
	var b []byte
	for range n * d {
		b = binary.LittleEndian.AppendUint64(b[:0], math.Float64bits(next()))
		w.Write(b)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

package score

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
)

// npySink writes one matrix of float64 in C order, of the numbers alone: row i is row i of the data
// set, NaN where it is left out. The number of rows is written into the head at the end.
type npySink struct {
	to    io.WriteSeeker
	width int
}

func newNPY(to io.WriteSeeker, t *table) (*npySink, error) {
	names, _ := t.numbers()
	s := &npySink{to, len(names)}
	return s, s.head(0)
}

// head writes 128 bytes, whatever the number of rows.
func (s *npySink) head(rows int) error {
	text := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, s.width)
	text += strings.Repeat(" ", 128-10-1-len(text)) + "\n"
	out := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(out[8:], uint16(len(text)))
	_, err := s.to.Write(append(out, text...))
	return err
}

func (s *npySink) encode(out []byte, p *part) []byte {
	for _, v := range p.numbers {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
	}
	return out
}

func (s *npySink) take(_ []*part, encoded []byte) error {
	_, err := s.to.Write(encoded)
	return err
}

func (s *npySink) close(rows int) error {
	if _, err := s.to.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return s.head(rows)
}

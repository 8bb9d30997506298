package score

import (
	"fmt"
	"io"
	"math"
	"math/bits"

	"covey/internal/dataset"
)

// Format is how scores are written.
type Format string

// The formats, as a file's name ends.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
	NPY     Format = "npy"
)

// note is what stands in the note of a row without scores.
const note = "left out: a value is missing or at fault"

// header is the first line of a CSV file, without the # before it: whoever opens the file reads it.
const header = "individual data of this site, not private: with the components of the result these scores are nearly the rows"

// table says what is written of a row.
type table struct {
	k      int
	width  int // how many numbers a row has: len of numbers's names
	t2     bool
	limits []Limit
	units  bool // there is a unit column
	filled bool // the study keeps gaps
}

// numbers are the names of a row's numbers, in order. Flags are 1 or 0, and empty where there is no
// limit.
func (t *table) numbers() (names []string, flag []bool) {
	add := func(is bool, name string) { names, flag = append(names, name), append(flag, is) }
	for i := range t.k {
		add(false, fmt.Sprintf("score_%d", i+1))
	}
	if t.t2 {
		add(false, "t2")
	}
	add(false, "spe")
	for _, l := range t.limits {
		if l.T2 > 0 {
			add(true, fmt.Sprintf("t2_above_%g", l.Quantile))
		}
		if l.SPE > 0 {
			add(true, fmt.Sprintf("spe_above_%g", l.Quantile))
		}
	}
	if t.filled {
		add(false, "filled_cells")
	}
	return names, flag
}

// part is what is written of a block.
type part struct {
	first   int
	width   int       // numbers of a row
	numbers []float64 // rows×width, row-major; NaN in a row that is left out
	units   []string
	flagged []int // of rows, at each limit by either
	left    int
}

func (p *part) rows() int { return len(p.numbers) / p.width }

// make lays out a block's scores.
func (t *table) make(b dataset.Block, s *Scores, d int) *part {
	n := len(s.SPE)
	p := &part{first: b.First, width: t.width, numbers: make([]float64, 0, n*t.width), units: b.Units, flagged: make([]int, len(t.limits)), left: len(b.Absent)}
	absent := b.Absent
	stride := (d + 7) / 8
	for i := range n {
		if len(absent) > 0 && absent[0] == i {
			absent = absent[1:]
			for range t.width {
				p.numbers = append(p.numbers, math.NaN())
			}
			continue
		}
		p.numbers = append(p.numbers, s.Values[i*t.k:(i+1)*t.k]...)
		if t.t2 {
			p.numbers = append(p.numbers, s.T2[i])
		}
		p.numbers = append(p.numbers, s.SPE[i])
		for l, limit := range t.limits {
			far := 0.0
			if limit.T2 > 0 {
				above := truth(s.T2[i] > limit.T2)
				far = max(far, above)
				p.numbers = append(p.numbers, above)
			}
			if limit.SPE > 0 {
				above := truth(s.SPE[i] > limit.SPE)
				far = max(far, above)
				p.numbers = append(p.numbers, above)
			}
			p.flagged[l] += int(far)
		}
		if t.filled {
			gaps := 0
			if b.Gaps != nil {
				for _, eight := range b.Gaps[i*stride : (i+1)*stride] {
					gaps += bits.OnesCount8(eight)
				}
			}
			p.numbers = append(p.numbers, float64(gaps))
		}
	}
	return p
}

func truth(v bool) float64 {
	if v {
		return 1
	}
	return 0
}

// sink takes a table's parts, in order.
type sink interface {
	// encode appends a part to a batch's text, by several goroutines at once. take is called for
	// one batch after the other, with its text.
	encode(out []byte, p *part) []byte
	take(parts []*part, encoded []byte) error
	// close writes what comes after rows of them.
	close(rows int) error
}

// newSink begins a file.
func newSink(f Format, to io.WriteSeeker, t *table) (sink, error) {
	switch f {
	case CSV:
		return newCSV(to, t)
	case NPY:
		return newNPY(to, t)
	case Parquet:
		return newParquet(to, t), nil
	}
	return nil, fmt.Errorf("score: no format %q", f)
}

package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"strconv"
)

// Recipe is the hash of everything besides the source's bytes that its rows depend on.
func (s Source) Recipe(q Request) [32]byte {
	h := sha256.New()
	word := func(v string) {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(v))))
		h.Write([]byte(v))
	}
	word("covey rows 4") // counts up when the same bytes become other rows
	s.describe(word)
	word(q.Unit)
	word(string(q.Missing))
	word(string(q.precision()))
	word(strconv.FormatBool(q.Strict))
	for _, c := range q.Columns {
		word(c.Name)
		number64(h, c.Offset)
		number64(h, c.Scale)
	}
	for j := range q.Readings {
		r := q.reading(j)
		word(string(r.As))
		word(strconv.FormatBool(r.Indicator))
		word(strconv.Itoa(r.Epoch))
		word(strconv.Itoa(len(r.Levels)))
		for _, text := range r.Levels {
			word(text)
		}
	}
	return [32]byte(h.Sum(nil))
}

func number64(h hash.Hash, v float64) {
	h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
}

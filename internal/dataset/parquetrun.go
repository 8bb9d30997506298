package dataset

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/encoding/delta"
)

// runRoom is what the runs of a page may have beyond its values: bit-packed values come in groups
// of eight, and a run has at most 63 groups where a writer leaves one byte for its length
// (https://parquet.apache.org/docs/file-format/data-pages/encodings/).
const runRoom = 63 * 8

// runs says whether the runs of the hybrid of run lengths and bit-packing fit a page of so many
// values. The decoder makes room for a run before it looks for the next, and for all runs
// that the bytes hold. What is cut off, or is no run, it refuses by itself.
func runs(data []byte, width, values int) bool {
	left := uint64(values) + runRoom
	for len(data) > 0 {
		head, n := binary.Uvarint(data)
		if n <= 0 {
			return true
		}
		data = data[n:]
		count, skip := head>>1, uint64(width+7)/8
		if count == 0 {
			continue // and no value follows
		}
		if count > left {
			return false
		}
		if head&1 == 1 {
			skip = count * uint64(width)
			if count *= 8; count > left {
				return false
			}
		}
		left -= count
		if skip >= uint64(len(data)) {
			return true
		}
		data = data[skip:]
	}
	return true
}

// deltas goes over one sequence of DELTA_BINARY_PACKED of integers of so many bits: whether it claims
// no more than so many values, how many, and what follows it. One that is cut off the decoder
// refuses by itself.
func deltas(data []byte, bits, values int) (count int, rest []byte, ok bool) {
	var head [4]uint64 // values a block, miniblocks a block, values, the first one
	for i := range head {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return 0, nil, false
		}
		head[i], data = v, data[n:]
	}
	block, minis, total := head[0], head[1], head[2]
	if total > uint64(values) || minis == 0 || block > math.MaxInt32 || block/minis == 0 {
		return 0, nil, false
	}
	each := block / minis
	for left := total; left > 1 && len(data) > 0; {
		_, n := binary.Uvarint(data) // the smallest delta
		if n <= 0 {
			return 0, nil, false
		}
		data = data[n:]
		widths := data[:min(minis, uint64(len(data)))]
		data = data[len(widths):]
		for _, width := range widths {
			if int(width) > bits {
				return 0, nil, false
			}
			data = data[min(each*uint64(width)/8, uint64(len(data))):]
			if left -= min(each, left-1); left == 1 {
				break
			}
		}
		if left == 1 {
			break
		}
	}
	return int(total), data, true
}

// prefixed says how many bytes a page of DELTA_BYTE_ARRAY becomes: each value is the front of the
// one before, and so many bytes more.
func (s *pageScratch) prefixed(data []byte, values int) (out int64, ok bool) {
	var decoder delta.BinaryPackedEncoding
	for i := range s.lengths {
		count, rest, ok := deltas(data, 32, values)
		if !ok {
			return 0, false
		}
		got, err := decoder.DecodeInt32(s.lengths[i][:0], data[:len(data)-len(rest):len(data)-len(rest)])
		if err != nil || len(got) != count {
			return 0, false
		}
		s.lengths[i], data = got, rest
	}
	front, more := s.lengths[0], s.lengths[1]
	if len(front) != len(more) {
		return 0, false
	}
	last, left := int64(0), int64(len(data))
	for i, f := range front {
		f, m := int64(f), int64(more[i])
		if f < 0 || f > last || m < 0 || m > left {
			return 0, false
		}
		last, left = f+m, left-m
		if out += last; out > math.MaxInt32 {
			return 0, false
		}
	}
	return out, true
}

package parquet

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// decode takes the values of a page that has rows. The library decodes them where it takes no more
// memory than it is given here.
func (p *pages) decode(raw []byte, by format.Encoding) (err error) {
	kind := p.typ.Kind()
	p.values = pageValues{}
	out := raw // decoded in place
	switch {
	case len(raw) == 0: // no row has a value
		return nil
	case by == format.RLEDictionary, by == plainDictionary, by == format.RLE && kind == parquet.Boolean:
		return p.indexed(raw, by)
	case by == format.DeltaBinaryPacked && kind == parquet.Int32:
		var wide bool
		if _, _, wide, err = differences(raw, p.rows, nil); err == nil {
			out, err = room(p.t, &p.decoded, 4*p.rows, 1)
		}
		if err == nil && wide { // the library reads others than were written
			out, _, _, _ = differences(raw, p.rows, out[:0])
			raw, by = out, format.Plain
		}
	case by == format.DeltaBinaryPacked && kind == parquet.Int64:
		if _, _, _, err = differences(raw, p.rows, nil); err == nil {
			out, err = room(p.t, &p.decoded, 8*p.rows, 1)
		}
	case by == format.DeltaLengthByteArray && kind == parquet.ByteArray:
		_, _, _, err = differences(raw, p.rows, nil)
	case by == format.DeltaByteArray && (kind == parquet.ByteArray || kind == parquet.FixedLenByteArray):
		var n int
		if n, err = p.fronts(raw); err == nil {
			out, err = room(p.t, &p.decoded, n, 1)
		}
	case by == format.ByteStreamSplit:
		out, err = room(p.t, &p.decoded, len(raw), 1)
	case by == format.Plain:
	default:
		return errPage
	}
	if err != nil {
		return err
	}
	starts, err := p.starting(&p.offsets, p.rows)
	if err != nil {
		return err
	}
	values, err := p.typ.Decode(p.typ.NewValues(out, starts), raw, parquet.LookupEncoding(by))
	if err != nil {
		return err
	}
	p.values, err = p.open(values, p.rows)
	return err
}

// indexed takes a page of places: in the column's dictionary, or of booleans in false and true.
func (p *pages) indexed(raw []byte, by format.Encoding) error {
	if by == format.RLE { // the library reads others than were written
		bits, _, err := counted(raw)
		p.values, p.index = pageValues{indexed: true, bytes: []byte{0b10}, count: 2}, runs{b: bits, width: 1}
		return err
	}
	if p.dictionary == nil || raw[0] > 32 {
		return errPage
	}
	p.values, p.index = *p.dictionary, runs{b: raw[1:], width: uint(raw[0])}
	p.values.indexed = true
	return nil
}

// open returns a page's values, or a dictionary's, by their type; count is how many there may be.
func (p *pages) open(data encoding.Values, count int) (v pageValues, err error) {
	switch p.typ.Kind() {
	case parquet.Double:
		v.doubles = data.Double()
	case parquet.Float:
		v.floats = data.Float()
	case parquet.Int32:
		if p.unsigned {
			v.uint32s = data.Uint32()
		} else {
			v.int32s = data.Int32()
		}
	case parquet.Int64:
		if p.unsigned {
			v.uint64s = data.Uint64()
		} else {
			v.int64s = data.Int64()
		}
		whole(v.int64s, p.day)
	case parquet.ByteArray:
		v.bytes, v.offsets = data.ByteArray()
		if len(v.offsets) == 0 {
			v.offsets = []uint32{0}
		}
	case parquet.FixedLenByteArray:
		v.bytes, v.size = data.FixedLenByteArray()
	case parquet.Boolean:
		v.bytes, v.count = data.Boolean(), count
	default:
		return v, errPage
	}
	return v, nil
}

// whole makes points in time days, a day being so many units: of integers, since a float64 would
// take a day's last nanosecond for the next day.
func whole(times []int64, day int64) {
	if day < 2 {
		return
	}
	for i, v := range times {
		if times[i] = v / day; v%day < 0 {
			times[i]--
		}
	}
}

// maxFronts is how long a page's texts may be whose fronts are those of the text before: the
// library adds their lengths up as int32.
const maxFronts = 1 << 30

// fronts returns how much memory the library takes for a page of texts, or of fixed ones, each of
// which has a front of the one before. So a few bytes may be many texts of any length.
func (p *pages) fronts(raw []byte) (int, error) {
	_, rest, wide, err := differences(raw, p.rows, nil)
	if err != nil || wide {
		return 0, errPage
	}
	if _, _, wide, err = differences(rest, p.rows, nil); err != nil || wide {
		return 0, errPage
	}
	var lengths [2][]int32
	for i, b := range [][]byte{raw, rest} {
		buffer, err := room(p.t, &p.t.lengths[i], p.rows, 4)
		if err != nil {
			return 0, err
		}
		if lengths[i], err = parquet.DeltaBinaryPacked.DecodeInt32(buffer, b); err != nil {
			return 0, err
		}
	}
	sum := int64(0)
	for i, front := range lengths[0] {
		back := lengths[1][i]
		if front < 0 || back < 0 || p.typ.Kind() == parquet.FixedLenByteArray && int64(front)+int64(back) != int64(p.typ.Length()) {
			return 0, errPage
		}
		if sum += int64(front) + int64(back); sum > maxFronts {
			return 0, errPage
		}
	}
	return int(sum) + 64, nil // the library copies by 32 bytes
}

// unsigned reports whether a type of integers has no negative ones.
func unsigned(typ parquet.Type) bool {
	unsigned, _ := integer(typ)
	return unsigned
}

// differences goes over DELTA_BINARY_PACKED values, n at most, and reports whether any takes more
// bits than INT32 has. It returns what follows them and, where out is not nil, the values as INT32,
// as far as b goes.
func differences(b []byte, n int, out []byte) (values, rest []byte, wide bool, err error) {
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[max(n, 0):]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(b)
		b = b[max(n, 0):]
		return v
	}
	block, runs, left, last := number(), number(), number(), signed()
	if left == 0 {
		return out, b, false, nil
	}
	if left > uint64(n) || runs == 0 || runs > block || block > 1<<16 { // the last is the library's bound
		return nil, nil, false, errPage
	}
	if wide = last < math.MinInt32 || last > math.MaxInt32; out != nil {
		out = binary.LittleEndian.AppendUint32(out, uint32(last))
	}
	for left--; left > 0 && len(b) > 0; {
		least := signed()
		widths := b[:min(runs, uint64(len(b)))]
		b = b[len(widths):]
		for _, bits := range widths {
			n := min(left, block/runs)
			if n == 0 { // the width of a run without values may be anything
				break
			}
			wide = wide || bits > 32
			run := b[:min(block/runs*uint64(bits)/8, uint64(len(b)))]
			b, left = b[len(run):], left-n
			if out == nil {
				continue
			}
			if bits > 64 || n*uint64(bits) > 8*uint64(len(run)) {
				return out, nil, wide, nil
			}
			for i := range n {
				last += least + int64(unpacked(run, i*uint64(bits), uint64(bits))) // modulo 2^64, and so 2^32
				out = binary.LittleEndian.AppendUint32(out, uint32(last))
			}
		}
	}
	return out, b, wide, nil
}

// unpacked returns the number of so many bits at a bit, the lowest first.
func unpacked(b []byte, at, bits uint64) (v uint64) {
	for k := range bits {
		v |= uint64(b[(at+k)/8]>>((at+k)%8)&1) << k
	}
	return v
}

package packed

import "encoding/binary"

// Narrow is Ints that are kept for later, each in as many bytes as the longest of them needs.
type Narrow struct {
	raw   []byte
	width int
}

// Narrow returns v's numbers. They share no memory with v.
func (v Ints) Narrow() Narrow {
	n := Narrow{width: 1}
	for _, x := range v {
		n.width = max(n.width, width(x))
	}
	n.raw = make([]byte, 0, len(v)*n.width+8) // with room for the last number in 8 bytes
	for _, x := range v {
		n.raw = binary.LittleEndian.AppendUint64(n.raw, uint64(x))[:len(n.raw)+n.width]
	}
	return n
}

// Len returns how many numbers there are.
func (n Narrow) Len() int { return len(n.raw) / max(1, n.width) }

// At returns the number of an index.
func (n Narrow) At(i int) int64 {
	shift := 64 - 8*n.width
	raw := n.raw[:len(n.raw)+8]
	return int64(binary.LittleEndian.Uint64(raw[i*n.width:])<<shift) >> shift
}

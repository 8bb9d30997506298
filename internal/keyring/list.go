package keyring

import "encoding/binary"

// encodeList writes byte strings, each behind its length.
func encodeList(list [][]byte) []byte {
	size := 4
	for _, v := range list {
		size += 4 + len(v)
	}
	out := binary.BigEndian.AppendUint32(make([]byte, 0, size), uint32(len(list)))
	for _, v := range list {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(v))), v...)
	}
	return out
}

// decodeList reads what encodeList wrote, and nothing else.
func decodeList(b []byte) ([][]byte, error) {
	if len(b) < 4 {
		return nil, errStored
	}
	n := int(binary.BigEndian.Uint32(b))
	b = b[4:]
	if n > len(b)/4 {
		return nil, errStored
	}
	out := make([][]byte, n)
	for i := range out {
		if len(b) < 4 {
			return nil, errStored
		}
		size := int(binary.BigEndian.Uint32(b))
		if b = b[4:]; size > len(b) {
			return nil, errStored
		}
		out[i], b = b[:size:size], b[size:]
	}
	if len(b) != 0 {
		return nil, errStored
	}
	return out, nil
}

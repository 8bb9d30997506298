package parquet

import (
	"bytes"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// unpacker is of all tables: it never takes more than the room it is given.
var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))
})

// unpack returns a page's bytes, at most as many as its header says. The library's codecs take
// memory for whatever comes out of them.
func (p *pages) unpack(packed []byte, size int64) ([]byte, error) {
	if len(packed) == 0 { // of a page without values
		return nil, nil
	}
	if size < 0 || size > p.most {
		return nil, errPage
	}
	out, err := room(p.t, &p.plain, int(size)+16, 1) // zstd is faster with some room behind
	if err != nil {
		return nil, err
	}
	all, out := out, out[:size]
	switch p.codec {
	case format.Snappy:
		if n, err := snappy.DecodedLen(packed); err != nil || n > len(out) {
			return nil, errPage
		}
		return snappy.Decode(out, packed)
	case format.Zstd:
		d, err := unpacker()
		if err != nil {
			return nil, err
		}
		if out, err = d.DecodeAll(packed, all[:0]); int64(len(out)) > size {
			return nil, errPage
		}
		return out, err
	case format.Gzip:
		if p.t.gzip == nil {
			p.t.gzip = new(gzip.Reader)
		}
		if err := p.t.gzip.Reset(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
		return fill(out, p.t.gzip)
	case format.Brotli:
		if p.t.brotli == nil {
			p.t.brotli = new(brotli.Reader)
		}
		if err := p.t.brotli.Reset(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
		return fill(out, p.t.brotli)
	}
	return nil, errPage
}

// fill reads r to its end into out, which it may not exceed.
func fill(out []byte, r io.Reader) ([]byte, error) {
	n, err := 0, error(nil)
	for err == nil && n < len(out) {
		var k int
		k, err = r.Read(out[n:])
		n += k
	}
	if err == nil { // the sum at the end is still to be read
		var beyond [1]byte
		if _, err = io.ReadFull(r, beyond[:]); err == nil {
			return nil, errPage
		}
	}
	if err == io.EOF {
		err = nil
	}
	return out[:n], err
}

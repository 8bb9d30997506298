package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"covey/internal/dataset"
)

// footer holds the file's last bytes to what can be true before the library takes memory for what
// they claim: their own length, the lengths of lists, and numbers of columns and row groups
// that it multiplies before it compares them.
func (t *parquetTable) footer() error {
	size := t.src.Size()
	var tail [8]byte
	if size < 12 {
		return t.bad()
	}
	if _, err := t.src.ReadAt(tail[:], size-8); err != nil || string(tail[4:]) != "PAR1" {
		return t.bad()
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 {
		return t.damaged("", "its footer claims to be longer than the file")
	}
	raw := make([]byte, n)
	if _, err := t.src.ReadAt(raw, size-8-n); err != nil {
		return t.bad()
	}
	used, structures, err := skim(raw)
	if err != nil {
		return t.bad()
	}
	// It is decoded here, and again by the library.
	if 2*(n+int64(structures)*structureMemory) > t.most {
		return &dataset.Error{File: t.src.Path(), Reason: fmt.Sprintf("its footer may take more than %d MiB of memory: write the file with larger row groups", t.most>>20)}
	}
	var m format.FileMetaData
	if err := decodeThrift(raw[:used], &m); err != nil {
		return t.bad()
	}
	// The library adds up the depths, then multiplies leaves by row groups.
	var open []int32 // children to come, of each group around an element
	leaves := 0
	for i := range m.Schema {
		if len(open) > parquet.MaxColumnDepth {
			return t.damaged("", "its groups lie more than 255 deep in each other")
		}
		e := &m.Schema[i]
		if int64(e.TypeLength.V) > size {
			return t.damaged("", "a column's texts claim to be longer than the file")
		}
		if e.Type.Valid {
			leaves++
		}
		if e.NumChildren.Valid && e.NumChildren.V > 0 {
			open = append(open, e.NumChildren.V)
			continue
		}
		for len(open) > 0 {
			if open[len(open)-1]--; open[len(open)-1] > 0 {
				break
			}
			open = open[:len(open)-1]
		}
	}
	for i := range m.RowGroups {
		if len(m.RowGroups[i].Columns) != leaves {
			return t.damaged("", "a row group has not the file's columns")
		}
	}
	return nil
}

// integer reports whether an INT32 or INT64 stands for an integer, and for an unsigned one. A
// date, a time or a decimal does not: its integer means nothing without its unit.
func integer(typ parquet.Type) (unsigned, ok bool) {
	if l := typ.LogicalType(); l != nil && l.Value != nil {
		i, ok := l.Value.(*format.IntType)
		return ok && !i.IsSigned, ok
	}
	c := typ.ConvertedType()
	if c == nil {
		return false, true
	}
	switch *c {
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return false, true
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return true, true
	}
	return false, false
}

// numeric returns the fault of a column of numbers by its type; empty is in order.
func numeric(typ parquet.Type) string {
	switch typ.Kind() {
	case parquet.Double, parquet.Float:
		return ""
	case parquet.Int32, parquet.Int64:
		if _, ok := integer(typ); ok {
			return ""
		}
	}
	what, do := otherwise(typ)
	return fmt.Sprintf("its type is not a number, but %s; FLOAT, DOUBLE, INT32 and INT64 are (%s)", what, do)
}

// otherwise says what a type is that is no number's, and what to do.
func otherwise(typ parquet.Type) (what, do string) {
	const write = "write it as DOUBLE"
	if l := typ.LogicalType(); l != nil {
		switch l.Value.(type) {
		case *format.NullType:
			return "null", "write it as DOUBLE without values"
		case *format.Float16Type:
			return "of half precision", "write it as FLOAT"
		}
	}
	switch kind := typ.Kind(); {
	case kind == parquet.Boolean:
		return "a boolean", `let the study read it as "boolean", or ` + write
	case dayUnits(typ) > 0:
		return "a date or a point in time", `ask for as = "days since 2000-01-01" in the study`
	case (kind == parquet.ByteArray || kind == parquet.FixedLenByteArray) && !opaque(typ):
		return "text", "ask for levels in the study, or write numbers as DOUBLE"
	}
	return "a decimal, a time or another", write
}

// dayUnits returns how many of a type's units are a day; 0 if it is not an integer that
// stands for a date or a point in time.
func dayUnits(typ parquet.Type) int64 {
	kind := typ.Kind()
	if l := typ.LogicalType(); l != nil && l.Value != nil {
		switch v := l.Value.(type) {
		case *format.DateType:
			if kind == parquet.Int32 {
				return 1
			}
		case *format.TimestampType:
			if kind == parquet.Int64 && v.Unit.Value != nil {
				return int64(24 * time.Hour / v.Unit.Value.Duration())
			}
		}
		return 0
	}
	c := typ.ConvertedType()
	switch {
	case c == nil:
	case *c == deprecated.Date && kind == parquet.Int32:
		return 1
	case *c == deprecated.TimestampMillis && kind == parquet.Int64:
		return int64(24 * time.Hour / time.Millisecond)
	case *c == deprecated.TimestampMicros && kind == parquet.Int64:
		return int64(24 * time.Hour / time.Microsecond)
	}
	return 0
}

// opaque reports whether a type's bytes stand for something that they do not spell.
func opaque(typ parquet.Type) bool {
	if l := typ.LogicalType(); l != nil {
		switch l.Value.(type) {
		case *format.DecimalType, *format.UUIDType, *format.Float16Type:
			return true
		}
	}
	c := typ.ConvertedType()
	return c != nil && (*c == deprecated.Decimal || *c == deprecated.Interval)
}

// isUUID reports whether a type's bytes are a UUID's.
func isUUID(typ parquet.Type) bool {
	l := typ.LogicalType()
	if l == nil || typ.Kind() != parquet.FixedLenByteArray || typ.Length() != 16 {
		return false
	}
	_, ok := l.Value.(*format.UUIDType)
	return ok
}

// untyped reports whether a type is of bytes and does not say that they are text. Older writers
// leave that out of texts, too.
func untyped(typ parquet.Type) bool {
	if kind := typ.Kind(); kind != parquet.ByteArray && kind != parquet.FixedLenByteArray {
		return false
	}
	if l := typ.LogicalType(); l != nil {
		switch l.Value.(type) {
		case *format.StringType, *format.EnumType, *format.JsonType:
			return false
		}
	}
	c := typ.ConvertedType()
	return c == nil || *c != deprecated.UTF8 && *c != deprecated.Enum && *c != deprecated.Json
}

// nameless says why a column cannot name units by its type; empty if it can. Names are compared
// without the blanks around them, which a number's bytes may look like.
func nameless(typ parquet.Type) string {
	switch kind := typ.Kind(); {
	case kind == parquet.Int96:
		return "an INT96 cannot be the unit"
	case (kind == parquet.ByteArray || kind == parquet.FixedLenByteArray) && opaque(typ) && !isUUID(typ):
		return "its type is bytes that are not text, and cannot be the unit (write a decimal as INT64 or as text)"
	}
	return ""
}

// unfit says why a column's type cannot be read as it is asked for; empty if it can be.
func unfit(typ parquet.Type, r dataset.Reading, text bool) string {
	switch kind := typ.Kind(); {
	case !text:
		return numeric(typ)
	case r.As == dataset.Days && kind != parquet.ByteArray && kind != parquet.FixedLenByteArray && dayUnits(typ) == 0:
		return "its type cannot hold a date; DATE, TIMESTAMP and text can"
	case dayUnits(typ) > 0 && r.As == dataset.Days:
		return ""
	case kind == parquet.Int32 || kind == parquet.Int64:
		return numeric(typ) // the digits of a decimal or of a time are not what it stands for
	case kind == parquet.Int96:
		return "an INT96 is neither a number nor text"
	case opaque(typ):
		return "its type is bytes that are not text (write a decimal as DOUBLE or as text)"
	}
	return ""
}

func (t *parquetTable) damaged(column, reason string) *dataset.Error {
	return &dataset.Error{File: t.src.Path(), Column: column, Reason: "is damaged: " + reason}
}

// decodeThrift decodes what skim has gone over. Of bytes that are at hand no string is longer than
// they are; of a reader the library takes memory for whatever length it meets.
func decodeThrift(b []byte, v any) error {
	var compact thrift.CompactProtocol
	return thrift.NewDecoder(compact.NewReaderFromBytes(b)).Decode(v)
}

var (
	errThrift = errors.New("no structure of Thrift's compact protocol")
	errDeep   = errors.New("structures lie too deep in each other")
)

// maxThriftDepth is of structures and lists in each other: a footer has eight, a page four. The
// library calls itself for each, and a stack that is full ends the process.
const maxThriftDepth = 64

// Lists may have so many structures, and one more for so many bytes: writers take 19 bytes or more
// for one. A column of a row group takes 560 bytes of memory and may be one byte of a footer.
const freeStructures, structureBytes, structureMemory = 1 << 16, 8, 560

// skim goes over a structure in Thrift's compact protocol and returns how many bytes it takes, and
// how many structures its lists have. Every length it meets is of bytes that are there, and every
// list's elements too: each takes a byte at least.
func skim(b []byte) (size int, structures uint64, err error) {
	most := freeStructures + uint64(len(b))/structureBytes
	s := skimmer{b: b, structures: most}
	if err := s.value(thrift.STRUCT, 0); err != nil {
		return 0, 0, err
	}
	return s.at, most - s.structures, nil
}

type skimmer struct {
	b          []byte
	at         int
	structures uint64 // that lists may still have
}

func (s *skimmer) byte() (byte, error) {
	if s.at == len(s.b) {
		return 0, errThrift
	}
	s.at++
	return s.b[s.at-1], nil
}

func (s *skimmer) varint() (uint64, error) {
	v, n := binary.Uvarint(s.b[s.at:])
	if n <= 0 {
		return 0, errThrift
	}
	s.at += n
	return v, nil
}

func (s *skimmer) skip(n uint64) error {
	if n > uint64(len(s.b)-s.at) {
		return errThrift
	}
	s.at += int(n)
	return nil
}

// value goes over one value of a type, that is no field's boolean.
func (s *skimmer) value(typ thrift.Type, depth int) error {
	if depth > maxThriftDepth {
		return errDeep
	}
	switch typ {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		return s.skip(1)
	case thrift.I16, thrift.I32, thrift.I64:
		_, err := s.varint()
		return err
	case thrift.DOUBLE:
		return s.skip(8)
	case thrift.UUID:
		return s.skip(16)
	case thrift.BINARY:
		n, err := s.varint()
		if err != nil {
			return err
		}
		return s.skip(n)
	case thrift.LIST, thrift.SET, thrift.MAP:
		return s.list(typ, depth)
	case thrift.STRUCT:
		return s.structure(depth)
	}
	return errThrift
}

// list goes over the elements of a list, a set or a map.
func (s *skimmer) list(typ thrift.Type, depth int) error {
	var n uint64
	var err error
	var of [2]thrift.Type // key and value of a map; the second otherwise
	head := byte(0)
	if typ == thrift.MAP {
		if n, err = s.varint(); err != nil || n == 0 {
			return err
		}
		if head, err = s.byte(); err != nil {
			return err
		}
		of[0] = thrift.Type(head >> 4)
	} else {
		if head, err = s.byte(); err != nil {
			return err
		}
		if n = uint64(head >> 4); n == 15 {
			if n, err = s.varint(); err != nil {
				return err
			}
		}
	}
	of[1] = thrift.Type(head & 15)
	if of[1] == thrift.STRUCT {
		if n > s.structures {
			return errThrift
		}
		s.structures -= n
	}
	for range n { // b ends first, however many they claim to be
		if typ == thrift.MAP {
			if err := s.value(of[0], depth+1); err != nil {
				return err
			}
		}
		if err := s.value(of[1], depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *skimmer) structure(depth int) error {
	for {
		head, err := s.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the field's number by itself
			if _, err := s.varint(); err != nil {
				return err
			}
		}
		typ := thrift.Type(head & 15)
		if typ == thrift.TRUE || typ == thrift.FALSE {
			continue // a field's boolean is its type
		}
		if err := s.value(typ, depth+1); err != nil {
			return err
		}
	}
}

package dataset

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A format whose reader is much code is a package of its own beneath this one, which registers
// itself as the drivers of database/sql do. A program reads what it imports: the agent imports all
// of them, and the coordinator, which holds the federation's keys, that of NPY alone.

// Table is a source's rows, as a driver reads them. An error of its is an [*Error] that carries no
// value.
type Table interface {
	// Header returns the names of the columns, in the source's order.
	Header() []string
	// Rows hands all rows to b, each once and in the source's order.
	Rows(b Builder) error
}

// Answer is the answer to a query, under way.
type Answer interface {
	Table
	// Pin returns the SHA-256 of all that Rows handed on ([Query]).
	Pin() [32]byte
	Close()
}

// QueryDriver asks a server.
type QueryDriver interface {
	// Ask begins a query that [Query.Check] takes. Header of the answer is free of twins.
	Ask(q Query) (Answer, error)
	// Describe passes to word what else than the query's text decides about the answer, less
	// secrets.
	Describe(q Query, word func(string))
}

var (
	fileDrivers  = map[Format]func(*File) (Table, error){}
	queryDrivers = map[string]QueryDriver{}
)

// Register makes a format readable. It is called by the init of the package that reads it.
func Register(format Format, open func(*File) (Table, error)) { fileDrivers[format] = open }

// RegisterQuery makes queries to a kind of server possible, likewise.
func RegisterQuery(server string, d QueryDriver) { queryDrivers[server] = d }

// File is a file that a driver reads here and there. It is hashed at the same time, from its first
// byte to its last, and belongs to its caller, who closes it.
type File struct {
	src   *hashedFile
	names []string
}

func (f *File) Path() string { return f.src.path }

// Size is in bytes, when the file was opened.
func (f *File) Size() int64 { return f.src.before.Size() }

// Names are the columns of a matrix without names of its own ([Source]).
func (f *File) Names() []string { return f.names }

func (f *File) ReadAt(p []byte, at int64) (int, error) { return f.src.file.ReadAt(p, at) }

// driven is a driver's table as one of this package.
type driven struct{ Table }

func (t driven) header() []string      { return t.Header() }
func (t driven) word() string          { return "row" }
func (t driven) rows(b *builder) error { return t.Rows(Builder{b}) }

// drive opens a file with its format's driver.
func drive(format Format, src *hashedFile, names []string) (table, error) {
	open := fileDrivers[format]
	if open == nil {
		return nil, &Error{File: src.path, Reason: fmt.Sprintf("this program does not read %s: the agent does", format)}
	}
	t, err := open(&File{src, names})
	if err != nil {
		return nil, err
	}
	src.hashBeside()
	return driven{t}, nil
}

// Builder takes a driver's rows: one by one ([Builder.Begin], a field for each column and the unit
// in any order, [Builder.End]), or many at a time by columns.
type Builder struct{ b *builder }

// Columns are those that a row holds, in order, under the names that the source has for them.
func (b Builder) Columns() []Column { return b.b.sourceColumns }

// Unit is the source's name of the unit column; empty: every row is a unit.
func (b Builder) Unit() string { return b.b.sourceUnit }

// Reserve makes room for so many rows more, where rows are kept.
func (b Builder) Reserve(rows float64) {
	if b.b.reserve != nil {
		b.b.reserve(rows)
	}
}

// Room returns how many rows Columnar takes at a time.
func (b Builder) Room() int { return b.b.room() }

// Columnar takes the next n rows, at most Room, from columns: fields[j] holds n numbers of
// Columns()[j], NaN where one is missing, or what Cell and Day return where Texts is true of the
// column, and names the rows' units, if there is a unit column.
func (b Builder) Columnar(n int, fields [][]float64, names [][]byte) error {
	return b.b.columnar(n, fields, names)
}

// Begin starts the next row.
func (b Builder) Begin() { b.b.begin(b.b.taken.next()) }

// Put gives a column its number; NaN is a missing value.
func (b Builder) Put(j int, v float64) {
	if b.b.mapped != nil && !b.Texts(j) {
		v = b.b.mapped.rename(j, v)
	}
	b.b.put(j, v)
}

// Text gives a column its field as text.
func (b Builder) Text(j int, field []byte) { b.b.text(j, string(field)) }

// Date gives a column that is read as days its field of a type that is a date: YYYY-MM-DD, whatever
// form a mapping says that dates in text have.
func (b Builder) Date(j int, field []byte) {
	if k := b.b.kept; k != nil {
		b.b.put(j, k.index(Typed{string(field), true}))
		return
	}
	b.b.put(j, b.b.formed(j, "", string(field)))
}

// SetUnit gives the row its unit.
func (b Builder) SetUnit(field []byte) { b.b.setUnit(string(field)) }

// End checks the row and takes it.
func (b Builder) End() error {
	err := b.b.end()
	b.b.kept.forget()
	return err
}

// Trim is a column's name without the spaces around it, as names are compared.
func Trim(name string) string { return trim(name) }

// Twins returns the indices of two equal names; again is 0 where there are none.
func Twins(names []string) (first, again int) { return twins(names) }

// Unreadable is the error of a file that cannot be read, without its path, which the [Error] gives
// itself.
func Unreadable(path string, err error) *Error { return unreadable(path, err) }

// AppendNumber writes a number that is a unit's name or may be a level: the shortest digits of no
// other number of so many bits, without an exponent from 0.0001 up to 10^15, as PostgreSQL and
// people write it. 7 and 7.0 are one number, and so are 0 and -0.
func AppendNumber(out []byte, v float64, bits int) []byte {
	form := byte('g')
	if size := math.Abs(v); size >= 1e-4 && size < 1e15 {
		form = 'f'
	}
	return strconv.AppendFloat(out, v+0, form, -1, bits)
}

// AppendID writes bytes of no stated type as a unit's name. Text is itself, and all else is \x and
// hexadecimal digits, as PostgreSQL writes bytes: of other bytes a name would lose those at either
// end that look like blanks, and two units could become one. fixed says that all of the column's
// values have one length, so that even a text's blanks may be all that tells two of them apart.
// What is a missing value's text stays one.
func AppendID(out, raw []byte, fixed bool) []byte {
	text := trim(string(raw))
	plain := !strings.HasPrefix(text, `\x`) && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
	if isMissing(text) || plain && (!fixed || len(text) == len(raw)) {
		return append(out, raw...)
	}
	return hex.AppendEncode(append(out, `\x`...), raw)
}

// Reading returns how the cells of column j become numbers.
func (b Builder) Reading(j int) Reading {
	if b.b.encoders == nil {
		return Reading{}
	}
	return b.b.encoders[j].Reading
}

// Texts reports whether cells of column j are given as text ([Builder.Text], [Builder.Cell]),
// whatever the source holds them as: its type is then not for the driver to refuse.
func (b Builder) Texts(j int) bool { return b.Reading(j).text() }

// Cell returns what Columnar takes of a column of which Texts is true, given a cell as text: a
// number's shortest digits, true or false. It keeps nothing of field.
func (b Builder) Cell(j int, field []byte) float64 { return b.b.cell(j, string(field)) }

// Day returns what Columnar takes of a column of Days, given a day since 1970-01-01. NaN is a
// missing value, as a day outside the years 0 to 9999 is, which no text can have: writers put an
// infinite date at either end of their type.
func (b Builder) Day(j int, since float64) float64 {
	day := math.Floor(since)
	if !(day >= float64(firstDay) && day <= float64(lastDay)) {
		return math.NaN()
	}
	if k := b.b.kept; k != nil {
		return k.index(Typed{time.Unix(int64(day)*86400, 0).UTC().Format(time.DateOnly), true})
	}
	return b.b.encoders[j].since(int(day))
}

package dataset

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoding is how a text file's characters are bytes.
type Encoding string

// The encodings that are read.
const (
	UTF8        Encoding = "utf-8"
	Latin1      Encoding = "latin-1"
	Windows1252 Encoding = "windows-1252"
	UTF16       Encoding = "utf-16" // in the order of its byte order mark; little-endian without
)

// encodings lists them.
var encodings = []Encoding{UTF8, Latin1, Windows1252, UTF16}

// decode returns a reader of a text file's bytes and one of them as UTF-8, without a byte order
// mark; both are the same if the file is UTF-8. Bytes that the encoding does not know become
// U+FFFD. In a UTF-8 file they stay as they are, since no name or number has them.
func decode(in io.Reader, e Encoding, path string) (raw, text *bufio.Reader, _ error) {
	buffer := bufio.NewReaderSize(in, bufferSize)
	mark, _ := buffer.Peek(4) // a short file or a failing one shows at the first record
	utf8 := bytes.HasPrefix(mark, []byte("\xef\xbb\xbf"))
	utf16 := bytes.HasPrefix(mark, []byte("\xff\xfe")) || bytes.HasPrefix(mark, []byte("\xfe\xff"))
	if len(mark) == 4 && mark[0] != 0 && mark[1] == 0 && mark[3] == 0 { // little-endian without a mark
		utf16 = true
	}
	switch {
	case bytes.HasPrefix(mark, []byte("PK\x03\x04")):
		return nil, nil, &Error{Schema: SchemaFormat, File: path, Row: 1, Reason: "the file is a ZIP archive, such as a workbook, and no text", Remedy: "save the workbook's sheet as CSV"}
	case bytes.HasPrefix(mark, []byte("\xd0\xcf\x11\xe0")):
		return nil, nil, &Error{Schema: SchemaFormat, File: path, Row: 1, Reason: "the file is a workbook in the form of .xls, and no text", Remedy: "save the workbook's sheet as CSV"}
	case bytes.HasPrefix(mark, []byte("\x1f\x8b")):
		return nil, nil, &Error{Schema: SchemaFormat, File: path, Row: 1, Reason: "the file is packed with gzip, and no text", Remedy: `set format = "csv.gz" for the data set in agent.toml`}
	case utf16 && e != UTF16:
		return nil, nil, &Error{Schema: SchemaFormat, File: path, Row: 1, Reason: "the file is UTF-16; save it as UTF-8", Remedy: `set encoding = "utf-16" for the data set in agent.toml`}
	case utf8 && e != "" && e != UTF8:
		return nil, nil, &Error{Schema: SchemaFormat, File: path, Row: 1, Reason: "the file is UTF-8", Remedy: "take encoding out of agent.toml"}
	case utf8:
		buffer.Discard(3)
	}
	switch e {
	case Latin1:
		return buffer, bufio.NewReaderSize(transform.NewReader(buffer, charmap.ISO8859_1.NewDecoder()), bufferSize), nil
	case Windows1252:
		return buffer, bufio.NewReaderSize(transform.NewReader(buffer, charmap.Windows1252.NewDecoder()), bufferSize), nil
	case UTF16:
		return buffer, bufio.NewReaderSize(transform.NewReader(buffer, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()), bufferSize), nil
	}
	return buffer, buffer, nil
}

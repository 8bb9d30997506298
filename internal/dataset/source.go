package dataset

import (
	"fmt"
	"slices"
	"strconv"
)

// Source says where a data set's rows are.
type Source struct {
	// Path of a file, or of a folder of Parquet files ([folder]).
	Path string
	// Format of the file; empty: what its name says.
	Format Format
	// Names are the columns of an NPY or NPZ matrix, which has no names of its own; empty: c0, c1
	// and so on. Nothing for other formats.
	Names []string
	// Query is asked of a server instead of reading a file; nil: there is a file.
	Query *Query
	// Mapping says how the table becomes the one that is asked for.
	Mapping Mapping
}

// Kind is the format given, or what the name says; empty if neither says one.
func (s Source) Kind() Format {
	if s.Format != "" {
		return s.Format
	}
	return FormatOf(s.Path)
}

// Words is what the source is, for people: a format, "folder of parquet", or a server's kind.
func (s Source) Words() string {
	switch {
	case s.Query != nil:
		return s.Query.server()
	case s.isFolder():
		return "folder of parquet"
	}
	return string(s.Kind())
}

// describe passes to word what says how the source's bytes become a table. Where they come from
// does not matter: bytes that moved are the same data set.
func (s Source) describe(word func(string)) {
	s.Mapping.Words(word)
	if s.Query != nil {
		s.Query.describe(word)
		return
	}
	word(string(s.Kind()))
	word(strconv.Itoa(len(s.Names)))
	for _, name := range s.Names {
		word(name)
	}
}

// Pin is the SHA-256 that [Rows] would have, without a look at a value; a query is asked.
func (s Source) Pin(o ReadOptions) ([32]byte, error) {
	if s.Query == nil {
		return s.pin(o)
	}
	info, err := Inspect(s, "", o)
	return info.SHA256, err
}

// name is what faults call the source.
func (s Source) name() string {
	if s.Query != nil {
		return s.Query.Name()
	}
	return s.Path
}

// open opens the source.
func (s Source) open(o ReadOptions) (input, error) {
	if s.Query != nil {
		return s.Query.open()
	}
	if s.isFolder() {
		return openTables(s.Path, o)
	}
	return s.openFile(o)
}

// openedFile is a file as an input.
type openedFile struct {
	table
	src *hashedFile
}

func (f openedFile) pin() ([32]byte, error) { return f.src.finish() }
func (f openedFile) close()                 { f.src.close() }

func (s Source) openFile(o ReadOptions) (f openedFile, err error) {
	if f.src, err = open(s.Path, o); err != nil {
		return f, err
	}
	if f.table, err = s.table(f.src); err != nil {
		f.close()
	}
	return f, err
}

// pin hashes the source.
func (s Source) pin(o ReadOptions) ([32]byte, error) {
	if s.isFolder() {
		return s.pinFolder(o)
	}
	src, err := open(s.Path, o)
	if err != nil {
		return [32]byte{}, err
	}
	defer src.close()
	return src.finish()
}

// table opens a file as its format has it.
func (s Source) table(src *hashedFile) (table, error) {
	switch kind := s.Kind(); {
	case kind == CSV:
		return openText(src, src, s.Mapping)
	case kind == CSVGzip:
		return openGzip(src, s.Mapping)
	case kind == "":
		return nil, &Error{Schema: SchemaFormat, File: s.Path, Reason: fmt.Sprintf("its name ends in none of %s, and no format is given", ends()), Remedy: `set format = "csv" for the data set in agent.toml if it is text`}
	case slices.Contains(Formats, kind):
		return drive(kind, src, s.Names)
	}
	return nil, &Error{Schema: SchemaFormat, File: s.Path, Reason: fmt.Sprintf("format must be one of %s", ends())}
}

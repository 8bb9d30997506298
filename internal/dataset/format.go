package dataset

import (
	"path/filepath"
	"slices"
	"strings"
)

// Format is how a file holds its table.
type Format string

// The formats that are read. Without a word for it the end of a file's name decides: .csv,
// .csv.gz, .parquet, .npy, .npz.
const (
	CSV     Format = "csv"
	CSVGzip Format = "csv.gz"
	Parquet Format = "parquet"
	NPY     Format = "npy"
	NPZ     Format = "npz"
)

// Formats lists the formats of files.
var Formats = []Format{CSV, CSVGzip, Parquet, NPY, NPZ}

// Text reports whether files of the format are text, of which a [Mapping] says how it is written.
func (f Format) Text() bool { return f == CSV || f == CSVGzip }

// Unnamed reports whether a format has no names for the columns of a matrix ([Source.Names]).
func (f Format) Unnamed() bool { return f == NPY || f == NPZ }

// FormatOf returns the format that a file's name says, or "".
func FormatOf(path string) Format {
	name := strings.ToLower(filepath.Base(path))
	// The longest end first: .csv.gz is no .gz of something else.
	for _, f := range slices.Backward(Formats) {
		if strings.HasSuffix(name, "."+string(f)) {
			return f
		}
	}
	return ""
}

// ends lists the ends of files' names.
func ends() string {
	var out []string
	for _, f := range Formats {
		out = append(out, "."+string(f))
	}
	return strings.Join(out, " ")
}

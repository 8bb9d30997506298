package dataset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"reflect"
	"strings"
	"testing"

	"covey/test/cost"
)

// pack returns the members as gzip writes them.
func pack(t testing.TB, members ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, text := range members {
		z := gzip.NewWriter(&out)
		z.Write([]byte(text))
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// What gzip packed is read as what it was, and pinned by the packed bytes.
func TestGzip(t *testing.T) {
	text := bigFile()
	plain, err := ReadCSV(write(t, text), ab, "", MissingError)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"one member": pack(t, text), "two, cut in a row": pack(t, text[:len(text)/2+1], text[len(text)/2+1:]), "mark": pack(t, "\xef\xbb\xbf"+text),
	} {
		path := cost.File(t, "data.csv.gz", content)
		r, err := Read(Source{Path: path}, Request{Columns: ab, Missing: MissingError}, ReadOptions{})
		if err != nil {
			t.Fatal(name, err)
		}
		if r.SHA256 != sha256.Sum256(content) {
			t.Errorf("%s: the pin is not of the packed bytes", name)
		}
		r.SHA256 = plain.SHA256
		if !reflect.DeepEqual(r, plain) {
			t.Errorf("%s: other rows", name)
		}
	}
}

func TestBadGzip(t *testing.T) {
	count := 0
	bad := pack(t, strings.Repeat("x", 1000)+",a,b\n1,2,3\n1,2,41.5x\n")
	good := pack(t, "a,b\n1,2\n3,4\n")
	flipped := bytes.Clone(good)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"empty":          {nil, "cannot be read: not gzip, cut off, or damaged"},
		"not gzip":       {[]byte("a,b\n1,2\n"), "cannot be read: not gzip, cut off, or damaged"},
		"cut off":        {good[:len(good)-9], "cannot be read: not gzip, cut off, or damaged"},
		"no trailer":     {pack(t, "a,b\n1,2\n")[:20], "cannot be read: not gzip, cut off, or damaged"},
		"checksum":       {flipped, "cannot be read: not gzip, cut off, or damaged"},
		"more follows":   {append(pack(t, "a,b\n1,2\n"), "a,b\n"...), "cannot be read: not gzip, cut off, or damaged"},
		"a bad value":    {bad, `line 3, column "b": not a number`},
		"an empty table": {pack(t, ""), "the file is empty"},
	} {
		count++
		path := cost.File(t, "data.csv.gz", c.content)
		r, err := Read(Source{Path: path}, Request{Columns: ab, Missing: MissingError}, ReadOptions{})
		if _, ok := errors.AsType[*Error](err); !ok || r != nil || err.Error() != path+": "+c.want {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	t.Logf("figure: %d bad inputs: compressed CSV files", count)
}

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]Format{"a.csv": CSV, "B.CSV": CSV, "d.csv/x.csv.gz": CSVGzip, "x.gz": "", "csv": "", "a.csv.bak": "", "": ""} {
		if got := FormatOf(path); got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
	path := cost.File(t, "data.txt", []byte("a,b\n1,2\n"))
	if _, err := Inspect(Source{Path: path}, "", ReadOptions{}); err == nil || !strings.Contains(err.Error(), "no format is given") {
		t.Error(err)
	}
	if _, err := Inspect(Source{Path: path, Format: "xls"}, "", ReadOptions{}); err == nil || !strings.Contains(err.Error(), "format must be one of") {
		t.Error(err)
	}
	if i, err := Inspect(Source{Path: path, Format: CSV}, "", ReadOptions{}); err != nil || i.Rows != 1 {
		t.Error(err)
	}
}

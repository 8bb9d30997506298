package npy

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/test/cost"
)

// The rows of an array are those that package dataset's test TestReadingsText reads from the same
// cells.
func TestReadings(t *testing.T) {
	q := dataset.Request{
		Columns:  []dataset.Column{{Name: "a", Scale: 1}, {Name: "b", Scale: 1}},
		Readings: []dataset.Reading{{Levels: []string{"1", "2.5", "-3"}}, {As: dataset.Boolean}},
		Missing:  dataset.MissingDropRow,
	}
	want := []float64{
		1, 0, 0, 0, 1,
		0, 1, 0, 0, 0,
		0, 0, 1, 0, 1,
		0, 0, 0, 1, 1, // 7
		0, 0, 0, 0, 0, // missing
		0, 0, 0, 1, 1, // an infinity is no level
		0, 0, 0, 0, 0, // 2 is no boolean
	}
	raw := doubles(1, 1, 2.5, 0, -3, 1, 7, 1, math.NaN(), 1, math.Inf(1), 1, 1, 2)
	s := dataset.Source{Path: cost.File(t, "x.npy", npy(header("'<f8'", "False", "(7, 2)"), raw)), Names: []string{"a", "b"}}
	for _, q.Precision = range []dataset.Precision{dataset.Float64, dataset.Float32} {
		r, err := dataset.Read(s, q, dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Values
		for _, v := range r.Values32 {
			got = append(got, float64(v))
		}
		if !slices.Equal(got, want) || r.D != 5 || !slices.Equal(r.Absent, []int{4, 6}) {
			t.Errorf("%s: %v, %v", q.Precision, got, r.Absent)
		}
	}
	q.Readings = []dataset.Reading{{}, {As: dataset.Days}}
	if _, err := dataset.Read(s, q, dataset.ReadOptions{}); err == nil || err.(*dataset.Error).Schema != dataset.SchemaFormat {
		t.Errorf("dates of a dtype of numbers: %v", err)
	}
}

// TestBooleans: booleans are read as text is, beside numbers; as numbers they are refused with what
// helps.
func TestBooleans(t *testing.T) {
	path := cost.File(t, "x.npz", npz(t, zip.Deflate, "a.npy", npy(header("'<f8'", "False", "(3,)"), doubles(1, 2, 3)), "b.npy", npy(header("'|b1'", "False", "(3,)"), []byte{1, 0, 1})))
	q := dataset.Request{
		Columns:  []dataset.Column{{Name: "a", Scale: 1}, {Name: "b", Scale: 1}},
		Readings: []dataset.Reading{{}, {As: dataset.Boolean}},
		Missing:  dataset.MissingError,
	}
	if r, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{}); err != nil || !slices.Equal(r.Values, []float64{1, 1, 2, 0, 3, 1}) {
		t.Errorf("%v, %v", r, err)
	}
	q.Readings[1] = dataset.Reading{Levels: []string{"true", "false"}}
	if r, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{}); err != nil || !slices.Equal(r.Values, []float64{1, 1, 0, 0, 2, 0, 1, 0, 3, 1, 0, 0}) {
		t.Errorf("%v, %v", r, err)
	}
	q.Readings = nil
	_, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{})
	if e, ok := errors.AsType[*dataset.Error](err); !ok || e.Schema != dataset.SchemaFormat || e.Column != "b" || !strings.Contains(e.Reason, `"boolean"`) {
		t.Errorf("as a number: %v", err)
	}
}

// TestUnitsOfBytes: a dtype of bytes may hold ids that are no text. Those that end with bytes of
// blanks are units of their own.
func TestUnitsOfBytes(t *testing.T) {
	ids := []byte("\x00\x01\x20\x00\x01\x09\x00\x01\x00p1 ")
	path := cost.File(t, "x.npz", npz(t, zip.Store, "a.npy", npy(header("'<f8'", "False", "(4,)"), doubles(1, 2, 3, 4)), "who.npy", npy(header("'|S3'", "False", "(4,)"), ids)))
	q := dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Unit: "who", Missing: dataset.MissingError}
	var got []string
	_, err := dataset.Stream(dataset.Source{Path: path}, q, dataset.ReadOptions{}, func(b dataset.Block) error {
		got = append(got, b.Units...)
		return nil
	})
	if want := []string{`\x000120`, `\x000109`, `\x0001`, "p1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, want %q; %v", got, want, err)
	}
}

// Names are of numbers that the array holds, too, and of the nearest that float32 has.
func TestNames(t *testing.T) {
	q := dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}, {Name: "b", Offset: 1, Scale: 2}}, Missing: dataset.MissingGaps}
	m := dataset.Mapping{Columns: map[string]dataset.From{
		"a": {Names: map[string]string{"99": "NA", "-0.1": "5"}},
		"b": {Multiply: 10, Names: map[string]string{"-0.1": "0.5", "0.5": "7"}},
	}}
	var narrow []byte
	for _, v := range []float32{99, -0.1, -0.1, 0.5, 2, 99} {
		narrow = binary.LittleEndian.AppendUint32(narrow, math.Float32bits(v))
	}
	for dtype, raw := range map[string][]byte{"'<f8'": doubles(99, -0.1, -0.1, 0.5, 2, 99), "'<f4'": narrow} {
		s := dataset.Source{Path: cost.File(t, "x.npy", npy(header(dtype, "False", "(3, 2)"), raw)), Names: []string{"a", "b"}, Mapping: m}
		r, err := dataset.Read(s, q, dataset.ReadOptions{})
		if want := []float64{0, 2, 5, 34.5, 2, 494.5}; err != nil || !slices.Equal(r.Values, want) || !slices.Equal(r.Gaps, []byte{1, 0, 0}) {
			t.Errorf("%s: %v, want %v; %v", dtype, r, want, err)
		}
	}
}

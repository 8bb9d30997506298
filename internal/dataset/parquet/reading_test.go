package parquet

import (
	"errors"
	"slices"
	"testing"
	"time"

	"covey/internal/dataset"
)

// The columns of a file of every type are read as levels, booleans and dates, or refused by their
// type, before a value is looked at.
func TestReadings(t *testing.T) {
	type row struct {
		Plain  string    `parquet:"plain"`
		Coded  string    `parquet:"coded,dict"`
		Gap    *string   `parquet:"gap,optional,dict"`
		Whole  int32     `parquet:"whole"`
		Yes    bool      `parquet:"yes"`
		Day    int32     `parquet:"day,date"`
		Time   time.Time `parquet:"time,timestamp(microsecond)"`
		Text   string    `parquet:"text"`
		Amount int64     `parquet:"amount,decimal(2:9)"`
		Number float64   `parquet:"number"`
		Nano   time.Time `parquet:"nano,timestamp(nanosecond)"`
		Nanos  int64     `parquet:"nanos,timestamp(nanosecond),dict"`
		Wide   [13]byte  `parquet:"wide,decimal(2:30)"`
		ID     [16]byte  `parquet:"id,uuid"`
	}
	e := "E"
	at := func(text string) time.Time {
		out, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	s := dataset.Source{Path: writeParquet(t, []row{
		{"E", "E", &e, 1, true, 10957, at("2000-01-02T23:59:59.999999Z"), "2000-01-01", 100, 1, at("2000-01-02T23:59:59.999999999Z"), 946857599999999999, [13]byte{1}, [16]byte{1}},
		{" E ", "F", nil, 2, false, 10956, at("1969-12-31T23:59:59Z"), "1999-12-31T10:00", 100, 2, at("1969-12-31T23:59:59.999999999Z"), -1, [13]byte{1}, [16]byte{1}},
		{"x", "x", &e, 3, true, -1 << 31, at("1970-01-01T00:00:00Z"), "9999-12-31", 100, 1, at("1970-01-01T00:00:00Z"), 0, [13]byte{1}, [16]byte{1}},
	})}
	levels, days := dataset.Reading{Levels: []string{"E", "1"}}, dataset.Reading{As: dataset.Days, Epoch: 10957}
	for _, c := range []struct {
		column  string
		reading dataset.Reading
		want    []float64 // nil: its type is refused
	}{
		{"plain", levels, []float64{1, 0, 0, 1, 0, 0, 0, 0, 1}},
		{"coded", levels, []float64{1, 0, 0, 0, 0, 1, 0, 0, 1}},
		{"gap", levels, []float64{1, 0, 0, 0, 0, 0, 1, 0, 0}},
		{"whole", levels, []float64{0, 1, 0, 0, 0, 1, 0, 0, 1}},
		{"number", levels, []float64{0, 1, 0, 0, 0, 1, 0, 1, 0}},
		{"yes", dataset.Reading{Levels: []string{"true"}}, []float64{1, 0, 0, 1, 1, 0}},
		{"yes", dataset.Reading{As: dataset.Boolean}, []float64{1, 0, 1}},
		{"whole", dataset.Reading{As: dataset.Boolean}, []float64{1, 0, 0}},
		{"day", days, []float64{0, -1, 0}}, // an infinite date is missing, as in text
		{"time", days, []float64{1, -10958, -10957}},
		{"nano", days, []float64{1, -10958, -10957}},
		{"nanos", days, []float64{1, -10958, -10957}},
		{"text", days, []float64{0, -1, 2932896 - 10957}},
		{"whole", days, nil},
		{"number", days, nil},
		{"amount", levels, nil},
		{"wide", levels, nil},
		{"wide", days, nil},
		{"id", levels, nil},
		{"day", levels, nil},
		{"plain", dataset.Reading{}, nil},
		{"yes", dataset.Reading{}, nil},
	} {
		q := dataset.Request{Columns: []dataset.Column{{Name: c.column, Scale: 1}}, Readings: []dataset.Reading{c.reading}, Missing: dataset.MissingDropRow}
		r, err := dataset.Read(s, q, dataset.ReadOptions{})
		if c.want == nil {
			if bad, ok := errors.AsType[*dataset.Error](err); !ok || bad.Schema != dataset.SchemaFormat || bad.Value {
				t.Errorf("%s as %v: %v", c.column, c.reading, err)
			}
			continue
		}
		if err != nil || !slices.Equal(r.Values, c.want) {
			t.Errorf("%s as %v: %v, %v, want %v", c.column, c.reading, r, err, c.want)
		}
	}
}

// A level is written as its number is, whatever type holds it.
func TestLevelsOfFloats(t *testing.T) {
	type row struct {
		Single float32 `parquet:"single"`
		Double float64 `parquet:"double"`
	}
	s := dataset.Source{Path: writeParquet(t, []row{{0.1, 1234567}, {1000000, 0.1}, {1234567, 1000000}})}
	for column, want := range map[string][]float64{"single": {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, "double": {0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0}} {
		q := dataset.Request{Columns: []dataset.Column{{Name: column, Scale: 1}}, Readings: []dataset.Reading{{Levels: []string{"0.1", "1000000", "1234567"}}}, Missing: dataset.MissingError}
		if r, err := dataset.Read(s, q, dataset.ReadOptions{}); err != nil || !slices.Equal(r.Values, want) {
			t.Errorf("%s: %v, %v, want %v", column, r.Values, err, want)
		}
	}
}

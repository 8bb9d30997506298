package result

import (
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestShortEntriesTakeNoMemory: a list of many entries of a few bytes is refused before one is
// made, in a draft and in a file.
func TestShortEntriesTakeNoMemory(t *testing.T) {
	const n = 1 << 16
	lists := 0
	for field := range fields() {
		if of := field.Type; of.Kind() != reflect.Slice || of.Elem().Kind() != reflect.Struct {
			continue
		}
		lists++
		for _, entry := range []string{"{}", "null", `{"pair":[]}`, `{"x":"]}\",["}`} {
			text := `{"` + keyOf(field) + `":[` + strings.Repeat(entry+",", n) + entry + `]}`
			if field.Name != "Releases" { // a file's are read one after another
				if used := allocates(func() { parse(strings.NewReader(text), nil) }); used > 8*len(text) {
					t.Errorf("a file of %d bytes with %s of %s: %d bytes are allocated", len(text), keyOf(field), entry, used)
				}
			}
			if used := allocates(func() { Draft(text).parse() }); used > 2*len(text) {
				t.Errorf("a draft of %d bytes with %s of %s: %d bytes are allocated", len(text), keyOf(field), entry, used)
			}
		}
	}
	if lists != 4 {
		t.Errorf("%d lists", lists)
	}
}

// allocates returns how many bytes f allocates.
func allocates(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// TestEntriesComeBack, also those of empty lists, texts with commas and brackets, and none.
func TestEntriesComeBack(t *testing.T) {
	for _, want := range []entries[Picture]{nil, {}, {{}}, make(entries[Picture], 100),
		{{X: []float64{}, Y: []float64{}, Counts: [][]float64{}}, {By: `a,"b\`, Groups: []string{"],[", "{"}, Counts: [][]float64{{1, 2}, nil}}}} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got entries[Picture]
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s comes back as %v: %v", text, got, err)
		}
	}
	var short entries[LeftOut]
	if err := json.Unmarshal([]byte(`[`+strings.Repeat("{},", 99)+`{}]`), &short); err == nil || short != nil {
		t.Errorf("%d entries: %v", len(short), err)
	}
}

// TestKeysInAnyOrder: few keys may come in another order than they are written in, and with spaces
// between. Of many, whose order is that of columns, none is held to be looked for later.
func TestKeysInAnyOrder(t *testing.T) {
	for _, c := range []struct {
		entry string
		n     int
		why   string
	}{
		{`{"column":"a","why":"b"}`, maxKeys, ""},
		{`{"column" : "a", "why" : "b" }`, maxKeys, ""},
		{`{"why":"b","column":"a"}`, maxKeys / 4, ""},
		{`{"why":"b","column":"a"}`, maxKeys, "left_out_.0.why: is not what a result has there"},
		{`{"why":"b","column":"a","why":"c"}`, 1, "left_out_.0.why: appears twice"},
		{`{"column":"a","why":"b","why":"c"}`, 1, "left_out_.0.why: appears twice"},
		{`{"column":"a","whi":"b","why":"c"}`, 1, "left_out_.0.whi: is not a key of a result"},
		{`{"column":"a long column"}`, 1, "left_out_.0.why: is missing"},
		{`{"why":"a long reason"}`, 1, "left_out_.0.column: is missing"},
	} {
		var out entries[LeftOut]
		text := `[` + strings.Repeat(c.entry+",", c.n-1) + c.entry + `]`
		err := json.Unmarshal([]byte(text), &element{key: "left_out_", to: reflect.ValueOf(&out).Elem()})
		if err == nil && c.why == "" && len(out) == c.n {
			continue
		}
		if bad, ok := errors.AsType[*VerifyError](err); !ok || c.why == "" || bad.What+": "+bad.Reason != c.why {
			t.Errorf("%d of %s: %v", c.n, c.entry, err)
		}
	}
}

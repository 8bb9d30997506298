package result

import (
	"encoding/json"
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

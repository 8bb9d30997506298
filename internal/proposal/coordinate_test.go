package proposal

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// mixed is a spec of a number, a column with levels, a boolean and a date.
func mixed(t testing.TB) Spec {
	t.Helper()
	spec, err := ParseSpec([]byte(`
name = "mixed"
dataset = "stones"
epsilon = 1
delta = 1e-6
noise = "distributed"
components = 2

[[columns]]
name = "carat"
offset = 0.8
scale = 0.5

[[columns]]
name = "color"
levels = ["E", "F g", "12"]

[[columns]]
name = "sold"
as = "boolean"
scale = 1

[[columns]]
name = "since"
as = "days since 2000-01-01"
offset = 3000
scale = 1000
`))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestCoordinates(t *testing.T) {
	var names []string
	spec := mixed(t)
	for _, c := range spec.Coordinates() {
		names = append(names, c.Name)
		column := spec.Columns[c.Column]
		if (c.Level >= 0) != (len(column.Levels) > 0) || c.Gap || !strings.HasPrefix(c.Name, column.Name) {
			t.Errorf("%+v", c)
		}
	}
	want := []string{"carat", "color=E", "color=F g", "color=12", "color=other", "sold", "since"}
	if !slices.Equal(names, want) || spec.Width() != len(want) {
		t.Errorf("%d: %q", spec.Width(), names)
	}
}

func TestLevelsRefused(t *testing.T) {
	many := make([]string, MaxLevels+1)
	for i := range many {
		many[i] = strings.Repeat("x", i+1)
	}
	for name, c := range map[string]struct {
		column Column
		why    string
	}{
		"none":          {Column{Levels: []string{}}, "1 to 64"},
		"too many":      {Column{Levels: many}, "1 to 64"},
		"twice":         {Column{Levels: []string{"a", "b", "a"}}, "twice"},
		"empty":         {Column{Levels: []string{""}}, "must be given"},
		"spaces":        {Column{Levels: []string{" a"}}, "spaces"},
		"tab":           {Column{Levels: []string{"a\t"}}, "unprintable"},
		"bidi":          {Column{Levels: []string{"a\u202eb"}}, "unprintable"},
		"missing":       {Column{Levels: []string{"NA"}}, "missing"},
		"nan":           {Column{Levels: []string{"NaN"}}, "missing"},
		"other":         {Column{Levels: []string{"other"}}, "stands for"},
		"offset":        {Column{Levels: []string{"a"}, Offset: 1}, "offset and scale"},
		"scale":         {Column{Levels: []string{"a"}, Scale: 2}, "offset and scale"},
		"levels as":     {Column{Levels: []string{"a"}, As: AsBoolean}, "used with as"},
		"as":            {Column{As: "date"}, "days since"},
		"no such day":   {Column{As: "days since 2023-02-29"}, "days since"},
		"name of level": {Column{Levels: []string{"a"}}, "and of a column's level"},
	} {
		spec := mixed(t)
		c.column.Name = "x"
		spec.Columns = append(spec.Columns, c.column, Column{Name: "x=a", Scale: 1})
		err := spec.resolve()
		if bad, ok := errors.AsType[*FieldError](err); !ok || !strings.HasPrefix(bad.Field, "columns[") || !strings.Contains(bad.Reason, c.why) {
			t.Errorf("%s: %v", name, err)
		}
	}
	spec := mixed(t)
	spec.Columns = spec.Columns[:1]
	for i := range MaxColumns / 4 { // 4 coordinates each
		spec.Columns = append(spec.Columns, Column{Name: strings.Repeat("c", 1+i%150) + string(rune('0'+i/150%10)) + string(rune('a'+i/1500)), Levels: []string{"a", "b", "c"}})
	}
	if err := spec.resolve(); err == nil || !strings.Contains(err.Error(), "each level counted") {
		t.Errorf("%.300v", err)
	}
}

package dataset

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestNear: names that differ from one in case, signs, an ending or a letter are like it, and
// numbers are like nothing.
func TestNear(t *testing.T) {
	for name, c := range map[string]struct{ names, want []string }{
		"age":        {[]string{"sex", "Age (years)", "AGE", "stage", "12"}, []string{"AGE", "Age (years)"}},
		"creatinine": {[]string{"Kreatinin", "creatinin", "Creatinine [mg/dL]", "crea"}, []string{"creatinin", "Creatinine [mg/dL]", "crea"}},
		"weight_kg":  {[]string{"weightkg", "weight", "height_kg"}, []string{"weightkg", "weight"}},
		"c12":        {[]string{"12", "12.5", "c13"}, nil},
		"120":        {[]string{"1203", "12"}, nil},
		"ab":         {[]string{"ac", "abc", "A B"}, []string{"A B"}},
		"name":       {[]string{"na\x1bme", strings.Repeat("name", 60)}, nil},
	} {
		if got := Near(name, c.names); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestNearIsNotInTheMessage: what a header has is for the operator's terminal, since messages go
// into logs.
func TestNearIsNotInTheMessage(t *testing.T) {
	_, err := ReadCSV(write(t, "a,Weight (kg)\n1,2\n"), []Column{{"a", 0, 1}, {"weight", 0, 1}}, "", MissingError)
	e, ok := errors.AsType[*Error](err)
	if !ok || !slices.Equal(e.Near, []string{"Weight (kg)"}) || strings.Contains(e.Error(), "kg") {
		t.Errorf("%v, %+v", err, e)
	}
	if _, err := ReadCSV(write(t, "a,b\n1,\n"), ab, "", MissingError); err == nil || !err.(*Error).Missing() {
		t.Errorf("%v is no missing value", err)
	}
}

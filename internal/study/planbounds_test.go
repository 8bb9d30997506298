package study

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestPlanBounds: what each line asks for fits no plan over this roster, and the error names it.
func TestPlanBounds(t *testing.T) {
	for _, c := range []struct {
		line  string
		units int
		want  string
	}{
		{"method = \"power\"\nalpha = 1e-3", 1000, "alpha: gives "},
		{fmt.Sprint("spare_slots = ", proposal.MaxSlots), 1000, "spare_slots: "},
		{"radius = \"paper\"\nlambda = 1e60", 1000, "lambda: gives a radius outside"},
		{"center = \"pairs\"", 1, "center: \"pairs\" needs two units"},
	} {
		text := texts.Minimal
		if strings.HasPrefix(c.line, "center") {
			text = strings.Replace(text, "center = \"public\"\n", "", 1)
		}
		_, err := plan(t, strings.Replace(text, "[[columns]]", c.line+"\n[[columns]]", 1), c.units, c.units, c.units)
		if _, ok := errors.AsType[*proposal.FieldError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.line, err, c.want)
		}
	}
}

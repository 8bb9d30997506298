package profile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestNoHeaderLine: of a file without a header line the first record is a person's, and nothing of
// it is in a report, with a study or without one.
func TestNoHeaderLine(t *testing.T) {
	var text strings.Builder
	for i := range 80 {
		fmt.Fprintf(&text, "Canary%d,%d.77%03d,canary sex,2024-01-%02d\n", i, 40+i%20, i, 1+i%28)
	}
	spec := &proposal.Spec{Dataset: "icu", Missing: proposal.MissingError, Columns: []proposal.Column{{Name: "canary_sex", Levels: []string{"f"}}, {Name: "age", Scale: 1}}}
	for _, s := range []*proposal.Spec{nil, spec} {
		for _, keys := range []string{"", "unit = \"Canary\"\n"} {
			r := profiled(t, text.String(), keys, s)
			said, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			all := string(said)
			for _, own := range []string{"Canary0", "40.77", "2024-01-01"} {
				if strings.Contains(all, own) {
					t.Errorf("study %t, %q: %s is in %s", s != nil, keys, own, all)
				}
			}
			if !strings.Contains(all, "is there a header line?") {
				t.Errorf("study %t: no word of it: %s", s != nil, all)
			}
		}
	}
	// A header of names shows them.
	if said, _ := json.Marshal(profiled(t, "age,sex\n1,f\n", "", nil)); !strings.Contains(string(said), `"age"`) || strings.Contains(string(said), "header line?") {
		t.Errorf("%s", said)
	}
}

package proposal

import (
	"strings"
	"testing"
)

// TestNumbersThatPeopleRead: a radius, a norm bound or Λ is shown as its text, so that a number is
// a few decimal digits, and a refusal repeats few of the proposer's letters.
func TestNumbersThatPeopleRead(t *testing.T) {
	head := "name = \"n\"\ndataset = \"d\"\nepsilon = 1.0\ndelta = 1e-6\ncolumns = [{ name = \"a\", scale = 1 }, { name = \"b\", scale = 1 }]\n"
	keys := map[string]string{
		"radius": `method = "power"`, "norm_bound": `method = "covariance"`, "lambda": "method = \"power\"\nradius = \"paper\"",
	}
	for key, beside := range keys {
		for value, ok := range map[string]bool{
			"2.5": true, `"2.5"`: true, "25e-1": true, "+3": true, "0.30000000000000004": true,
			`"0x1p3"`: false, `"0x_1p+2"`: false, `"inf"`: false, "nan": false, `" 5 "`: false, `"1e400"`: false,
			`"5.` + strings.Repeat("0", 40) + `"`: false, `"` + strings.Repeat("9", 100_000) + `"`: false, `"` + strings.Repeat("x", 100_000) + `"`: false,
		} {
			switch _, err := ParseSpec([]byte(head + beside + "\n" + key + " = " + value)); {
			case (err == nil) != ok:
				t.Errorf("%s = %.60s: %.300v", key, value, err)
			case err != nil && len(err.Error()) > 300:
				t.Errorf("%s: a refusal of %d bytes", key, len(err.Error()))
			}
		}
	}
	for _, key := range []string{"profile", "noise", "method", "rows", "on_dropout", "standardize", "expires", "picture_by"} {
		if _, err := ParseSpec([]byte(head + key + ` = "` + strings.Repeat("x", 100_000) + `"`)); err == nil || len(err.Error()) > 300 {
			t.Errorf("%s: %.300v", key, err)
		}
	}
}

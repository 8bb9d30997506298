package result

import (
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestKeysOfOthersArePrintable: a key of a file that somebody else wrote is named in an error as a
// terminal can take it.
func TestKeysOfOthersArePrintable(t *testing.T) {
	const foreign = `a\u001b[2K\nb`
	_, result := parse(strings.NewReader(`{"`+foreign+`": 1}`), nil)
	_, asked := proposal.Parse([]byte(`"` + foreign + `" = 1`))
	_, inner := proposal.Parse([]byte("[study.\"" + foreign + "\"]\n"))
	for _, err := range []error{result, asked, inner} {
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") || !strings.Contains(err.Error(), `\nb`) {
			t.Errorf("%q", err)
		}
	}
}

package profile

import (
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// TestQuotedTextsReadBack: a pasted line names the very text that is in the file, also what no
// terminal shows.
func TestQuotedTextsReadBack(t *testing.T) {
	for _, text := range []string{"Größe\n[m]", "Größe\u00a0cm", `a "b" \c`, "tab\there", "\u200e\U000e0041", ""} {
		var got struct{ From string }
		if err := toml.Unmarshal([]byte("from = "+quote(text)), &got); err != nil || got.From != text {
			t.Errorf("%q is pasted as %s: %q, %v", text, quote(text), got.From, err)
		}
	}
}

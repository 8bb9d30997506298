package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/siteconfig"
	"covey/test/must"
)

// TestOneFileTwoBudgets: one file's rows in two populations are warned of, whatever the file is
// called there; in one population they are not.
func TestOneFileTwoBudgets(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "copy.csv"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("x,y\n1,2\n3,4\n"), 0o600))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "other.csv"), []byte("x,y\n1,2\n3,5\n"), 0o600))
	for second, want := range map[string]string{"people": "", "fresh": `its rows are those of data set "a", whose budget is that of "people"`} {
		config, err := siteconfig.Parse([]byte(`site = "alpha"
coordinator = ["127.0.0.1:7443"]
[[population]]
name = "people"
cap_rho = 0.1
[[population]]
name = "fresh"
cap_rho = 0.1
[[dataset]]
name = "a"
path = "a.csv"
population = "people"
[[dataset]]
name = "other"
path = "other.csv"
population = "fresh"
[[dataset]]
name = "b"
path = "copy.csv"
population = "`+second+`"
`), filepath.Join(dir, siteconfig.File))
		must.Do(t, err)
		said := ""
		for _, f := range Local(config) {
			if f.Warning {
				said += f.Check + ": " + f.Result + "\n"
			}
			if f.Err != nil {
				t.Errorf("%s: %v", f.Check, f.Err)
			}
		}
		if want == "" && said != "" || want != "" && !strings.Contains(said, "data set b: "+want) {
			t.Errorf("b in %q: %s", second, said)
		}
	}
}

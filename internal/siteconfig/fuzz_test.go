package siteconfig

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// FuzzConfig: an agent.toml is a typed error that names the file, or a configuration that says the
// same when it is written and read again.
func FuzzConfig(f *testing.F) {
	base := "site = \"alpha\"\ncoordinator = [\"a.example:7443\"]\n[[population]]\nname = \"p\"\nbudget = { epsilon = 1.3, delta = 1e-6 }\n" +
		"[[dataset]]\nname = \"rows\"\npath = \"rows.csv\"\npopulation = \"p\"\n"
	f.Add([]byte(base + "[policy]\napprove = \"within-limits\"\nmax_epsilon = 1.0\nmax_delta = 1e-5\npeers = { beta = \"abcd-efgh-ijkl-mnop-qrst-uvwx\" }\nnoise = [\"central\", \"distributed\"]\n"))
	f.Add([]byte(base + "[policy]\napprove = \"ask\"\nnoise = [\"distributed\"]\n"))
	f.Add([]byte(strings.Replace(base, "path = \"rows.csv\"", "dsn_env = \"X\"\nquery = \"SELECT 1\"\nquery_timeout = \"5s\"", 1)))
	f.Add([]byte(base + "separator = \"tab\"\nmissing_values = [\"-9\"]\n[dataset.columns]\nage = \"Alter\"\nsex = { from = \"s\", names = { w = \"F\" } }\nheight = { multiply = 100, add = -1e3 }\n"))
	f.Add([]byte(base + "dates = \"MM/DD/YYYY\"\n[dataset.columns]\nadmitted = { from = \"a\", dates = \"DD.MM.YYYY\" }\n"))
	f.Add([]byte("cap_rho = nan\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text, "/site/agent.toml")
		if err != nil {
			if e, ok := errors.AsType[*Error](err); !ok || e.File != "/site/agent.toml" || e.Reason == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		written, err := toml.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(written, "/site/agent.toml")
		if err != nil {
			t.Fatalf("%s\n%v", written, err)
		}
		if twice, err := toml.Marshal(again); err != nil || !bytes.Equal(twice, written) {
			t.Fatalf("%s\nis written again as\n%s (%v)", written, twice, err)
		}
		for _, p := range c.Populations {
			if rho, err := p.Cap(); err != nil || !(rho >= 0) {
				t.Fatalf("a cap of %v, %v", rho, err)
			}
		}
	})
}

package analyst

import (
	"strings"
	"testing"
	"time"

	"covey/internal/pki"
)

func TestConfig(t *testing.T) {
	good, err := sample(pki.Join{Analyst: "ada", Coordinator: []string{"one.example:7443", "[::1]:7443"}, Expires: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := parseConfig(append([]byte("\ufeff"), good...), File)
	if err != nil || c.Analyst != "ada" || len(c.Coordinator) != 2 || c.Coordinator[1] != "[::1]:7443" {
		t.Errorf("%+v, %v", c, err)
	}
	for name, bad := range map[string]struct{ old, with, says string }{
		"unknown key": {"analyst =", "analist =", `did you mean "analyst"?`},
		"no TOML":     {"analyst =", "analyst", "is not TOML"},
		"no name":     {`"ada"`, `"Ada L."`, "line 3: analyst: must be the name"},
		"no port":     {"one.example:7443", "one.example", "coordinator[0]: \"one.example\": must be host:port"},
		"nobody":      {`"one.example:7443", "[::1]:7443"`, "", "must be 1 to 16 addresses, got 0"},
		"too many":    {`"[::1]:7443"`, strings.Repeat(`"a:1", `, 16), "got 17"},
		"too long":    {"\n\nanalyst", "\n" + strings.Repeat("#", maxConfig) + "\nanalyst", "is longer than"},
	} {
		text := strings.Replace(string(good), bad.old, bad.with, 1)
		if text == string(good) {
			t.Fatalf("%s: nothing is replaced", name)
		}
		if _, err := parseConfig([]byte(text), File); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzConfig: no text makes the reader panic, and what it takes can be used.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("analyst = \"ada\"\ncoordinator = [\"one.example:7443\"]\n"))
	f.Add([]byte("analyst = 1\ncoordinator = [[\"a\"]]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseConfig(text, File)
		if err == nil && (pki.ValidName(c.Analyst) != nil || len(c.Coordinator) == 0 || len(c.Coordinator) > maxAddresses) {
			t.Errorf("%+v is taken", c)
		}
	})
}

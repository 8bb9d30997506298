package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"covey/internal/siteconfig"
)

// TestFirstHour counts the commands of testdata/script/firsthour.txtar that a site's operator
// types, which TestScript runs: at most five, and no file is edited but agent.toml.
func TestFirstHour(t *testing.T) {
	text, err := os.ReadFile("testdata/script/firsthour.txtar")
	if err != nil {
		t.Fatal(err)
	}
	script, _, _ := strings.Cut(string(text), "\n-- ")
	_, north, ok := strings.Cut(script, "# North begins here.")
	if !ok {
		t.Fatal("no beginning")
	}
	if commands := regexp.MustCompile(`(?m)^(?:exec|poll .*?|code \d) agent `).FindAllString(north, -1); len(commands) > 5 || len(commands) < 4 {
		t.Errorf("%d commands: %q", len(commands), commands)
	}
	for _, edit := range regexp.MustCompile(`(?m)^(?:append|sub|cp|mv|rm) (\S+)`).FindAllStringSubmatch(north, -1) {
		if edit[1] != "north/agent.toml" {
			t.Errorf("%s is edited", edit[1])
		}
	}
}

// others is "others SITE…": the sites join with their join files, and get the data of SITE.csv and
// a policy that approves.
func others(ts *testscript.TestScript, neg bool, args []string) {
	peers, err := siteconfig.PeersIn(ts.MkAbs("."), append(args, "north")...)
	ts.Check(err)
	var listed []string
	for name, key := range peers {
		listed = append(listed, fmt.Sprintf("%s = %q", name, key))
	}
	for _, site := range args {
		ts.Check(ts.Exec("agent", "join", site+".join"))
		path := ts.MkAbs(filepath.Join(site, "agent.toml"))
		old := ts.ReadFile(path)
		text := strings.Replace(old, `approve = "ask"`, "approve = \"within-limits\"\nmax_epsilon = 1.0\nmax_delta = 1e-6\nmin_sites = 3\n"+
			"noise = [\"central\", \"distributed\"]\npeers = { "+strings.Join(listed, ", ")+" }\n#", 1)
		text += fmt.Sprintf("\n[[population]]\nname = \"p\"\ncap_rho = 1.0\n[[dataset]]\nname = \"weights\"\npath = \"../%s.csv\"\npopulation = \"p\"\n", site)
		ts.Check(os.WriteFile(path, []byte(text), 0o600))
	}
}

package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/node"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// TestSamples: every configuration in deploy/ is one that the commands take.
func TestSamples(t *testing.T) {
	count := map[string]int{}
	err := filepath.WalkDir("../../deploy", func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".toml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := e.Name()
		count[name]++
		switch name {
		case "agent.toml", "policy.toml":
			c, err := siteconfig.Read(path)
			if err != nil {
				t.Error(err)
			} else if len(c.Datasets) == 0 || len(c.Coordinator) != 3 {
				t.Errorf("%s: %d data sets, %d coordinators", path, len(c.Datasets), len(c.Coordinator))
			}
			// A sample says what it is about, and no more than it says.
			if _, err := siteconfig.Parse(append(text, "\n[polcy]\n"...), path); err == nil {
				t.Errorf("%s: an unknown key is taken", path)
			}
		case "study.toml":
			s, err := proposal.ParseSpec(text)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			} else if s.Name == "" || len(s.Columns) < 5 {
				t.Errorf("%s: %q over %d columns", path, s.Name, len(s.Columns))
			}
		case "coordinator.toml":
			if _, err := node.ReadConfig(filepath.Dir(path)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		default:
			t.Errorf("%s: no test reads it", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count["agent.toml"] < 7 || count["study.toml"] < 2 || count["coordinator.toml"] < 1 || count["policy.toml"] < 1 {
		t.Errorf("found %v", count)
	}
}

// TestDocumentsNameFiles: what the pages about running Covey call by path is there.
func TestDocumentsNameFiles(t *testing.T) {
	for _, page := range []string{"../../docs/operations.md", "../../docs/firewall.md", "../../deploy/systemd/README.md", "../../deploy/compose/README.md", "../../deploy/kubernetes/example/README.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" \n`()|\",;", r) }) {
			if path := strings.TrimSuffix(word, "."); strings.HasPrefix(path, "deploy/") && !strings.HasPrefix(path, "deploy/bin") {
				if _, err := os.Stat("../../" + path); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			}
		}
	}
}

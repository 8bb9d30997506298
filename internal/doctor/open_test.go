package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestOpenToOthers: what others of the machine may change is named, each once, and fails nothing.
func TestOpenToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	for name, c := range map[string]struct {
		file   string // below agent.toml's folder
		mode   fs.FileMode
		warned int
	}{
		"closed":              {".", 0o700, 0},
		"read by all":         {".", 0o755, 0},
		"a group's":           {".", 0o770, 0},
		"everybody's":         {".", 0o777, 1},
		"like /tmp":           {".", 0o777 | fs.ModeSticky, 0},
		"the configuration":   {"agent.toml", 0o646, 1},
		"a group's, in part":  {"agent.toml", 0o660, 1}, // which is not read again
		"everybody's, twice":  {"agent.toml", 0o666, 1},
		"the data folder":     {"data", 0o707, 1},
		"the ledger":          {"data/ledger", 0o722, 1},
		"a ledger to be read": {"data/ledger", 0o755, 0},
	} {
		t.Run(name, func(t *testing.T) {
			config := messySite(t, "icu.csv", "age\n1\n", "")
			config.Data = "data"
			if err := os.MkdirAll(config.LedgerDir(), 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(filepath.Dir(config.File()), c.file)
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			warned := 0
			for _, f := range Check(t.Context(), config, time.Now()) {
				if f.Code != CheckFolder {
					continue
				}
				if !f.OK || f.Warning == (f.Do == "") {
					t.Errorf("%+v", f)
				}
				if f.Warning {
					warned++
				}
			}
			if warned != c.warned {
				t.Errorf("%d warnings, want %d", warned, c.warned)
			}
		})
	}
}

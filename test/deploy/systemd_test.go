//go:build deploy && linux

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSystemd: systemd finds no fault with the units, and its own score of what a service
// could still do stays low.
func TestSystemd(t *testing.T) {
	const most = 1.6 // "OK" begins at 2.0 and "safe" ends at 1.0
	dir := t.TempDir()
	for _, name := range []string{"coordinator", "agent"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, unit := range map[string]string{"covey-coordinator.service": "covey-coordinator.service", "covey-agent@.service": "covey-agent@north.service"} {
		text, err := os.ReadFile("../../deploy/systemd/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(file, "covey-agent") && !strings.Contains(string(text), "\nMemoryMax=") {
			t.Errorf("%s: no MemoryMax, which docs/data.md promises", file)
		}
		for _, want := range []string{"LimitCORE=0", "LimitMEMLOCK=infinity", "MemorySwapMax=0"} {
			if !strings.Contains(string(text), "\n"+want+"\n") {
				t.Errorf("%s: no %s, which docs/threat-model.md promises", file, want)
			}
		}
		// Of these two ends systemd restarts nothing that restarts on failure.
		if want := "\nRestartForceExitStatus=SIGHUP SIGPIPE\n"; !strings.Contains(string(text), want) {
			t.Errorf("%s: no %s", file, strings.TrimSpace(want))
		}
		// verify wants the command to be there.
		path := filepath.Join(dir, unit)
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "/usr/local/lib/covey", dir)), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", path).CombinedOutput()
		if err != nil || strings.Contains(string(out), unit) {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
		out, err = exec.Command("systemd-analyze", "security", "--offline=yes", "--no-pager", path).CombinedOutput()
		score := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindSubmatch(out)
		if err != nil || score == nil {
			t.Fatalf("%s: %v\n%s", file, err, out)
		}
		if s, err := strconv.ParseFloat(string(score[1]), 64); err != nil || s > most {
			t.Errorf("%s: exposure %s, at most %v\n%s", file, score[1], most, out)
		} else {
			t.Logf("%s: exposure %v of 10", file, s)
		}
	}
}

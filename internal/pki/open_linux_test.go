package pki

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The child process of TestReadOnlyIsNotOpen finds its folder in its environment.
const readOnlyDir = "COVEY_TEST_READ_ONLY_DIR"

// TestReadOnlyIsNotOpen: the root of a cluster's configuration has mode 0777, and nobody can write
// there. The test runs itself once more where such a folder is mounted.
func TestReadOnlyIsNotOpen(t *testing.T) {
	if dir := os.Getenv(readOnlyDir); dir != "" {
		for _, path := range []string{dir, filepath.Join(dir, "agent.toml")} {
			if mode, open := OpenToOthers(path); open || mode&0o002 == 0 {
				t.Errorf("%s of mode %04o: open is %v", path, mode, open)
			}
		}
		return
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "agent.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o777, file: 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if got, open := OpenToOthers(path); !open || got != mode {
			t.Errorf("%s of mode %04o: open is %v", path, got, open)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const mount = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"`
	if out, err := exec.Command("unshare", "--mount", "sh", "-c", mount, dir).CombinedOutput(); err != nil {
		t.Skipf("no folder can be mounted here (%v: %s): run this as root", err, out)
	}
	c := exec.Command("unshare", "--mount", "sh", "-c", mount+` && exec "$@"`, dir, self, "-test.run=^TestReadOnlyIsNotOpen$")
	c.Env = append(os.Environ(), readOnlyDir+"="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

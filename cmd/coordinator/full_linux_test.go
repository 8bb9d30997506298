package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fullDir is in the environment of TestSecretWithoutRoom's child process.
const fullDir = "COVEY_TEST_FULL_DIR"

// TestSecretWithoutRoom: nothing is asked of the coordinator for a file that its disk has no room
// for, and no file is left; with room the file has the secret and nothing else. It needs the right
// to mount a tmpfs, as root has.
func TestSecretWithoutRoom(t *testing.T) {
	if dir := os.Getenv(fullDir); dir != "" {
		ballast := filepath.Join(dir, "ballast")
		for _, full := range []bool{true, false} {
			asked, room := false, 0
			if full {
				room = 252 << 10
			}
			if err := os.WriteFile(ballast, make([]byte, room), 0o600); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, "north.join")
			err := saveSecret(out, func() ([]byte, error) { asked = true; return []byte("secret\n"), nil })
			text, missing := os.ReadFile(out)
			if full && (asked || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "nothing was made") || !errors.Is(missing, os.ErrNotExist)) {
				t.Errorf("on a full disk: asked %v, %v, %v", asked, err, missing)
			}
			if !full && (err != nil || string(text) != "secret\n") {
				t.Errorf("with room: %q, %v", text, err)
			}
		}
		t.Log("the disk was full")
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const mount = `mount -t tmpfs -o size=256k tmpfs "$0"`
	if out, err := exec.Command("unshare", "--mount", "sh", "-c", mount, dir).CombinedOutput(); err != nil {
		t.Logf("NOT TESTED: no tmpfs can be mounted here (%v: %s). Run this as root.", err, bytes.TrimSpace(out))
		return
	}
	c := exec.Command("unshare", "--mount", "sh", "-c", mount+` && exec "$@"`, dir, self, "-test.run=^TestSecretWithoutRoom$", "-test.v")
	c.Env = append(os.Environ(), fullDir+"="+dir)
	if out, err := c.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("the disk was full")) {
		t.Errorf("%v\n%s", err, out)
	}
}

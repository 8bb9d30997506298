//go:build deploy && linux

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/node"
)

// TestFirstStart: the init containers' command makes a folder on the first start and does
// nothing on the second, with the flags of the example; a coordinator whose join file is
// not there yet makes nothing.
func TestFirstStart(t *testing.T) {
	bin := buildBinaries(t, "1.0.0")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	once := func(dir, name string) (string, error) {
		out, err := exec.Command("once", filepath.Join(dir, "coordinator.toml"), "coordinator", "init", dir,
			"@../../deploy/kubernetes/example/federation/"+name).CombinedOutput()
		return string(out), err
	}
	dir := t.TempDir()
	if out, err := once(dir, "coordinator-0"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	first, err := node.ReadConfig(dir)
	if err != nil || first.Name != "coordinator-0" || first.Addresses[0] != "covey-0.example:7443" || first.PeerAddress != "coordinator-0.coordinators.covey.svc:7444" {
		t.Errorf("%+v %v", first, err)
	}
	if out, err := once(dir, "coordinator-0"); err != nil || !strings.Contains(out, "nothing to do") {
		t.Errorf("the second start: %v\n%s", err, out)
	}
	for _, name := range []string{"coordinator-1", "coordinator-2"} {
		dir := t.TempDir()
		out, err := once(dir, name)
		if err == nil || !strings.Contains(out, "open /join/"+name+".join: no such file") {
			t.Errorf("%s without its join file: %v\n%s", name, err, out)
		}
		if made, err := os.ReadDir(dir); err != nil || len(made) > 0 {
			t.Errorf("%s made %v %v", name, made, err)
		}
	}
}

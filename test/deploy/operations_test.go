//go:build deploy && linux

package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shell runs a line of docs/operations.md.
func (f *federation) shell(line string, args ...any) {
	f.t.Helper()
	if out, err := exec.Command("sh", "-ec", fmt.Sprintf(line, args...)).CombinedOutput(); err != nil {
		f.t.Fatalf("%s: %v\n%s", fmt.Sprintf(line, args...), err, out)
	}
}

// spentRho adds up what an export of a ledger says was spent.
func spentRho(t *testing.T, export string) (sum float64) {
	t.Helper()
	text, err := os.ReadFile(export)
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		Populations []struct {
			Spent float64 `json:"spent_rho"`
		} `json:"populations"`
	}
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	for _, p := range e.Populations {
		sum += p.Spent
	}
	return sum
}

// TestOperations does, one after the other with one federation, what docs/operations.md tells
// people to do when machines are lost, restored, replaced and moved. Studies complete all along.
func TestOperations(t *testing.T) {
	f := newFederation(t, buildBinaries(t, "1.0.0"), 3, 4)
	step := func(name string, do func()) {
		t.Log(name)
		if !t.Failed() {
			do()
		}
	}
	step("back up and restore a coordinator", func() {
		third := f.nodes[2]
		third.must("coordinator", "raft", "snapshot", "--data", third.dir)
		third.stop()
		f.shell("tar -C %s -czf %s.tar.gz .", third.dir, third.dir)
		third.start()
		f.entered(3)
		f.propose("after-backup", 3)
		result := f.completed("after-backup")

		third.kill()
		f.shell("rm -r %s; mkdir -m 0700 %s; tar -C %s -xzf %s.tar.gz", third.dir, third.dir, third.dir, third.dir)
		third.start()
		f.until("the restored coordinator to know what it missed", func() error {
			_, err := third.command("coordinator", "study", "result", "after-backup", "--json", "--data", third.dir)
			return err
		})
		text, err := os.ReadFile(result)
		if err != nil {
			t.Fatal(err)
		}
		if again := third.must("coordinator", "study", "result", "after-backup", "--json", "--data", third.dir); again != strings.TrimSpace(string(text)) {
			t.Error("the restored coordinator gives another result")
		}
	})
	step("replace a lost coordinator", func() {
		lost := f.nodes[2]
		lost.kill()
		f.shell("rm -r %s", lost.dir)
		f.entered(3)
		if _, err := f.operator("raft", "remove", lost.name); err != nil {
			t.Fatal(err)
		}
		lost.name, lost.dir = "4", filepath.Join(f.dir, "4") // a new name at the old addresses: no site changes anything
		f.enter(lost)
		lost.start()
		f.entered(3)
		f.propose("after-loss", 3)
		f.completed("after-loss")
	})
	step("most coordinators are lost for good", func() {
		f.propose("stands-still", 30)
		f.underWay("stands-still", f.sites[3])
		left, second, third := f.nodes[0], f.nodes[1], f.nodes[2]
		f.shell("cp %s/coordinator.toml %s.toml", second.dir, second.dir)
		for _, p := range []*process{second, third} {
			p.kill()
			f.shell("rm -r %s", p.dir)
		}
		f.until("the last coordinator to see that nobody leads", func() error {
			p, err := f.peers()
			if err == nil && p.Leader != "" {
				err = fmt.Errorf("%s leads", p.Leader)
			}
			return err
		})
		// The survivor's folder stands in for one that is lost: two of three are a majority.
		left.stop()
		f.shell("cp -a %s %s && cp %s.toml %s/coordinator.toml", left.dir, second.dir, second.dir, second.dir)
		left.start()
		second.start()
		f.sites[3].thaw()
		f.completed("stands-still")
		if _, err := f.operator("raft", "remove", third.name); err != nil {
			t.Fatal(err)
		}
		third.name, third.dir = "5", filepath.Join(f.dir, "5")
		f.enter(third)
		third.start()
		f.entered(3)
	})
	step("move an agent", func() {
		site := f.sites[0]
		site.stop()
		moved := filepath.Join(f.dir, "elsewhere")
		f.shell("mkdir %s; cp -a %s %s; rm -r %s; cp %s.csv %s", moved, site.dir, moved, site.dir, site.dir, moved)
		site.dir = filepath.Join(moved, site.name)
		site.must("agent", "-C", site.dir, "check")
		site.start()
		f.connected(4)
		f.propose("after-move", 3)
		f.completed("after-move")
		out := site.must("agent", "-C", site.dir, "ledger", "export")
		if !strings.Contains(out, "people") {
			t.Errorf("the ledger that moved holds\n%s", out)
		}
	})
	step("a site leaves for good", func() {
		f.propose("ended", 30)
		f.underWay("ended", f.sites[3])
		if _, err := f.operator("study", "abort", "ended"); err != nil {
			t.Fatal(err)
		}
		f.sites[3].thaw()
		gone := f.sites[3]
		if _, err := f.operator("site", "revoke", gone.name); err != nil {
			t.Fatal(err)
		}
		f.connected(3)
		f.until("the agent to say so", func() error {
			s, err := gone.status()
			if err == nil && !strings.Contains(s.LinkError, "revoked") {
				err = fmt.Errorf("%+v", s)
			}
			return err
		})
		f.shell("%s/agent -C %s ledger export > %s.json", gone.bin, gone.dir, gone.dir)
		gone.stop()
		f.propose("without", 3)
		f.completed("without")
	})
	step("a site with a new identity key keeps its budget", func() {
		site := f.sites[3]
		spent := spentRho(t, site.dir+".json")
		if spent <= 0 {
			t.Fatal("nothing was spent before")
		}
		file := filepath.Join(f.dir, "again.join")
		if _, err := f.operator("site", "invite", site.name, "--out", file); err != nil {
			t.Fatal(err)
		}
		old := site.dir
		site.dir += "-new"
		site.must("agent", "join", file, "-o", site.dir)
		f.shell("cp %s/agent.toml %s/", old, site.dir)
		site.must("agent", "-C", site.dir, "ledger", "recover", "--from", old+".json", "--yes")
		site.start()
		f.connected(4)
		f.propose("with-new-key", 3)
		f.completed("with-new-key")
		f.shell("%s/agent -C %s ledger export > %s.json", site.bin, site.dir, site.dir)
		if now := spentRho(t, site.dir+".json"); now <= spent {
			t.Errorf("%v is spent with the new key, and %v was before", now, spent)
		}
	})
	step("another signing key", func() {
		old := filepath.Join(f.dir, "without.json")
		f.nodes[0].must("coordinator", "init", filepath.Join(f.dir, "fresh"))
		for _, p := range f.nodes {
			p.stop()
		}
		for _, p := range f.nodes {
			f.shell("cp %s/fresh/signing.key %s/signing.key", f.dir, p.dir)
			p.start()
		}
		f.entered(3)
		f.connected(4)
		f.propose("signed-anew", 3)
		now := f.completed("signed-anew")
		key := func(result string) string {
			return regexp.MustCompile(`key +(\S+)`).FindStringSubmatch(f.nodes[0].must("coordinator", "verify", result))[1]
		}
		if key(old) == key(now) {
			t.Error("results are signed by the old key still")
		}
		f.nodes[0].must("coordinator", "verify", old, "--key", key(old))
		if _, err := f.nodes[0].command("coordinator", "verify", now, "--key", key(old)); err == nil {
			t.Error("a new result verifies with the old key")
		}
	})
}

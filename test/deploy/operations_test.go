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
func (f fleet) shell(line string, args ...any) {
	f.T.Helper()
	if out, err := exec.Command("sh", "-ec", fmt.Sprintf(line, args...)).CombinedOutput(); err != nil {
		f.T.Fatalf("%s: %v\n%s", fmt.Sprintf(line, args...), err, out)
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
	f := newFleet(t, buildBinaries(t, "1.0.0"), 3, 4)
	step := func(name string, do func()) {
		t.Log(name)
		if !t.Failed() {
			do()
		}
	}
	step("back up and restore a coordinator", func() {
		third := f.Nodes[2]
		f.Must(third.Operate("raft", "snapshot"))
		f.stop(third)
		f.shell("tar -C %s -czf %s.tar.gz .", third.Dir, third.Dir)
		third.Start()
		f.Entered(3)
		f.propose("after-backup", 3)
		result := f.completed("after-backup")

		third.Kill()
		f.shell("rm -r %s; mkdir -m 0700 %s; tar -C %s -xzf %s.tar.gz", third.Dir, third.Dir, third.Dir, third.Dir)
		third.Start()
		f.Until("the restored coordinator to know what it missed", func() error {
			_, err := third.Operate("study", "result", "after-backup", "--json")
			return err
		})
		text, err := os.ReadFile(result)
		if err != nil {
			t.Fatal(err)
		}
		if again := f.Must(third.Operate("study", "result", "after-backup", "--json")); again != strings.TrimSpace(string(text)) {
			t.Error("the restored coordinator gives another result")
		}
	})
	step("replace a lost coordinator", func() {
		lost := f.Nodes[2]
		lost.Kill()
		f.shell("rm -r %s", lost.Dir)
		f.Entered(3)
		if _, err := f.First().Operate("raft", "remove", lost.ID); err != nil {
			t.Fatal(err)
		}
		f.renew(lost, "4")
		f.propose("after-loss", 3)
		f.completed("after-loss")
	})
	step("most coordinators are lost for good", func() {
		f.propose("stands-still", 30)
		f.underWay("stands-still", f.Sites[3])
		left, second, third := f.Nodes[0], f.Nodes[1], f.Nodes[2]
		f.shell("cp %s/coordinator.toml %s.toml", second.Dir, second.Dir)
		for _, p := range []*process{second, third} {
			p.Kill()
			f.shell("rm -r %s", p.Dir)
		}
		f.Until("the last coordinator to see that nobody leads", func() error {
			p, err := f.First().Peers()
			if err == nil && p.Leader != "" {
				err = fmt.Errorf("%s leads", p.Leader)
			}
			return err
		})
		// The survivor's folder stands in for one that is lost: two of three are a majority.
		f.stop(left)
		f.shell("cp -a %s %s && cp %s.toml %s/coordinator.toml", left.Dir, second.Dir, second.Dir, second.Dir)
		left.Start()
		second.Start()
		f.Sites[3].Thaw()
		f.completed("stands-still")
		if _, err := f.First().Operate("raft", "remove", third.ID); err != nil {
			t.Fatal(err)
		}
		f.renew(third, "5")
	})
	step("move an agent", func() {
		site := f.Sites[0]
		f.stop(site)
		moved := filepath.Join(f.Dir, "elsewhere")
		f.shell("mkdir %s; cp -a %s %s; rm -r %s; cp %s.csv %s", moved, site.Dir, moved, site.Dir, site.Dir, moved)
		site.Dir = filepath.Join(moved, site.Name)
		f.Must(site.Operate("check"))
		site.Start()
		f.connected(4)
		f.propose("after-move", 3)
		f.completed("after-move")
		out := f.Must(site.Operate("ledger", "export"))
		if !strings.Contains(out, "people") {
			t.Errorf("the ledger that moved holds\n%s", out)
		}
	})
	step("a site leaves for good", func() {
		f.propose("ended", 30)
		f.underWay("ended", f.Sites[3])
		if _, err := f.First().Operate("study", "abort", "ended"); err != nil {
			t.Fatal(err)
		}
		f.Sites[3].Thaw()
		gone := f.Sites[3]
		if _, err := f.First().Operate("site", "revoke", gone.Name); err != nil {
			t.Fatal(err)
		}
		f.connected(3)
		f.Until("the agent to say so", func() error {
			s, err := statusOf(gone)
			if err == nil && !strings.Contains(s.LinkError, "revoked") {
				err = fmt.Errorf("%+v", s)
			}
			return err
		})
		f.shell("%s/agent -C %s ledger export > %s.json", gone.Bin, gone.Dir, gone.Dir)
		f.stop(gone)
		f.propose("without", 3)
		f.completed("without")
	})
	step("a site with a new identity key keeps its budget", func() {
		site := f.Sites[3]
		spent := spentRho(t, site.Dir+".json")
		if spent <= 0 {
			t.Fatal("nothing was spent before")
		}
		file := filepath.Join(f.Dir, "again.join")
		if _, err := f.First().Operate("site", "invite", site.Name, "--out", file); err != nil {
			t.Fatal(err)
		}
		old := site.Dir
		site.Dir += "-new"
		key := f.Must(site.Run("agent", "join", file, "-o", site.Dir))
		f.shell("cp %s/agent.toml %s/", old, site.Dir)
		f.Must(site.Operate("ledger", "recover", "--from", old+".json", "--yes"))
		// Policies list their peers by key: until each has the new one, its study waits for an
		// operator.
		for _, p := range f.Sites {
			if p != site {
				f.stop(p)
			}
			f.shell(`sed -i 's|^%s = .*|%s = "%s"|' %s/agent.toml`, site.Name, site.Name, strings.TrimSpace(key), p.Dir)
			p.Start()
		}
		f.connected(4)
		f.propose("with-new-key", 3)
		f.completed("with-new-key")
		f.shell("%s/agent -C %s ledger export > %s.json", site.Bin, site.Dir, site.Dir)
		if now := spentRho(t, site.Dir+".json"); now <= spent {
			t.Errorf("%v is spent with the new key, and %v was before", now, spent)
		}
	})
	step("another signing key", func() {
		old := filepath.Join(f.Dir, "without.json")
		f.Must(f.Nodes[0].Run("coordinator", "init", filepath.Join(f.Dir, "fresh")))
		for _, p := range f.Nodes {
			f.stop(p)
		}
		for _, p := range f.Nodes {
			f.shell("cp %s/fresh/signing.key %s/signing.key", f.Dir, p.Dir)
			p.Start()
		}
		f.Entered(3)
		f.connected(4)
		f.propose("signed-anew", 3)
		now := f.completed("signed-anew")
		key := func(result string) string {
			return regexp.MustCompile(`key +(\S+)`).FindStringSubmatch(f.Must(f.Nodes[0].Run("coordinator", "verify", result)))[1]
		}
		if key(old) == key(now) {
			t.Error("results are signed by the old key still")
		}
		f.Must(f.Nodes[0].Run("coordinator", "verify", old, "--key", key(old)))
		if _, err := f.Nodes[0].Run("coordinator", "verify", now, "--key", key(old)); err == nil {
			t.Error("a new result verifies with the old key")
		}
	})
}

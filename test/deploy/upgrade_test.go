//go:build deploy && linux

package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/wire"
	"covey/test/fed"
	"covey/test/overlay"
)

// firstCommit returns the commit that set the present protocol's number (internal/frame). Whatever
// changed since must work together with it, or say another number there.
func firstCommit(t *testing.T) string {
	t.Helper()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = "../.."
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	if git("rev-parse", "--is-shallow-repository") != "false" {
		t.Fatal("the history is needed, not a shallow clone")
	}
	commit := git("log", "-1", "--format=%H", `-G^\s+Protocol += `, "--", "internal/wire/protocol.go")
	if commit == "" {
		t.Fatal("no commit sets the protocol's number")
	}
	return commit
}

// buildCommit makes the binaries of a commit.
func buildCommit(t *testing.T, commit, version string) string {
	t.Helper()
	tree := t.TempDir()
	archive := exec.Command("sh", "-c", `git archive "$1" | tar -x -C "$2"`, "archive", commit, tree)
	archive.Dir = "../.."
	if out, err := archive.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	bin := t.TempDir()
	build := exec.Command("deploy/build.sh", bin)
	build.Dir = tree
	build.Env = append(os.Environ(), "COVEY_VERSION="+version)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// logOf is what a process has said.
func logOf(t *testing.T, p *process) string {
	t.Helper()
	text, err := os.ReadFile(p.Dir + ".log")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRollingUpgrade: coordinators one by one, then agents one by one, in the middle of a
// study; half of the agents stay old until after its end. Old is the first commit of this
// protocol.
func TestRollingUpgrade(t *testing.T) {
	old, now := buildCommit(t, firstCommit(t), "0.9.0-old"), buildBinaries(t, "1.0.0-new")
	f := newFleet(t, old, 3, 4)
	f.propose("mixed", 30)
	f.underWay("mixed", f.Sites[3])
	leader := f.Entered(3)
	for _, last := range []bool{false, true} { // the one that leads last
		for _, p := range f.Nodes {
			if (p.ID == leader) == last {
				f.upgrade(p, now)
				f.Entered(3)
			}
		}
	}
	for _, p := range f.Sites[:2] {
		f.upgrade(p, now)
	}
	f.Sites[3].Thaw()
	f.connected(4)
	result := f.completed("mixed")
	f.Must(f.Sites[3].Run("agent", "verify", result)) // an old one verifies it too

	// Agents of both kinds enter a new study, then the last are upgraded.
	f.propose("mixed-again", 3)
	f.completed("mixed-again")
	for _, p := range f.Sites[2:] {
		f.upgrade(p, now)
	}
	f.connected(4)
	f.propose("new", 3)
	f.completed("new")
	for _, p := range f.All() {
		if text := logOf(t, p); strings.Contains(text, "was refused") || strings.Contains(text, "shares no protocol") || strings.Contains(text, "speaks protocol") {
			t.Errorf("%s refused or was refused:\n%s", p.Name, fed.Tail(p.Dir+".log", 20))
		}
	}
}

// TestRefusedVersions: a build of the next protocol is refused, and refuses, in words that
// name both versions and who must upgrade, on both sides; a study of the others waits for
// it and goes on when it is back.
func TestRefusedVersions(t *testing.T) {
	now, next := buildBinaries(t, "1.0.0"), t.TempDir()
	list, err := overlay.Write(t.TempDir(), []overlay.Edit{
		{"internal/wire/protocol.go", fmt.Sprintf("\tProtocol       = %d\n\tOldestProtocol = %d\n", wire.Protocol, wire.OldestProtocol),
			fmt.Sprintf("\tProtocol       = %d\n\tOldestProtocol = %[1]d\n", wire.Protocol+1)},
	})
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("../../deploy/build.sh", next)
	build.Env = append(os.Environ(), "COVEY_VERSION=2.0.0", "GOFLAGS=-overlay="+list)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f := newFleet(t, now, 1, 3)
	f.propose("waits", 30)
	f.underWay("waits", f.Sites[2])

	hub, site := f.Nodes[0], f.Sites[0]
	said := func(upgrade string) func() error {
		return func() error {
			s, err := statusOf(site)
			if err != nil {
				return err
			}
			for _, want := range []string{"covey-agent/", "covey-coordinator/", "1.0.0", "2.0.0", fmt.Sprint("protocol ", wire.Protocol), fmt.Sprint("protocol ", wire.Protocol+1), "upgrade the " + upgrade} {
				if !strings.Contains(s.LinkError, want) {
					return &missing{want, s.LinkError}
				}
			}
			return nil
		}
	}
	f.upgrade(site, next)
	f.Until("the newer agent to say why it is alone", said("coordinator"))
	f.Until("the coordinator to say so too", func() error {
		if text := logOf(t, hub); !strings.Contains(text, "a program was refused") || !strings.Contains(text, "upgrade the coordinator") || !strings.Contains(text, site.Name) {
			return &missing{"a program was refused", text}
		}
		return nil
	})
	f.Must(hub.Operate("site", "invite", "late", "--out", filepath.Join(f.Dir, "late.join")))
	if _, err := site.Run("agent", "join", filepath.Join(f.Dir, "late.join"), "-o", filepath.Join(f.Dir, "late")); err == nil || !strings.Contains(err.Error(), "upgrade the coordinator") {
		t.Errorf("join: %v", err)
	}
	// The join file is not spent by it.
	f.Must(f.Sites[1].Run("agent", "join", filepath.Join(f.Dir, "late.join"), "-o", filepath.Join(f.Dir, "late")))

	// The other way round: the coordinator is ahead of everyone.
	f.upgrade(site, now)
	f.connected(2) // one is frozen
	f.upgrade(hub, next)
	f.Until("the older agent to say why it is alone", said("agent"))
	f.upgrade(hub, now)
	f.Sites[2].Thaw()
	f.connected(3)
	f.completed("waits")
}

type missing struct{ what, where string }

func (e *missing) Error() string { return "no " + e.what + " in " + e.where }

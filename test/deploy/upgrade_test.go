//go:build deploy && linux

package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/frame"
)

// first is a first commit of the present protocol (internal/frame). Whatever changed
// since must work together with it, or say another number there and here.
const first = "9f96e98e915ac0e93644a5cce8bd8f8502a61c7a"

// buildCommit makes the binaries of a commit.
func buildCommit(t *testing.T, commit, version string) string {
	t.Helper()
	tree := t.TempDir()
	archive := exec.Command("sh", "-c", `git archive "$1" | tar -x -C "$2"`, "archive", commit, tree)
	archive.Dir = "../.."
	if out, err := archive.CombinedOutput(); err != nil {
		t.Fatalf("the history is needed, not a shallow clone: %v\n%s", err, out)
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

type agentStatus struct {
	Linked    bool
	LinkError string `json:"link_error"`
}

func (p *process) status() (s agentStatus, err error) {
	text, err := p.command("agent", "-C", p.dir, "status", "--json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &s)
	}
	return s, err
}

func (p *process) log() string {
	text, err := os.ReadFile(p.dir + ".log")
	if err != nil {
		p.f.t.Fatal(err)
	}
	return string(text)
}

// TestRollingUpgrade: coordinators one by one, then agents one by one, in the middle of a
// study; half of the agents stay old until after its end. Old is the first commit of this
// protocol.
func TestRollingUpgrade(t *testing.T) {
	old, now := buildCommit(t, first, "0.9.0-old"), buildBinaries(t, "1.0.0-new")
	f := newFederation(t, old, 3, 4)
	f.propose("mixed", 30)
	f.underWay("mixed", f.sites[3])
	leader := f.entered(3)
	for _, last := range []bool{false, true} { // the one that leads last
		for _, p := range f.nodes {
			if (p.name == leader) == last {
				p.upgrade(now)
				f.entered(3)
			}
		}
	}
	for _, p := range f.sites[:2] {
		p.upgrade(now)
	}
	f.sites[3].thaw()
	f.connected(4)
	result := f.completed("mixed")
	f.sites[3].must("agent", "verify", result) // an old one verifies it too

	// Agents of both kinds enter a new study, then the last are upgraded.
	f.propose("mixed-again", 3)
	f.completed("mixed-again")
	for _, p := range f.sites[2:] {
		p.upgrade(now)
	}
	f.connected(4)
	f.propose("new", 3)
	f.completed("new")
	for _, p := range append(f.nodes, f.sites...) {
		if text := p.log(); strings.Contains(text, "was refused") || strings.Contains(text, "shares no protocol") || strings.Contains(text, "speaks protocol") {
			t.Errorf("%s refused or was refused:\n%s", p.name, tail(p.dir+".log", 20))
		}
	}
}

// TestRefusedVersions: a build of the next protocol is refused, and refuses, in words that
// name both versions and who must upgrade, on both sides; a study of the others waits for
// it and goes on when it is back.
func TestRefusedVersions(t *testing.T) {
	now, next := buildBinaries(t, "1.0.0"), t.TempDir()
	build := exec.Command("../../deploy/build.sh", next)
	build.Env = append(os.Environ(), "COVEY_VERSION=2.0.0", "GOFLAGS=-tags=covey_next_protocol")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f := newFederation(t, now, 1, 3)
	f.propose("waits", 30)
	f.underWay("waits", f.sites[2])

	hub, site := f.nodes[0], f.sites[0]
	said := func(upgrade string) func() error {
		return func() error {
			s, err := site.status()
			if err != nil {
				return err
			}
			for _, want := range []string{"covey-agent/", "covey-coordinator/", "1.0.0", "2.0.0", fmt.Sprint("protocol ", frame.Protocol), fmt.Sprint("protocol ", frame.Protocol+1), "upgrade the " + upgrade} {
				if !strings.Contains(s.LinkError, want) {
					return &missing{want, s.LinkError}
				}
			}
			return nil
		}
	}
	site.upgrade(next)
	f.until("the newer agent to say why it is alone", said("coordinator"))
	f.until("the coordinator to say so too", func() error {
		if text := hub.log(); !strings.Contains(text, "an agent was refused") || !strings.Contains(text, "upgrade the coordinator") || !strings.Contains(text, site.name) {
			return &missing{"an agent was refused", text}
		}
		return nil
	})
	f.nodes[0].must("coordinator", "site", "invite", "late", "--out", filepath.Join(f.dir, "late.join"), "--data", hub.dir)
	if _, err := site.command("agent", "join", filepath.Join(f.dir, "late.join"), "-o", filepath.Join(f.dir, "late")); err == nil || !strings.Contains(err.Error(), "upgrade the coordinator") {
		t.Errorf("join: %v", err)
	}
	// The join file is not spent by it.
	f.sites[1].must("agent", "join", filepath.Join(f.dir, "late.join"), "-o", filepath.Join(f.dir, "late"))

	// The other way round: the coordinator is ahead of everyone.
	site.upgrade(now)
	f.connected(2) // one is frozen
	hub.upgrade(next)
	f.until("the older agent to say why it is alone", said("agent"))
	hub.upgrade(now)
	f.sites[2].thaw()
	f.connected(3)
	f.completed("waits")
}

type missing struct{ what, where string }

func (e *missing) Error() string { return "no " + e.what + " in " + e.where }

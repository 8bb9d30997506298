//go:build release

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var (
	made = flag.String("targets", "linux-amd64", "that are built")
	cold = flag.Bool("cold", false, "the second release compiles dependencies too")
	root = flag.String("root", "", "a Debian system's root folder, in which packages are installed")
)

const version = "1.2.3-rc1"

// sh runs a command and returns what it prints.
func sh(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil {
		t.Fatalf("%q: %v\n%s", command, err, problems.Bytes())
	}
	return out.String()
}

// repository returns the folder of this repository.
func repository(t *testing.T) string {
	t.Helper()
	at, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// clone makes a release of a clone of this repository in a folder named place, and returns the
// release's. umask and env are the habits of who makes it.
func clone(t *testing.T, place, umask string, env ...string) string {
	t.Helper()
	place, out := filepath.Join(t.TempDir(), place), filepath.Join(t.TempDir(), "out")
	sh(t, ".", nil, "git", "clone", "-q", repository(t), place)
	sh(t, place, append(env, "TARGETS="+*made, "COVEY_VERSION="+version, "SOURCE_DATE_EPOCH=1767225600"), "sh", "-c", "umask "+umask+"; exec deploy/release.sh "+out)
	return out
}

// cache returns a build cache that has of this user's the dependencies alone, Go's own packages
// among them: their sources are the same files for both releases. None of Covey's packages is in
// it. What is not found is not there, and is compiled.
func cache(t *testing.T) string {
	dir := t.TempDir()
	if *cold {
		return dir
	}
	from := strings.TrimSpace(sh(t, ".", nil, "go", "env", "GOCACHE"))
	for _, name := range strings.Split(*made, ",") {
		system, arch, _ := strings.Cut(name, "-")
		// as release.build asks for them
		env := []string{"CGO_ENABLED=0", "GOFLAGS=", "GOOS=" + system, "GOARCH=" + arch, "GOAMD64=v1", "GOARM64=v8.0"}
		list := sh(t, repository(t), env, "go", "list", "-trimpath", "-deps", "-export", "-f", "{{if or .Standard (not .Module.Main)}}{{.BuildID}} {{.Export}}{{end}}",
			"./cmd/agent", "./cmd/analyst", "./cmd/coordinator")
		for _, line := range strings.Fields(strings.ReplaceAll(list, " ", "|")) {
			id, export, _ := strings.Cut(line, "|")
			action, _, _ := strings.Cut(id, "/")
			raw, err := base64.RawURLEncoding.DecodeString(action)
			if err != nil || export == "" {
				continue
			}
			begins := hex.EncodeToString(raw)
			found, _ := filepath.Glob(filepath.Join(from, begins[:2], begins+"*-a"))
			for _, file := range append(found, export) {
				content, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				at := filepath.Join(dir, strings.TrimPrefix(file, from))
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, content, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return dir
}

// TestRelease: a release is the same bytes wherever it is made, and its packages install.
func TestRelease(t *testing.T) {
	release := clone(t, "first", "022")
	t.Run("reproducible", func(t *testing.T) { reproducible(t, release) })
	t.Run("packages", func(t *testing.T) { install(t, release) })
}

// Versions that Helm takes: semantic ones stay, and nothing else sorts after a release.
func TestChartVersion(t *testing.T) {
	for version, want := range map[string]string{
		"1.2.3": "1.2.3", "v1.2.3": "1.2.3", "1.2.3-rc1": "1.2.3-rc1", "v1.2.3-4-gabc123": "1.2.3-4-gabc123", "1.2": "0.0.0-g1-2", "27810af": "0.0.0-g27810af",
		"0123456": "0.0.0-g0123456", "1.2.3-01": "0.0.0-g1-2-3-01", "27810af-dirty": "0.0.0-g27810af-dirty", "unknown": "0.0.0-gunknown", "1.0.0 # x": "0.0.0-g1-0-0-x",
	} {
		if got := chartVersion(version); got != want || !semantic.MatchString(got) {
			t.Errorf("%s is %s instead of %s", version, got, want)
		}
	}
}

// reproducible fails unless two releases of a commit are the same bytes: made in folders of other
// names, by users of other habits, the second with every package of Covey compiled and linked
// again. With -cold its dependencies are too.
func reproducible(t *testing.T, one string) {
	two := clone(t, "another/place", "077", "GOCACHE="+cache(t), "TZ=Asia/Tokyo", "LANG=C", "HOME="+t.TempDir(), "GOFLAGS=-modcacherw -trimpath",
		"GOPATH="+strings.TrimSpace(sh(t, ".", nil, "go", "env", "GOPATH")))
	names := func(dir string) (out []string) {
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			out = append(out, e.Name())
		}
		return out
	}
	if a, b := names(one), names(two); !slices.Equal(a, b) || len(a) < 6 {
		t.Fatalf("%q and %q", a, b)
	}
	for _, name := range names(one) {
		a, err := os.ReadFile(filepath.Join(one, name))
		b, err2 := os.ReadFile(filepath.Join(two, name))
		if err := errors.Join(err, err2); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v)", name, err)
		}
	}
	sh(t, one, nil, "sha256sum", "-c", "--quiet", "SHA256SUMS")
	chart := sh(t, one, nil, "tar", "-xOzf", "covey-"+version+".tgz", "covey/Chart.yaml", "covey/templates/coordinators.yaml")
	if !strings.Contains(chart, "\nversion: "+version+"\nappVersion: \""+version+"\"\n") || !strings.Contains(chart, "kind: StatefulSet") {
		t.Errorf("the chart's archive has\n%s", chart)
	}
	packed := "covey-" + version + "-" + strings.Split(*made, ",")[0] + ".tar.gz"
	if inside := sh(t, one, nil, "tar", "-xOzf", packed, "covey-"+version+"/helm/covey"); !strings.Contains(inside, "\nversion: "+version+"\n") {
		t.Errorf("the archive's chart is\n%s", inside)
	}
	archive := sh(t, one, nil, "tar", "-tzf", packed)
	for _, file := range []string{"agent", "samples/agent.toml", "systemd/covey-agent@.service", "prometheus/alerts.yaml", "grafana/covey.json", "helm/covey/Chart.yaml"} {
		if !strings.Contains(archive, "covey-"+version+"/"+file+"\n") {
			t.Errorf("the archive lacks %s", file)
		}
	}
	raw, err := os.ReadFile(filepath.Join(one, "covey-"+version+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		Components []component
	}
	if err := json.Unmarshal(raw, &bill); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, c := range bill.Components {
		listed[c.Name+" "+c.Version] = true
	}
	for _, line := range strings.Split(sh(t, ".", nil, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "../../cmd/agent", "../../cmd/coordinator"), "\n") {
		if line != "" && !listed[line] {
			t.Errorf("the bill of materials lacks %s", line)
		}
	}
}

// install fails unless a release's packages install into a Debian system that has nothing else, run
// a study there, and leave keys and budgets where they are when they are purged.
func install(t *testing.T, release string) {
	if *root == "" {
		t.Fatal("-root names no Debian system: .ci/run release makes one")
	}
	packages, err := filepath.Glob(filepath.Join(release, "*_"+runtime.GOARCH+".deb"))
	if err != nil || len(packages) != 3 {
		t.Fatal(packages, err)
	}
	var inside []string
	for _, p := range packages {
		content, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		name := "/tmp/" + filepath.Base(p)
		if err := os.WriteFile(filepath.Join(*root, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
		inside = append(inside, name)
	}
	in := func(command ...string) string {
		t.Helper()
		return sh(t, "/", []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"}, append([]string{"chroot", *root}, command...)...)
	}
	in(append([]string{"dpkg", "-i"}, inside...)...)
	for _, name := range []string{"agent", "analyst", "coordinator"} {
		if got := in(name, "--version"); got != name+" "+version+"\n" {
			t.Errorf("%s --version prints %q", name, got)
		}
		in("dpkg", "--verify", "covey-"+name)
		for _, file := range []string{"usr/share/man/man1/" + name + ".1.gz", "usr/share/bash-completion/completions/" + name} {
			if _, err := os.Stat(filepath.Join(*root, file)); err != nil && !strings.Contains(file, "/man/") { // minimal systems leave manuals out
				t.Error(err)
			}
		}
	}
	for folder, owner := range map[string]string{"/var/lib/covey-agent": "covey-agent 700\n", "/etc/covey-agent": "covey-agent 700\n", "/var/lib/covey-coordinator": "covey-coordinator 700\n"} {
		if got := in("stat", "-c", "%U %a", folder); got != owner {
			t.Errorf("%s is of %q", folder, got)
		}
	}
	unit, err := os.ReadFile(filepath.Join(*root, "usr/lib/systemd/system/covey-agent@.service"))
	if err != nil || !bytes.Contains(unit, []byte("ExecStart=/usr/bin/agent -C /etc/covey-agent/%i run")) || bytes.Contains(unit, []byte("/usr/local")) {
		t.Errorf("%s, %v", unit, err)
	}
	var demo struct {
		Captured float64 `json:"captured"`
	}
	if raw := in("coordinator", "demo", "--json"); json.Unmarshal([]byte(raw), &demo) != nil || demo.Captured < 0.95 {
		t.Errorf("captured %v", demo.Captured)
	}
	kept := filepath.Join(*root, "var/lib/covey-agent/north/ledger")
	if err := errors.Join(os.MkdirAll(kept, 0o700), os.WriteFile(filepath.Join(kept, "budget"), []byte("spent"), 0o600)); err != nil {
		t.Fatal(err)
	}
	in("dpkg", "--purge", "covey-agent", "covey-analyst", "covey-coordinator")
	if _, err := os.Stat(filepath.Join(kept, "budget")); err != nil {
		t.Errorf("purging took a ledger: %v", err)
	}
	if _, err := os.Stat(filepath.Join(*root, "usr/bin/agent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("purging left the program: %v", err)
	}
}

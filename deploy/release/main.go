// Command release makes the files of a release from this repository: deploy/release.sh calls it.
//
// Two runs of the same commit with the same Go make the same bytes: nothing of the machine, the
// folder or the clock is in them. Times are the commit's, owners are root, names are sorted.
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// target is what a release is built for. Coordinators are for Linux alone; sites and analysts are
// where they are.
type target struct{ system, arch string }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

func (t target) String() string { return t.system + "-" + t.arch }

// programs returns what is built for a target.
func (t target) programs() []string {
	if t.system == "linux" {
		return []string{"agent", "analyst", "coordinator"}
	}
	return []string{"agent", "analyst"}
}

// release is one run.
type release struct {
	version string
	time    time.Time
	out     string
	work    string // where programs are built
	// manuals and completions, by the path that an installed package has for them
	manuals map[string]map[string][]byte
	modules map[module]bool
}

// entry is a file of an archive or package. Its name has slashes and no beginning one.
type entry struct {
	name    string
	mode    int64
	content []byte
}

func main() {
	version := flag.String("version", "", "of the release")
	seconds := flag.Int64("time", 0, "that files have, in seconds since 1970")
	only := flag.String("targets", "", "only these, such as linux-amd64,windows-amd64")
	flag.Parse()
	if flag.NArg() != 1 || *version == "" {
		fmt.Fprintln(os.Stderr, "usage: release -version V -time SECONDS [-targets LIST] DIR")
		os.Exit(2)
	}
	r := &release{version: *version, time: time.Unix(*seconds, 0).UTC(), out: flag.Arg(0), manuals: map[string]map[string][]byte{}, modules: map[module]bool{}}
	if err := r.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r *release) run(only string) error {
	if there, err := os.ReadDir(r.out); err != nil || len(there) > 0 {
		return fmt.Errorf("%s: is not an empty folder (%v)", r.out, err)
	}
	var err error
	if r.work, err = os.MkdirTemp("", "covey-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if err := r.describe(); err != nil {
		return err
	}
	made := 0
	for _, t := range targets {
		if only != "" && !slices.Contains(strings.Split(only, ","), t.String()) {
			continue
		}
		if err := r.make(t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		made++
	}
	if made == 0 {
		return fmt.Errorf("no target is one of %q", only)
	}
	chart, err := r.chart("covey")
	if err != nil {
		return err
	}
	if err := r.archive("covey-"+chartVersion(r.version)+".tgz", chart, gzipped); err != nil { // as helm install takes it
		return err
	}
	if err := r.write("covey-"+r.version+".cdx.json", r.bill()); err != nil {
		return err
	}
	return r.sum()
}

// describe prints each program's manual and completions, by a build for this machine.
func (r *release) describe() error {
	here := target{runtime.GOOS, runtime.GOARCH}
	for _, name := range (target{system: "linux"}).programs() {
		file, err := r.build(here, name)
		if err != nil {
			return err
		}
		pages := map[string][]byte{}
		for at, args := range map[string][]string{
			"usr/share/man/man1/" + name + ".1":                     {"man"},
			"usr/share/bash-completion/completions/" + name:         {"completion", "bash"},
			"usr/share/zsh/vendor-completions/_" + name:             {"completion", "zsh"},
			"usr/share/fish/vendor_completions.d/" + name + ".fish": {"completion", "fish"},
		} {
			if pages[at], err = exec.Command(file, args...).Output(); err != nil {
				return fmt.Errorf("%s %v: %w", name, args, err)
			}
		}
		r.manuals[name] = pages
	}
	return nil
}

// build makes one static program, once, and returns its file.
func (r *release) build(t target, name string) (file string, err error) {
	file = filepath.Join(r.work, t.String(), name)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X covey/internal/frame.version="+r.version, "-o", file, "./cmd/"+name)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+t.system, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return file, nil
}

// make makes what is for one target: an archive, and packages for Debian.
func (r *release) make(t target) error {
	top := "covey-" + r.version + "/"
	var all []entry
	for _, name := range t.programs() {
		file, err := r.build(t, name)
		if err != nil {
			return err
		}
		program, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := r.inventory(file); err != nil {
			return err
		}
		if t.system == "linux" {
			if err := r.debian(t, name, program); err != nil {
				return err
			}
		}
		if t.system == "windows" {
			name += ".exe"
		}
		all = append(all, entry{top + name, 0o755, program})
	}
	for _, name := range t.programs() {
		for at, page := range r.manuals[name] {
			kind, _, _ := strings.Cut(strings.TrimPrefix(at, "usr/share/"), "/")
			all = append(all, entry{top + kind + "/" + filepath.Base(at), 0o644, page})
		}
	}
	documents := []string{"README.md", "CHANGELOG.md", "SECURITY.md", "deploy/samples"}
	if t.system == "linux" {
		documents = append(documents, "deploy/systemd", "deploy/prometheus/alerts.yaml", "deploy/grafana")
		chart, err := r.chart(top + "helm/covey")
		if err != nil {
			return err
		}
		all = append(all, chart...)
	}
	for _, from := range documents {
		files, err := read(from, top+strings.TrimPrefix(from, "deploy/"))
		if err != nil {
			return err
		}
		all = append(all, files...)
	}
	base := "covey-" + r.version + "-" + t.String()
	if t.system == "linux" {
		return r.archive(base+".tar.gz", all, gzipped)
	}
	return r.archive(base+".zip", all, zipped)
}

// read reads a file, or a folder's files, as entries under a name.
func read(from, name string) ([]entry, error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		content, err := os.ReadFile(from)
		return []entry{{name, 0o644, content}}, err
	}
	list, err := os.ReadDir(from)
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, e := range list {
		more, err := read(filepath.Join(from, e.Name()), name+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

func (r *release) archive(name string, all []entry, pack func([]entry, time.Time) ([]byte, error)) error {
	content, err := pack(all, r.time)
	if err != nil {
		return err
	}
	return r.write(name, content)
}

func (r *release) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644)
}

// sum writes SHA256SUMS, for sha256sum -c. It is a list of checksums and no signature: who can
// change the files where they are fetched can change it too.
func (r *release) sum() error {
	list, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range list {
		content, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), e.Name())
	}
	return r.write("SHA256SUMS", sums.Bytes())
}

//go:build tutorials && linux

// Package tutorials does what the tutorials say, all of it and as it is printed.
package tutorials

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"covey/test/network"
)

var (
	root     = flag.String("root", "", "a Debian system's root folder: each host is a copy of it, in which packages are installed")
	packages = flag.String("packages", "", "the folder of the packages that are installed in -root")
)

// names are the hosts of the three people and of the two sites that only take part.
var names = []string{"hub", "ada", "lakeside", "north", "university"}

// A world is all hosts, and what readers put in place of what a page says of its own machines.
type world struct {
	t      *testing.T
	hosts  map[string]*host
	says   map[string]string // variables
	clinic string            // where the hospitals' files are, if not where the package has them
	shown  *terminal         // where the step before printed
	from   int               // and from where on
}

// build compiles the three programs.
func build(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "covey/cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, hosts: map[string]*host{}, says: map[string]string{}}
	var all []*host
	for _, name := range names {
		h := &host{name: name}
		all, w.hosts[name] = append(all, h), h
	}
	if *root != "" {
		for _, h := range all {
			h.bare(t, *root, *packages)
		}
	} else {
		clinic, err := filepath.Abs("../../examples/clinic")
		if err != nil {
			t.Fatal(err)
		}
		w.clinic = clinic
		bin := build(t)
		for _, h := range all {
			h.home, h.path = t.TempDir(), bin+":/usr/sbin:/usr/bin:/sbin:/bin"
		}
	}
	if apart() {
		join(t, all)
		w.says["HUB"] = "hub.example"
		t.Logf("%d hosts, each in a network namespace, packages: %v", len(all), *root != "")
	} else {
		t.Log("one host for all: network namespaces need root and ip")
	}
	for _, h := range all {
		h.first = h.terminal(t)
	}
	return w
}

// assigned is a variable that a reader sets to what is true of its own machines.
var assigned = regexp.MustCompile(`^(HUB|SITE)=\S+`)

// clinic is where the agent's package has the hospitals' files.
const clinic = "/usr/share/doc/covey-agent/examples/clinic"

// said returns a command as a host's reader types it.
func (w *world) said(h *host, command string) string {
	if w.clinic != "" {
		command = strings.ReplaceAll(command, clinic, w.clinic)
	}
	m := assigned.FindStringSubmatch(command)
	if m == nil {
		return command
	}
	value := w.says[m[1]]
	if m[1] == "SITE" {
		value = h.name
	}
	if value == "" {
		return command
	}
	return assigned.ReplaceAllLiteralString(command, m[1]+"="+value)
}

// do does a step at one of its hosts.
func (w *world) do(s step, h *host) {
	w.t.Helper()
	fail := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatalf("%v at %s: %v", s, h.name, err)
		}
	}
	switch commands := s.commands(); s.verb {
	case "run":
		if s.needs != "" && h.enter(false, "python3", "-c", "import "+s.needs).Run() != nil {
			w.t.Logf("%v is left out: no %s at %s", s, s.needs, h.name)
			return
		}
		w.shown, w.from = h.first, h.first.printed()
		for i, command := range commands {
			answer := ""
			if i == len(commands)-1 {
				answer = s.answer
			}
			h.first.run(w.t, s, w.said(h, command), answer)
		}
	case "start":
		h.later = append(h.later, h.terminal(w.t))
		w.shown = h.later[len(h.later)-1]
		w.from = w.shown.printed()
		for i, command := range commands {
			if command = w.said(h, command); i < len(commands)-1 {
				w.shown.run(w.t, s, command, "")
			} else {
				fail(w.shown.typed(command))
			}
		}
	case "reads": // what was started last goes on printing
		if len(h.later) == 0 {
			fail(fmt.Errorf("nothing was started"))
		}
		w.shown, w.from = h.later[len(h.later)-1], 0
	case "install":
		if h.root == "" {
			return // the programs are on the path
		}
		for _, command := range commands {
			if out, err := h.enter(true, "bash", "-c", command).CombinedOutput(); err != nil {
				w.t.Fatalf("%v at %s: %s: %v\n%s", s, h.name, command, err, out)
			}
		}
	case "append", "edit":
		at, err := h.place(s.object)
		fail(err)
		old, err := os.ReadFile(at)
		fail(err)
		made := string(old) + "\n" + s.text + "\n"
		if s.verb == "edit" {
			made, err = replaced(string(old), s.text)
			fail(err)
		}
		info, err := os.Stat(at)
		fail(err)
		fail(h.write(s.object, []byte(made), info.Mode()))
	case "hand":
		at, err := h.place(s.object)
		fail(err)
		text, err := os.ReadFile(at)
		fail(err)
		for _, name := range s.to {
			fail(w.host(s, name).write(filepath.Base(s.object), text, 0o600))
		}
	case "ctrl-c":
		if len(h.later) == 0 {
			fail(fmt.Errorf("nothing was started"))
		}
		last := h.later[len(h.later)-1]
		h.later = h.later[:len(h.later)-1]
		from := last.printed()
		_, err := last.master.Write([]byte{3})
		fail(err)
		if out, status := last.idle(w.t, from, s.String()); status != "0" {
			w.t.Fatalf("%v at %s: exit status %s\n%s", s, h.name, status, out)
		}
	case "opens":
		fail(w.opens(h))
	default:
		fail(fmt.Errorf("nobody knows how to %s", s.verb))
	}
}

// opens opens the link that was printed last, as a browser of the host.
func (w *world) opens(h *host) error {
	if len(h.later) == 0 {
		return fmt.Errorf("nothing was started")
	}
	links := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S+`)
	out, ok := h.later[len(h.later)-1].wait(0, patience, links.MatchString)
	if !ok {
		return fmt.Errorf("no link in\n%s", out)
	}
	found := links.FindAllString(out, -1)
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{DialContext: network.DialIn(h.netns), DisableKeepAlives: true}, Timeout: patience}
	answer, err := client.Get(found[len(found)-1])
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK || !bytes.Contains(page, []byte("vitals-2026")) {
		return fmt.Errorf("%s, and no word of the study:\n%s", answer.Status, page)
	}
	return nil
}

func (w *world) host(s step, name string) *host {
	w.t.Helper()
	if w.hosts[name] == nil {
		w.t.Fatalf("%v: no host %q; there are %q", s, name, names)
	}
	return w.hosts[name]
}

// TestTutorials: whoever does what the three pages say gets what they show.
func TestTutorials(t *testing.T) {
	steps := all(t)
	w := newWorld(t)
	for _, s := range steps {
		for _, name := range s.hosts {
			w.do(s, w.host(s, name))
			if s.shows == nil {
				continue
			}
			without := func(out string) string { return missing(s.shows, passing.ReplaceAllString(out, "")) }
			out, _ := w.shown.wait(w.from, patience, func(out string) bool {
				return without(out) == "" || s.verb == "run" // whose command is over
			})
			if line := without(out); line != "" {
				t.Fatalf("%v at %s does not print %q:\n%s", s, name, line, out)
			}
		}
	}
	// What was started is still there, and ends well.
	for _, h := range w.hosts {
		for len(h.later) > 0 {
			w.do(step{page: "the end", hosts: []string{h.name}, verb: "ctrl-c"}, h)
		}
	}
}

// TestMentioned: a command that a page mentions without running it is one that there is.
func TestMentioned(t *testing.T) {
	bin := build(t)
	begins := regexp.MustCompile("`((?:agent|analyst|coordinator)(?: [a-z]+)*)")
	var known []string
	for _, name := range pages {
		for _, m := range begins.FindAllStringSubmatch(content(t, name), -1) {
			if slices.Contains(known, m[1]) {
				continue
			}
			known = append(known, m[1])
			words := strings.Fields(m[1]) // the last ones may be arguments
			out, err := exec.Command(filepath.Join(bin, words[0]), append(words[1:], "--help")...).CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "Usage: "+strings.Join(words[:min(2, len(words))], " ")) {
				t.Errorf("%s mentions %q: %v\n%s", name, m[1], err, out)
			}
		}
	}
	if len(known) == 0 {
		t.Error("no command is mentioned; the pattern must be wrong")
	}
}

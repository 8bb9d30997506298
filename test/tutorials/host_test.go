//go:build tutorials && linux

package tutorials

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"covey/test/network"
)

// reader is the user who reads a tutorial on a machine with packages.
const reader = 1000

// A host is a machine of one of the tutorials' people.
type host struct {
	name  string
	home  string // the reader's folder, as this test sees it
	path  string // where the programs are, as the host sees it
	netns string // its network; empty where all share one
	root  string // its own file system; empty where it is this one
	first *terminal
	later []*terminal // where programs go on
}

// enter is a command on a host, by its reader, or by root.
func (h *host) enter(asRoot bool, command ...string) *exec.Cmd {
	var args []string
	if h.netns != "" {
		args = append(args, "ip", "netns", "exec", h.netns)
	}
	home := h.home
	if h.root != "" {
		args = append(args, "chroot")
		if !asRoot {
			args = append(args, fmt.Sprintf("--userspec=%d:%d", reader, reader))
		}
		args = append(args, h.root)
		home = "/home/reader"
	}
	args = append(args, "env", "-i", "-C", home)
	args = append(args, "HOME="+home, "PATH="+h.path, "TERM=dumb", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "PS1=<<$?>> ", "PS2=")
	args = append(args, command...)
	return exec.Command(args[0], args[1:]...)
}

// terminal opens a terminal at a host, in the reader's folder.
func (h *host) terminal(t *testing.T) *terminal {
	t.Helper()
	return open(t, h.enter(false, "bash", "--noprofile", "--norc", "--noediting", "-i"))
}

// place returns where a file that the first terminal's shell knows by name is.
func (h *host) place(name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%q is no name of a file here", name)
	}
	// `ip`, `chroot` and `env` become the shell
	at, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", h.first.shell.Process.Pid))
	return filepath.Join(at, name), err
}

// write puts a file where the first terminal's shell is, as its reader's.
func (h *host) write(name string, content []byte, mode os.FileMode) error {
	at, err := h.place(name)
	if err == nil {
		err = os.WriteFile(at, content, mode)
	}
	if err == nil && h.root != "" {
		err = os.Chown(at, reader, reader)
	}
	return err
}

// apart reports whether hosts can have networks of their own here.
func apart() bool {
	_, err := exec.LookPath("ip")
	return err == nil && os.Getuid() == 0
}

// join moves each host into a network namespace of its own, where it knows the others by name.
func join(t *testing.T, hosts []*host) {
	t.Helper()
	netns, addresses := network.Namespaces(t, "tut", len(hosts))
	t.Cleanup(func() {
		for _, name := range netns {
			os.RemoveAll("/etc/netns/" + name)
		}
		os.Remove("/etc/netns") // if nobody else has something there
	})
	names := "127.0.0.1 localhost\n"
	for i, h := range hosts {
		names += fmt.Sprintf("%s %s.example\n", addresses[i], h.name)
	}
	for i, h := range hosts {
		h.netns = netns[i]
		at := "/etc/netns/" + h.netns // `ip netns exec` puts its files over those of /etc
		if h.root != "" {
			at = filepath.Join(h.root, "etc")
		}
		if err := errors.Join(os.MkdirAll(at, 0o755), os.RemoveAll(filepath.Join(at, "hosts")), os.WriteFile(filepath.Join(at, "hosts"), []byte(names), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// bare makes a host a Debian system of its own that has nothing of ours but packages in the
// reader's folder. Its files are those of root until something replaces them.
func (h *host) bare(t *testing.T, root, packages string) {
	t.Helper()
	h.root = filepath.Join(filepath.Dir(filepath.Clean(root)), fmt.Sprintf("tutorial-%d-%s", os.Getpid(), h.name))
	t.Cleanup(func() { os.RemoveAll(h.root) })
	if err := network.Run(fmt.Sprintf("cp -al %s %s", root, h.root)); err != nil {
		t.Fatal(err)
	}
	h.home, h.path = filepath.Join(h.root, "home/reader"), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	debs, err := filepath.Glob(filepath.Join(packages, "*_"+runtime.GOARCH+".deb"))
	if err != nil || len(debs) != 3 {
		t.Fatal(debs, err)
	}
	if err := errors.Join(os.MkdirAll(h.home, 0o700), os.Chown(h.home, reader, reader)); err != nil {
		t.Fatal(err)
	}
	for _, deb := range debs {
		content, err := os.ReadFile(deb)
		if err := errors.Join(err, os.WriteFile(filepath.Join(h.home, filepath.Base(deb)), content, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

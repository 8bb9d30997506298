//go:build tutorials && linux

package tutorials

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
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

// command runs a command of the network.
func command(line string) error {
	args := strings.Fields(line)
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %v: %s", line, err, out)
	}
	return nil
}

// apart reports whether hosts can have networks of their own here.
func apart() bool {
	_, err := exec.LookPath("ip")
	return err == nil && os.Getuid() == 0
}

// network moves each host into a network namespace of its own and joins them by one bridge, which
// has a namespace, too, so that no firewall of the machine sees what crosses it. Each host knows
// the others by name.
func network(t *testing.T, hosts []*host) {
	t.Helper()
	hub := fmt.Sprintf("tut%d", os.Getpid())
	subnet := fmt.Sprintf("10.%d.%d", 64+os.Getpid()/256%128, os.Getpid()%256)
	must := func(format string, args ...any) {
		t.Helper()
		if err := command(fmt.Sprintf(format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, h := range hosts {
			command("ip netns del " + h.netns)
			os.RemoveAll("/etc/netns/" + h.netns)
		}
		os.Remove("/etc/netns") // if nobody else has something there
		// a namespace goes later than its name, with what is in it
		command("ip -n " + hub + " link del bridge")
		command("ip netns del " + hub)
	})
	names := "127.0.0.1 localhost\n"
	for i, h := range hosts {
		names += fmt.Sprintf("%s.%d %s.example\n", subnet, i+10, h.name)
	}
	must("ip netns add %s", hub)
	must("ip -n %s link add bridge type bridge", hub)
	must("ip -n %s link set bridge up", hub)
	for i, h := range hosts {
		h.netns = fmt.Sprintf("%s-%d", hub, i)
		must("ip netns add %s", h.netns)
		must("ip -n %s link add port%d type veth peer name eth0 netns %s", hub, i, h.netns)
		must("ip -n %s link set port%d master bridge up", hub, i)
		must("ip -n %s addr add %s.%d/24 dev eth0", h.netns, subnet, i+10)
		must("ip -n %s link set eth0 up", h.netns)
		must("ip -n %s link set lo up", h.netns)
		at := "/etc/netns/" + h.netns // `ip netns exec` puts its files over those of /etc
		if h.root != "" {
			at = filepath.Join(h.root, "etc")
		}
		if err := errors.Join(os.MkdirAll(at, 0o755), os.RemoveAll(filepath.Join(at, "hosts")), os.WriteFile(filepath.Join(at, "hosts"), []byte(names), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// dial connects from a host. A socket belongs to the namespace that its thread was in when it was
// made, so the thread goes there and back.
func (h *host) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if h.netns == "" {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	// never unlocked where the way back fails: the thread then ends with its goroutine
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	defer home.Close()
	there, err := os.Open("/run/netns/" + h.netns)
	if err != nil {
		return nil, err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return nil, errors.Join(back, err)
	}
	runtime.UnlockOSThread()
	return conn, err
}

// bare makes a host a Debian system of its own that has nothing of ours but packages in the
// reader's folder. Its files are those of root until something replaces them.
func (h *host) bare(t *testing.T, root, packages string) {
	t.Helper()
	h.root = filepath.Join(filepath.Dir(filepath.Clean(root)), fmt.Sprintf("tutorial-%d-%s", os.Getpid(), h.name))
	t.Cleanup(func() { os.RemoveAll(h.root) })
	if err := command(fmt.Sprintf("cp -al %s %s", root, h.root)); err != nil {
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

//go:build deploy && linux

package deploy

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"covey/test/fed"
)

// daemon is a Docker daemon that answers.
type daemon struct {
	env []string // of docker and docker-compose
	pid int      // of a dockerd that this test started, else 0
}

// newDaemon returns the machine's daemon, or starts one. It never skips: a machine where
// neither goes shows why.
//
// Our own daemon has a network and a mount namespace to itself: its bridges, its NAT and
// the FORWARD policy that it sets to DROP are not the machine's, and end with it.
func newDaemon(t *testing.T) *daemon {
	t.Helper()
	for _, name := range []string{"docker", "docker-compose"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("%v: on Debian, apt-get install docker.io docker-compose", err)
		}
	}
	d := &daemon{env: os.Environ()}
	if d.answers() {
		return d
	}
	if os.Getuid() != 0 {
		t.Fatal("no Docker daemon answers, and only root can start one")
	}
	dir, err := os.MkdirTemp("", "dockerd") // short: it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	host := "unix://" + filepath.Join(dir, "docker.sock")
	d.env = append(os.Environ(), "DOCKER_HOST="+host)
	for _, flags := range [][]string{nil, {"--storage-driver=vfs"}} {
		log := filepath.Join(dir, "dockerd.log")
		stop := d.start(t, log, append([]string{"-H", host, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"), "--pidfile", filepath.Join(dir, "pid"),
			// the namespace leads nowhere: a question about a name outside is answered at once
			"--dns", "127.0.0.1"}, flags...))
		for end := time.Now().Add(time.Minute); time.Now().Before(end) && d.pid != 0 && alive(d.pid); time.Sleep(200 * time.Millisecond) {
			if d.answers() {
				t.Cleanup(func() {
					stop()
					if t.Failed() {
						t.Logf("the daemon's log ends:\n%s", fed.Tail(log, 20))
					}
					os.RemoveAll(dir)
				})
				return d
			}
		}
		stop()
		t.Logf("dockerd %v does not start; its log ends:\n%s", flags, fed.Tail(log, 30))
	}
	t.Fatal("no Docker daemon answers, and none starts here: see the logs above")
	return nil
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// start runs dockerd in namespaces of its own and gives what stops it. A test that is
// killed takes it along.
func (d *daemon) start(t *testing.T, log string, args []string) (stop func()) {
	t.Helper()
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("sh", append([]string{"-c", `ip link set lo up && exec dockerd "$@"`, "dockerd"}, args...)...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM}
	started, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // Pdeathsig is sent when the thread ends
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	d.pid = cmd.Process.Pid
	return func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(time.Minute):
			cmd.Process.Kill()
			<-done
		}
	}
}

func (d *daemon) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", "version")
	cmd.Env = d.env
	return cmd.Run() == nil
}

// dial connects from where the daemon publishes ports.
func (d *daemon) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.pid == 0 {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", d.pid))
	if err != nil {
		return nil, err
	}
	defer ns.Close()
	type result struct {
		conn net.Conn
		err  error
	}
	connected := make(chan result, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			connected <- result{nil, err}
			return
		}
		// of one literal address: on this thread
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		connected <- result{conn, err}
	}()
	r := <-connected
	return r.conn, r.err
}

// command is a command with the daemon's environment; its error holds what it said.
func (d *daemon) command(env []string, stdin, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(d.env[:len(d.env):len(d.env)], env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, prose bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &prose
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out.String(), prose.String())
	}
	return out.String(), nil
}

package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Run runs a command, whose words have no spaces.
func Run(line string) error {
	args := strings.Fields(line)
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %v: %s", line, err, out)
	}
	return nil
}

// Namespaces makes n network namespaces of this machine until the test ends, joined by one bridge,
// and returns their names and addresses. It needs root. The bridge lives in a namespace of its own,
// so that no firewall of the machine sees what crosses it. Names, which begin with prefix, and
// addresses are this process's own: two runs at one time do not take each other's network away.
func Namespaces(t testing.TB, prefix string, n int) (names, addresses []string) {
	t.Helper()
	hub := fmt.Sprintf("%s%d", prefix, os.Getpid())
	for i := range n {
		names = append(names, fmt.Sprintf("%s-%d", hub, i))
		addresses = append(addresses, fmt.Sprintf("10.%d.%d.%d", 64+os.Getpid()/256%128, os.Getpid()%256, i+10))
	}
	unplug := func() {
		for _, name := range names {
			Run("ip netns del " + name)
		}
		// a namespace goes later than its name, with what is in it
		Run("ip -n " + hub + " link del bridge")
		Run("ip netns del " + hub)
	}
	unplug()
	t.Cleanup(unplug)
	must := func(format string, args ...any) {
		t.Helper()
		if err := Run(fmt.Sprintf(format, args...)); err != nil {
			t.Fatal(err)
		}
	}
	must("ip netns add %s", hub)
	must("ip -n %s link add bridge type bridge", hub)
	must("ip -n %s link set bridge up", hub)
	for i, name := range names {
		must("ip netns add %s", name)
		must("ip -n %s link add port%d type veth peer name eth0 netns %s", hub, i, name)
		must("ip -n %s link set port%d master bridge up", hub, i)
		must("ip -n %s addr add %s/24 dev eth0", name, addresses[i])
		must("ip -n %s link set eth0 up", name)
		must("ip -n %s link set lo up", name)
	}
	return names, addresses
}

// DialIn returns a dialer of connections that begin in a network namespace; "" is this one. A
// socket belongs to the namespace that its thread was in when it was made, so the thread goes there
// and back.
func DialIn(netns string) func(context.Context, string, string) (net.Conn, error) {
	if netns == "" {
		return new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		// never unlocked where the way back fails: the thread then ends with its goroutine
		runtime.LockOSThread()
		home, err := os.Open("/proc/thread-self/ns/net")
		if err != nil {
			return nil, err
		}
		defer home.Close()
		there, err := os.Open("/run/netns/" + netns)
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
}

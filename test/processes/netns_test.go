//go:build failpoint && linux

package processes

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Names and addresses are this process's own: two runs at one time do not take each other's network away.
var (
	bridge = fmt.Sprintf("cv%d", os.Getpid())
	subnet = fmt.Sprintf("10.%d.%d", 64+os.Getpid()/256%128, os.Getpid()%256)
)

// ip runs a command of the network.
func command(args ...string) error {
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return errors.New(strings.Join(args, " ") + ": " + string(out))
	}
	return nil
}

// network gives every process a namespace of its own on one bridge.
func (f *fleet) network() {
	f.t.Helper()
	if os.Getuid() != 0 {
		f.t.Fatal("network namespaces need root")
	}
	f.unplug()
	f.t.Cleanup(f.unplug)
	must := func(line string) {
		if err := command(strings.Fields(line)...); err != nil {
			f.t.Fatal(err)
		}
	}
	must("ip link add " + bridge + " type bridge")
	must("ip link set " + bridge + " up")
	must("ip addr add " + subnet + ".1/24 dev " + bridge) // ours, to read /metrics
	for _, p := range f.all() {
		must("ip netns add " + p.netns)
		must("ip link add " + p.netns + "v type veth peer name eth0 netns " + p.netns)
		must("ip link set " + p.netns + "v master " + bridge + " up")
		must("ip -n " + p.netns + " addr add " + p.host + "/24 dev eth0")
		must("ip -n " + p.netns + " link set eth0 up")
		must("ip -n " + p.netns + " link set lo up")
	}
}

func (f *fleet) unplug() {
	for _, p := range f.all() {
		command("ip", "link", "del", p.netns+"v") // a namespace goes later than its name, with what is in it
		command("ip", "netns", "del", p.netns)
	}
	command("ip", "link", "del", bridge)
}

func (f *fleet) all() []*proc { return append(f.nodes[:len(f.nodes):len(f.nodes)], f.sites...) }

// deaf drops what comes to p from q.
func (p *proc) deaf(q *proc) error {
	return command("ip", "netns", "exec", p.netns, "iptables", "-A", "INPUT", "-s", q.host, "-j", "DROP")
}

// TestPartitions: each process in a network namespace; iptables drops what goes between a
// leader and the rest, between a coordinator and a site, in one direction, or between
// halves. No study is lost, and the history holds.
func TestPartitions(t *testing.T) {
	f := newFleet(t, 3, 5, true)
	rng := rand.New(rand.NewPCG(*seed, 1))
	stop := make(chan struct{})
	work := f.studying(stop, 12)
	var lost []time.Time
	kinds := map[string]int{}
	for done := 0; done < *partitions; done++ {
		time.Sleep(500*time.Millisecond + time.Duration(rng.ExpFloat64()*float64(time.Second)))
		leader := f.leader()
		if leader == nil {
			leader = f.nodes[rng.IntN(len(f.nodes))]
		}
		cut := func(p, q *proc, both bool) {
			if p == q {
				return
			}
			err := p.deaf(q)
			if both && err == nil {
				err = q.deaf(p)
			}
			if err != nil {
				t.Error(err)
			}
		}
		kind := []string{"leader from all", "leader from coordinators", "leader deaf to coordinators", "leader from a site", "one way", "site from all"}[rng.IntN(6)]
		kinds[kind]++
		all := f.all()
		switch kind {
		case "leader from all":
			for _, q := range all {
				cut(leader, q, true)
			}
			lost = append(lost, time.Now())
		case "leader from coordinators":
			for _, q := range f.nodes {
				cut(leader, q, true)
			}
			lost = append(lost, time.Now())
		case "leader deaf to coordinators":
			for _, q := range f.nodes {
				cut(leader, q, false)
			}
			lost = append(lost, time.Now())
		case "leader from a site":
			cut(leader, f.sites[rng.IntN(len(f.sites))], true)
		case "one way":
			cut(all[rng.IntN(len(all))], all[rng.IntN(len(all))], false)
		case "site from all":
			s := f.sites[rng.IntN(len(f.sites))]
			for _, q := range f.nodes {
				cut(s, q, true)
			}
		}
		time.Sleep(time.Second + time.Duration(rng.ExpFloat64()*float64(2*time.Second)))
		for _, p := range all {
			if err := command("ip", "netns", "exec", p.netns, "iptables", "-F"); err != nil {
				t.Error(err)
			}
		}
	}
	close(stop)
	work.Wait()
	f.stop()
	t.Logf("%d partitions: %v", *partitions, kinds)
	f.check(lost)
}

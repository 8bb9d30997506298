//go:build failpoint && linux

package processes

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"covey/test/network"
)

// network moves every process into a namespace of its own and joins them by one bridge.
func (f *fleet) network() {
	f.T.Helper()
	if os.Getuid() != 0 {
		f.T.Fatal("network namespaces need root")
	}
	names, addresses := network.Namespaces(f.T, "cv", len(f.All()))
	for i, p := range f.All() {
		p.Move(names[i], addresses[i])
	}
}

// deaf drops what comes to p from q.
func deaf(p, q *proc) error {
	return network.Run("ip netns exec " + p.Netns + " iptables -w -A INPUT -s " + q.Host + " -j DROP")
}

// TestPartitions: each process in a network namespace; iptables drops what goes between a
// leader and the rest, between a coordinator and a site, in one direction, or between
// halves. No study is lost, and the history holds.
func TestPartitions(t *testing.T) {
	f := newFleet(t, 3, 5, fleetOptions{namespaces: true})
	rng := rand.New(rand.NewPCG(*seed, 1))
	stop := make(chan struct{})
	work := f.studying(stop, 12)
	var lost []time.Time
	kinds := map[string]int{}
	for done := 0; done < *partitions; done++ {
		time.Sleep(500*time.Millisecond + time.Duration(rng.ExpFloat64()*float64(time.Second)))
		leader := f.Leader()
		if leader == nil {
			leader = f.Nodes[rng.IntN(len(f.Nodes))]
		}
		cut := func(p, q *proc, both bool) {
			if p == q {
				return
			}
			err := deaf(p, q)
			if both && err == nil {
				err = deaf(q, p)
			}
			if err != nil {
				t.Error(err)
			}
		}
		kind := []string{"leader from all", "leader from coordinators", "leader deaf to coordinators", "leader from a site", "one way", "site from all"}[rng.IntN(6)]
		kinds[kind]++
		all := f.All()
		switch kind {
		case "leader from all":
			for _, q := range all {
				cut(leader, q, true)
			}
			lost = append(lost, time.Now())
		case "leader from coordinators":
			for _, q := range f.Nodes {
				cut(leader, q, true)
			}
			lost = append(lost, time.Now())
		case "leader deaf to coordinators":
			for _, q := range f.Nodes {
				cut(leader, q, false)
			}
			lost = append(lost, time.Now())
		case "leader from a site":
			cut(leader, f.Sites[rng.IntN(len(f.Sites))], true)
		case "one way":
			cut(all[rng.IntN(len(all))], all[rng.IntN(len(all))], false)
		case "site from all":
			s := f.Sites[rng.IntN(len(f.Sites))]
			for _, q := range f.Nodes {
				cut(s, q, true)
			}
		}
		time.Sleep(time.Second + time.Duration(rng.ExpFloat64()*float64(2*time.Second)))
		for _, p := range all {
			if err := network.Run("ip netns exec " + p.Netns + " iptables -w -F"); err != nil {
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

package dashboard

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Wrong logins: wrongBurst at once from one host and one every wrongEvery after that are answered
// as such and are a line of the log; the rest are turned away without one. maxWrongHosts are
// counted each for itself, all others as one.
const (
	wrongBurst    = 10
	wrongEvery    = 6 * time.Second
	maxWrongHosts = 1024
)

// paces counts wrong logins by the host that they come from. A right token is never kept waiting:
// it is 32 characters or more, which nobody guesses, and on loopback or behind a proxy all callers
// are one host.
type paces struct {
	mu    sync.Mutex
	hosts map[string]*pace
}

// pace is one host's: free is when all of its burst is there again.
type pace struct {
	free     time.Time
	unlogged int
}

// wrong counts a wrong login at address. If it is within the pace, ok is true and unlogged is how
// many were not since the last that was.
func (p *paces) wrong(address string, now time.Time) (unlogged int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hostOf(address, now)
	if h.free.Before(now) {
		h.free = now
	}
	if h.free.Sub(now) > (wrongBurst-1)*wrongEvery {
		h.unlogged++
		return 0, false
	}
	h.free = h.free.Add(wrongEvery)
	unlogged, h.unlogged = h.unlogged, 0
	return unlogged, true
}

// hostOf is called with the lock held.
func (p *paces) hostOf(address string, now time.Time) *pace {
	name := wrongHost(address)
	if h := p.hosts[name]; h != nil {
		return h
	}
	if len(p.hosts) >= maxWrongHosts {
		for name, h := range p.hosts {
			if h.free.Before(now) {
				delete(p.hosts, name)
			}
		}
	}
	if len(p.hosts) >= maxWrongHosts {
		name = "" // all others
	}
	if p.hosts == nil {
		p.hosts = map[string]*pace{}
	}
	if p.hosts[name] == nil {
		p.hosts[name] = &pace{}
	}
	return p.hosts[name]
}

// wrongHost is an IPv4 address, or a /64 of IPv6, which is one machine's to choose addresses from.
func wrongHost(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		return netip.PrefixFrom(ip, 64).Masked().String()
	}
	return ip.String()
}

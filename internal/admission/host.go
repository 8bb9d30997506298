package admission

import (
	"net"
	"net/netip"
	"time"
)

// maxHosts are those that are kept count of each for itself; all others count as one.
const maxHosts = 4096

// Hosts keeps a value for each host that connects. Make one with [NewHosts]; it is not safe for use
// by several goroutines.
type Hosts[T any] struct {
	fresh  func() *T
	idle   func(*T, time.Time) bool
	all    map[string]*T
	pruned time.Time // when they were last looked through
}

// NewHosts returns a table whose values fresh makes. A value that is idle may be forgotten.
func NewHosts[T any](fresh func() *T, idle func(*T, time.Time) bool) *Hosts[T] {
	return &Hosts[T]{fresh: fresh, idle: idle, all: map[string]*T{}}
}

// Of returns the value of an address's host.
func (h *Hosts[T]) Of(address net.Addr, now time.Time) *T {
	name := hostOf(address)
	if v := h.all[name]; v != nil {
		return v
	}
	if len(h.all) >= maxHosts && now.Sub(h.pruned) >= time.Second {
		h.pruned = now
		for name, v := range h.all {
			if h.idle(v, now) {
				delete(h.all, name)
			}
		}
	}
	if len(h.all) >= maxHosts {
		name = ""
	}
	v := h.all[name]
	if v == nil {
		v = h.fresh()
		h.all[name] = v
	}
	return v
}

// hostOf returns what connections of an address are counted under: the IPv4 address, or the /64 of
// an IPv6 one.
func hostOf(address net.Addr) string {
	if address == nil {
		return ""
	}
	at, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return address.String()
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	prefix, _ := ip.Prefix(64)
	return prefix.String()
}

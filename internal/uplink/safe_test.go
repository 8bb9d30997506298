package uplink

import (
	"testing"

	"covey/internal/pki"
	"covey/internal/wire"
)

// TestPolicyChangesWhileDialing: a link that was dialed before the policy demanded a quantum-safe
// one says nothing.
func TestPolicyChangesWhileDialing(t *testing.T) {
	for _, demanded := range []bool{false, true} {
		for _, exchange := range []pki.KeyExchange{{Group: "X25519"}, {Group: "X25519MLKEM768", QuantumSafe: true}} {
			u := newUplink(t, refused)
			u.o.QuantumSafe = func() bool { return demanded }
			l := newLink(t.Context(), u)
			begun := u.begin(l, "somewhere", exchange)
			if want := !demanded || exchange.QuantumSafe; begun != want || (len(l.queue) > 0) != want {
				t.Errorf("demanded %v, %v: begun %v with %d messages to say", demanded, exchange, begun, len(l.queue))
			}
		}
	}
}

// TestOfferChangesInHello: what a hello was begun with, and the site no longer offers, is not said.
func TestOfferChangesInHello(t *testing.T) {
	for _, changes := range []bool{false, true} {
		u := newUplink(t, refused)
		u.o.Hello = func() wire.Hello {
			if changes {
				u.Again()
			}
			return wire.Hello{}
		}
		l := newLink(t.Context(), u)
		if begun := u.begin(l, "somewhere", pki.KeyExchange{}); begun == changes || len(l.queue) > 0 == changes {
			t.Errorf("changes %v: begun %v with %d messages to say", changes, begun, len(l.queue))
		}
	}
}

package hostile

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"covey/internal/proposal"
	"covey/test/fed"
	folder "covey/test/site"
)

// TestOldCertificates: an agent says nothing to coordinators that cannot show a certificate that is
// good now, of its CA, for the host that it calls. Rules PKI-12, AG-18.
func TestOldCertificates(t *testing.T) {
	year := 366 * 24 * time.Hour
	for _, c := range []struct {
		name string
		home time.Time // when the sites' CA was made, with its server's certificate
		port func(*federation) *bufconn.Listener
		host string
		good bool
	}{
		{name: "good", home: time.Now(), good: true},
		{name: "ended a day ago", home: time.Now().Add(-year)},
		{name: "another CA of the same name", home: time.Now(), port: func(f *federation) *bufconn.Listener {
			return f.serve(folder.Authority(t, filepath.Join(f.dir, "other"), time.Now()), f)
		}},
		{name: "another host", home: time.Now(), host: "192.0.2.7:7443"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &federation{t: t, dir: fed.InMemory(t), links: map[string]chan *stream{}}
			f.authority = folder.Authority(t, filepath.Join(f.dir, "coordinator"), c.home)
			if f.port = f.serve(f.authority, f); c.port != nil {
				f.port = c.port(f)
			}
			s := f.newSite("site-0", units, columns)
			s.pin([]proposal.Member{{Name: "site-1", Identity: proposal.Key(s.public)}})
			t.Cleanup(s.kill)
			if c.host != "" {
				s.address(c.host)
			}
			dials, dial := make(chan struct{}, 100), s.dial
			s.dial = func(ctx context.Context, address string) (net.Conn, error) {
				dials <- struct{}{}
				return dial(ctx, address)
			}
			s.run()
			// The second call comes when the first has failed; one that is let in opens its link.
			for n := 0; n < 2; n++ {
				select {
				case <-dials:
				case link := <-f.links[s.name]:
					if m, err := link.receive(); err != nil || m.GetHello() == nil {
						t.Errorf("the agent says %v, %v", m, err)
					}
					if !c.good {
						t.Error("the agent opened a link")
					}
					return
				case <-time.After(time.Minute):
					t.Fatal("the agent does not call again")
				}
			}
			if c.good {
				t.Error("the agent called again and opened no link")
			}
			s.kill()
			select {
			case <-f.links[s.name]:
				t.Error("the agent opened a link")
			default:
			}
		})
	}
}

// TestIdentityIsNotTransport issues a certificate in a site's name to the coordinator's own key:
// with the CA it can be that site on the network, but its decisions, announcements and signatures
// are still checked under the roster's keys. Rules A1, A6.
func TestIdentityIsNotTransport(t *testing.T) {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}})
	w.start()
	w.approve()
	w.announce()
	// The coordinator passes for site 1 with keys of its own.
	dir := filepath.Join(w.fed.dir, "impostor")
	keys := folder.Issue(t, dir, "site-1", w.fed.authority, time.Now())
	impostor := &party{name: "site-1", identity: keys.Identity()}
	board := append([][]byte{}, w.Announcements...)
	board[1] = impostor.announce(t, w.Config, 1)
	for _, i := range []int{0, 2} {
		if no := refusalTo(w.ask(i, deal(w.plan.Digest, board, nil))); no == nil || no.GetCulprit() != 2 {
			t.Errorf("site %d takes another key for site 1's: %v", i, no)
		}
	}
}

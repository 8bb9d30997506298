package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/pki"
)

// TestDashboardConfig: what can be served where. The token never travels in the clear
// beyond loopback, unless the operator says that TLS is in front.
func TestDashboardConfig(t *testing.T) {
	count := -5
	for name, c := range map[string]struct {
		d   Dashboard
		bad string
	}{
		"off":                    {Dashboard{}, ""},
		"loopback":               {Dashboard{Listen: "127.0.0.1:7480"}, ""},
		"loopback 6":             {Dashboard{Listen: "[::1]:7480"}, ""},
		"localhost":              {Dashboard{Listen: "localhost:7480"}, ""},
		"beyond":                 {Dashboard{Listen: ":7480"}, "in the clear"},
		"beyond, an address":     {Dashboard{Listen: "10.0.0.1:7480"}, "in the clear"},
		"beyond, a name":         {Dashboard{Listen: "covey.example:7480"}, "in the clear"},
		"beyond, a proxy":        {Dashboard{Listen: ":7480", PlainHTTP: true}, ""},
		"beyond, TLS":            {Dashboard{Listen: ":7480", Certificate: "c", Key: "k"}, ""},
		"no port":                {Dashboard{Listen: "localhost"}, "host:port"},
		"half a pair":            {Dashboard{Listen: ":7480", Certificate: "c"}, "go together"},
		"operators without TLS":  {Dashboard{Listen: "127.0.0.1:1", ClientCA: "ca"}, "needs a certificate"},
		"operators, and a proxy": {Dashboard{Listen: ":1", ClientCA: "ca", PlainHTTP: true}, "needs a certificate"},
	} {
		count++
		err := c.d.check()
		_, config := errors.AsType[*ConfigError](err)
		if (c.bad == "") != (err == nil) || err != nil && (!config || !strings.Contains(err.Error(), c.bad)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for listen, want := range map[string][]string{"10.0.0.1:1": {"10.0.0.1", "a"}, ":1": {"a"}, "0.0.0.0:1": {"a"}, "[::]:1": {"a"}, "covey.example:1": {"covey.example", "a"}} {
		if got := (Dashboard{Listen: listen, Hosts: []string{"a"}}).names(); !slices.Equal(got, want) {
			t.Errorf("%s is reached by %v", listen, got)
		}
	}
	t.Logf("figure: %d bad inputs: configurations of a page", count)
}

// TestFederationIsNoOperators: the CA of the sites as the operators' is refused.
func TestFederationIsNoOperators(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		if err := pki.Init(d, nil, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	a, err := pki.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := Dashboard{Listen: ":1", Certificate: filepath.Join(dir, "server.crt"), Key: filepath.Join(dir, "server.key")}
	for ca, bad := range map[string]bool{filepath.Join(dir, "ca.crt"): true, filepath.Join(other, "ca.crt"): false, filepath.Join(dir, "none"): true, filepath.Join(dir, "server.key"): true} {
		d.ClientCA = ca
		if _, err := d.tls(a); (err != nil) != bad {
			t.Errorf("%s: %v", filepath.Base(ca), err)
		}
	}
	// The pair is read again when it changes, and kept when it cannot be.
	pair := &keyPair{certificate: filepath.Join(other, "server.crt"), key: filepath.Join(other, "server.key")}
	first, err := pair.get(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pair.certificate, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(pair.certificate, time.Now(), time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if kept, err := pair.get(nil); err != nil || kept != first {
		t.Errorf("in the middle of a renewal: %v", err)
	}
	for from, to := range map[string]string{"server.crt": pair.certificate, "server.key": pair.key} {
		text, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(pair.certificate, time.Now(), time.Now().Add(2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if renewed, err := pair.get(nil); err != nil || renewed == first {
		t.Errorf("after a renewal: %v", err)
	}
}

// counted counts the connections that were taken from a listener.
type counted struct {
	net.Listener
	taken *atomic.Int64
}

func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.taken.Add(1)
	}
	return conn, err
}

// TestSilentVisitors: connections to the page that say nothing take no more than a bounded part of
// the process's file descriptors, and end; then the page answers.
func TestSilentVisitors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, dir := newWires(t), filepath.Join(t.TempDir(), "one")
		if err := Init(dir, config("one"), time.Now()); err != nil {
			t.Fatal(err)
		}
		const page = "host-one:3"
		var taken atomic.Int64
		listen := func(address string) (net.Listener, error) {
			l, err := w.Listen(address)
			if err == nil && address == page {
				l = counted{l, &taken}
			}
			return l, err
		}
		n, err := Open(dir, Options{Election: 100 * time.Millisecond, Listen: listen, Dial: w.from("one"), Dashboard: &Dashboard{Listen: page, PlainHTTP: true}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- n.Run(ctx) }()
		defer func() {
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
		dial := func() net.Conn {
			c, err := w.Dial(t.Context(), "host-far", page)
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		for range maxVisitors + 100 {
			defer dial().Close()
			synctest.Wait()
		}
		if got := taken.Load(); got != maxVisitors {
			t.Errorf("%d silent connections were taken at once, want %d", got, maxVisitors)
		}
		time.Sleep(3 * requestTime)
		c := dial()
		defer c.Close()
		fmt.Fprint(c, "GET /style.css HTTP/1.1\r\nHost: host-one\r\nConnection: close\r\n\r\n")
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("after the silent ones the page answers %v, %v", answer, err)
		}
	})
}

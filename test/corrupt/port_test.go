package corrupt

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"covey/internal/proposal"
	covey "covey/proto/covey/v1"
)

// TestPort: the sites' port as a stranger sees it: what HTTP/2 settings it gives (LIM-4), when it
// cuts off who says nothing, before and after the handshake (LIM-1), and that it takes connections
// no faster than it can look at them (LIM-3).
func TestPort(t *testing.T) {
	inBubble(t, func(f *bubble) {
		dial := func() net.Conn {
			c, err := f.dial(f.ctx, "")
			f.Must(err)
			return c
		}
		stranger := tls.Client(dial(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS13})
		f.Must(stranger.Handshake())
		if _, err := stranger.Write([]byte(http2.ClientPreface)); err != nil {
			t.Fatal(err)
		}
		frames := http2.NewFramer(stranger, bufio.NewReader(stranger))
		f.Must(frames.WriteSettings())
		first, err := frames.ReadFrame()
		f.Must(err)
		settings, ok := first.(*http2.SettingsFrame)
		if !ok {
			t.Fatalf("%v", first)
		}
		for id, want := range map[http2.SettingID]uint32{
			http2.SettingMaxConcurrentStreams: 8,
			http2.SettingMaxHeaderListSize:    8 << 10,
			http2.SettingInitialWindowSize:    1 << 20,
		} {
			if got, ok := settings.Value(id); !ok || got != want {
				t.Errorf("%v is %d, want %d", id, got, want)
			}
		}
		second, err := frames.ReadFrame()
		f.Must(err)
		if w, ok := second.(*http2.WindowUpdateFrame); !ok || w.StreamID != 0 || w.Increment != 2<<20-65535 {
			t.Errorf("the connection's window: %v", second)
		}
		until := func(c net.Conn) time.Duration {
			began := time.Now()
			for {
				if _, err := c.Read(make([]byte, 1000)); err != nil {
					return time.Since(began).Round(time.Second)
				}
			}
		}
		if took := until(stranger); took != 30*time.Second {
			t.Errorf("a caller without a certificate is cut off after %v", took)
		}
		if took := until(dial()); took != 10*time.Second {
			t.Errorf("a silent caller is cut off after %v", took)
		}
		half := tls.Client(dial(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS13})
		f.Must(half.Handshake())
		if _, err := half.Write([]byte(http2.ClientPreface[:10])); err != nil {
			t.Fatal(err)
		}
		if took := until(half); took != 10*time.Second {
			t.Errorf("half a preface is cut off after %v", took)
		}
		if testing.Short() {
			return
		}
		time.Sleep(time.Minute)
		began := time.Now()
		for range 4000 {
			dial().Close()
		}
		if took := time.Since(began); took < 1900*time.Millisecond {
			t.Errorf("4000 connections were taken in %v", took)
		}
	})
}

// TestCallsArePaced: calls with a site's certificate are answered at a bounded rate (LIM-6).
func TestCallsArePaced(t *testing.T) {
	inBubble(t, func(f *bubble) {
		tls, err := f.proxy.site.ClientTLS("10.0.0.1")
		f.Must(err)
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(tls)), grpc.WithDisableServiceConfig(), grpc.WithContextDialer(f.dial))
		f.Must(err)
		defer conn.Close()
		client, began := covey.NewFederationClient(conn), time.Now()
		for range 500 {
			if _, err := client.Standing(versioned(f.ctx), &covey.StandingRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < 9*time.Second {
			t.Errorf("500 calls in %v", took)
		}
	})
}

// TestSiteFlood: what a site's connection sends of frames that move no message is read at a bounded
// rate, however much of it there is; the rest of the federation does not notice (LIM-7).
func TestSiteFlood(t *testing.T) {
	inBubble(t, func(f *bubble) {
		f.proxy.leave()
		a := &attacker{address: address, site: f.proxy.site}
		config := a.config(true)
		config.ServerName = "10.0.0.1"
		conn, err := f.dial(f.ctx, "")
		f.Must(err)
		secure := tls.Client(conn, config)
		f.Must(secure.Handshake())
		out := bufio.NewWriterSize(secure, 16<<10)
		c := &client{Conn: secure, out: out, id: ^uint32(0)}
		c.frames = http2.NewFramer(out, bufio.NewReader(secure))
		out.WriteString(http2.ClientPreface)
		f.Must(errors.Join(c.frames.WriteSettings(), c.headers(linkPath)))
		went := make(chan time.Duration, 1)
		go io.Copy(io.Discard, secure)
		go func() {
			began := time.Now()
			for range 30_000 {
				if c.frames.WriteRSTStream(1, http2.ErrCodeCancel) != nil {
					break
				}
			}
			out.Flush()
			went <- time.Since(began)
		}()
		d := f.study("meanwhile", func(s *proposal.Spec) { s.Sites = f.sites[:mallory]; s.Rounds = 2 })
		began := time.Now()
		f.completed(d)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("a study took %v", took)
		}
		synctest.Wait()
		// 20 tokens each, 2000 a second, less what the pipe holds.
		if took := <-went; took < 60*time.Second {
			t.Errorf("30,000 resets were read in %v", took)
		}
		secure.Close()
	})
}

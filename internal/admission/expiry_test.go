package admission

import (
	"crypto/tls"
	"crypto/x509"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// TestExpiryFollowsTheClock: a stream ends with its certificate by the machine's clock, which may
// pass the end while timers stand still, as in a machine that sleeps; and not before.
func TestExpiryFollowsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		leaf := &x509.Certificate{NotAfter: time.Now().Add(90 * 24 * time.Hour)}
		ctx := peer.NewContext(t.Context(), &peer.Peer{AuthInfo: Caller{TLSInfo: credentials.TLSInfo{State: tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}}}}})
		expired := Expiry(ctx, now)
		over := func() bool {
			time.Sleep(2 * time.Minute)
			select {
			case <-expired:
				return true
			default:
				return false
			}
		}
		if over() {
			t.Fatal("it ends 90 days early")
		}
		ahead.Store(int64(90 * 24 * time.Hour)) // it slept
		if !over() {
			t.Error("it outlives its certificate")
		}
	})
}

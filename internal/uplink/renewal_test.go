package uplink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"covey/internal/enroll"
	"covey/internal/pki"
	covey "covey/proto/covey/v1"
)

// direct calls a coordinator without a network.
type direct struct {
	mu        sync.Mutex // over all below, the authority's own state too
	authority *pki.Authority
	vouchers  []pki.Voucher // nil for the CA alone
	down      bool
	fails     error // of every call
	slow      bool  // a renewal is not answered while its caller waits
	ahead     time.Duration
	renewals  int
}

func (d *direct) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, errors.New("no stream")
}

func (d *direct) Invoke(ctx context.Context, _ string, args, reply any, _ ...grpc.CallOption) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		return errors.New("down")
	}
	if d.fails != nil {
		return d.fails
	}
	var answer proto.Message
	switch r := args.(type) {
	case *covey.RenewRequest:
		if d.slow {
			<-ctx.Done()
			return ctx.Err()
		}
		certificate, err := d.authority.Renew(pki.RoleSite, "alpha", r.GetCsr(), time.Now())
		if err != nil {
			return err
		}
		d.renewals++
		answer = &covey.RenewResponse{Certificate: certificate}
	case *covey.StandingRequest:
		out := &covey.StandingResponse{UnixNanoseconds: time.Now().Add(d.ahead).UnixNano()}
		for _, v := range d.vouchers {
			out.Authorities = append(out.Authorities, &covey.Authority{Certificate: v.Certificate, Endorsement: v.Endorsement})
		}
		if d.vouchers == nil {
			out.Authorities = []*covey.Authority{{Certificate: d.authority.CertificatePEM()}}
		}
		answer = out
	default:
		return fmt.Errorf("%T", r)
	}
	proto.Merge(reply.(proto.Message), answer)
	return nil
}

// issued returns a new authority, and a site with its certificate of so long ago.
func issued(t *testing.T, ago time.Duration) (string, *pki.Authority, *pki.Holder) {
	t.Helper()
	home, dir := filepath.Join(t.TempDir(), "hub"), filepath.Join(t.TempDir(), "alpha")
	if err := pki.Init(home, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	authority, err := pki.Load(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := pki.NewKeys(dir); err != nil {
		t.Fatal(err)
	}
	site, err := pki.LoadHolder(pki.RoleSite, dir)
	if err != nil {
		t.Fatal(err)
	}
	csr, err := site.CSR("alpha")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := authority.Issue(pki.RoleSite, "alpha", csr, time.Now().Add(-ago))
	if err != nil {
		t.Fatal(err)
	}
	if err := site.SaveCertificate(certificate, authority.CertificatePEM(), time.Now()); err != nil {
		t.Fatal(err)
	}
	return dir, authority, site
}

// TestRenewalEndsWithItsLink: a renewal that the end of its link cut off is nothing to tell of, at
// a coordinator that hangs up again and again; one that failed is.
func TestRenewalEndsWithItsLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, authority, site := issued(t, 80*24*time.Hour)
		u := newUplink(t, nil)
		var log bytes.Buffer
		u.o.Holder, u.o.Log = site, slog.New(slog.NewTextHandler(&log, nil))
		try := func(hub *direct) {
			ctx, end := context.WithCancel(t.Context())
			u.o.Work.Go(func() { u.renewals(ctx, hub) })
			time.Sleep(time.Second)
			end()
			u.o.Work.Wait()
		}
		try(&direct{authority: authority, slow: true})
		if log.Len() > 0 {
			t.Errorf("a link that ended: %s", log.String())
		}
		_, _, fresh := issued(t, 0)
		u.o.Holder = fresh
		try(&direct{authority: authority, fails: &enroll.VersionError{}})
		if log.Len() > 0 {
			t.Errorf("a link that another protocol ends: %s", log.String())
		}
		u.o.Holder = site
		try(&direct{authority: authority, down: true})
		if !strings.Contains(log.String(), "the certificate was not renewed") {
			t.Errorf("a coordinator that fails: %s", log.String())
		}
	})
}

// TestRefusedQuestionIsSaidOnce: a coordinator that refuses the question about CAs on link after
// link, as of a revoked site, is told of once, and again after it answered.
func TestRefusedQuestionIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, authority, site := issued(t, 0)
		u := newUplink(t, nil)
		var log bytes.Buffer
		u.o.Holder, u.o.Log = site, slog.New(slog.NewTextHandler(&log, nil))
		revoked := status.Error(codes.PermissionDenied, "the site is revoked")
		for i, fails := range []error{revoked, revoked, revoked, nil, revoked, revoked} {
			ctx, end := context.WithCancel(t.Context())
			u.o.Work.Go(func() { u.renewals(ctx, &direct{authority: authority, fails: fails}) })
			time.Sleep(time.Hour)
			end()
			u.o.Work.Wait()
			if told, want := strings.Count(log.String(), "the site is revoked"), 1+i/4; told != want {
				t.Errorf("link %d: told %d times, want %d", i, told, want)
			}
		}
	})
}

// TestClocksApart: an agent whose clock is far from the coordinator's logs it once, whichever is
// ahead, and again only after they agreed.
func TestClocksApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, authority, site := issued(t, 0)
		u := newUplink(t, nil)
		var log bytes.Buffer
		u.o.Holder, u.o.Log = site, slog.New(slog.NewJSONHandler(&log, nil))
		for _, c := range []struct {
			ahead time.Duration
			says  string
		}{
			{4 * time.Minute, ""}, {-6 * time.Minute, `"apart":"6m0s","this_one_is_ahead":true`}, {-30 * time.Minute, ""},
			{time.Minute, "agree again"}, {0, ""}, {3 * time.Hour, `"apart":"3h0m0s","this_one_is_ahead":false`},
		} {
			log.Reset()
			ctx, end := context.WithCancel(t.Context())
			u.o.Work.Go(func() { u.renewals(ctx, &direct{authority: authority, ahead: c.ahead}) })
			time.Sleep(time.Second)
			end()
			u.o.Work.Wait()
			if got := log.String(); !strings.Contains(got, c.says) || c.says == "" && got != "" {
				t.Errorf("a coordinator %v ahead: %q, want %q", c.ahead, got, c.says)
			}
		}
	})
}

// TestClockThatIsSet: a clock that is set while the link lives shows at once, by what the
// coordinator said before; before it said anything nothing is known.
func TestClockThatIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, authority, site := issued(t, 0)
		u := newUplink(t, nil)
		var set atomic.Int64
		u.o.Holder, u.o.Now = site, func() time.Time { return time.Now().Add(time.Duration(set.Load())) }
		set.Store(int64(3 * time.Hour))
		if s := u.Stands(); s.Compared || s.Ahead != 0 {
			t.Errorf("%v ahead of nobody", s.Ahead)
		}
		set.Store(0)
		ctx, end := context.WithCancel(t.Context())
		u.o.Work.Go(func() { u.renewals(ctx, &direct{authority: authority, ahead: time.Minute}) })
		time.Sleep(time.Second)
		for _, c := range []time.Duration{0, 30 * 24 * time.Hour, -time.Hour} {
			set.Store(int64(c))
			time.Sleep(2 * time.Minute)
			if s := u.Stands(); !s.Compared || s.Ahead != c-time.Minute {
				t.Errorf("set %v ahead it is %v ahead of one that is a minute ahead", c, s.Ahead)
			}
		}
		end()
		u.o.Work.Wait()
	})
}

// TestRenewalBesideTheCAsEnd: a certificate that ends with its CA is not replaced every ten minutes
// by one that does, too; the log says so once a day, on however many links.
func TestRenewalBesideTheCAsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, authority, site := issued(t, 0)
		time.Sleep(time.Until(authority.CA().NotAfter) - 20*24*time.Hour)
		u := newUplink(t, nil)
		var log bytes.Buffer
		u.o.Holder, u.o.Log = site, slog.New(slog.NewTextHandler(&log, nil))
		hub := &direct{authority: authority}
		for range 6 {
			ctx, end := context.WithCancel(t.Context())
			u.o.Work.Go(func() { u.renewals(ctx, hub) })
			time.Sleep(6 * time.Hour)
			end()
			u.o.Work.Wait()
		}
		if told := strings.Count(log.String(), "ends together with the federation's CA"); told != 2 {
			t.Errorf("told %d times in a day and a half: %s", told, log.String())
		}
		if hub.renewals != 1 || !site.Certificate().NotAfter.Equal(authority.CA().NotAfter) {
			t.Errorf("%d renewals, to %v", hub.renewals, site.Certificate().NotAfter)
		}
	})
}

// TestRenewalForMonths runs an agent's renewals for 40 days of the bubble's clock, from the 50th of
// its certificate on: the coordinator is away for ten days at the worst time, and changes its CA
// later. The certificate is good at every hour, the identity key is the same at the end, and no
// renewal was made that was not due.
func TestRenewalForMonths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		dir, authority, site := issued(t, 50*day)
		u := newUplink(t, nil)
		u.o.Holder = site
		key := bytes.Clone(site.Identity())
		hub := &direct{authority: authority}
		ctx, cancel := context.WithCancel(t.Context())
		u.o.Work.Go(func() { u.renewals(ctx, hub) })
		for hour := range 40 * 24 {
			hub.mu.Lock()
			switch hour {
			case 10 * 24: // the first renewal is due
				hub.down = true
			case 20 * 24:
				hub.down = false
			case 30 * 24:
				next, err := authority.NewNext(time.Now())
				if err != nil {
					t.Fatal(err)
				}
				hub.vouchers = []pki.Voucher{next, {Certificate: authority.CertificatePEM()}}
			case 31 * 24:
				if err := authority.Promote(); err != nil {
					t.Fatal(err)
				}
				hub.vouchers = []pki.Voucher{{Certificate: authority.CertificatePEM()}}
			}
			hub.mu.Unlock()
			time.Sleep(time.Hour)
			synctest.Wait()
			if left := time.Until(site.Certificate().NotAfter); left < 19*day {
				t.Fatalf("day %d: %v left", hour/24, left)
			}
		}
		cancel()
		u.o.Work.Wait()
		if hub.renewals != 2 { // when the coordinator is back, and for the new CA
			t.Errorf("%d renewals", hub.renewals)
		}
		again, err := pki.LoadHolder(pki.RoleSite, dir)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(key, again.Identity()) {
			t.Error("the identity key changed")
		}
		if pki.CAFingerprint(again.Issuer()) != authority.Fingerprint() || len(again.Authorities()) != 1 {
			t.Errorf("the certificate is not of the new CA, or %d are trusted", len(again.Authorities()))
		}
	})
}

// Package plain is a federation without secure aggregation, for comparison alone: the same rows,
// local sums, course of queries, TLS and gRPC frames as a study, and exact sums sent in the clear
// to a server that adds the noise. No masks, signatures, setup, ledger or replicated log. It is NOT
// for use.
package plain

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"covey/internal/answer"
	"covey/internal/clip"
	"covey/internal/noise"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// Federation is a server and its clients in one process, over loopback TCP and mTLS.
type Federation struct {
	ctx    context.Context
	stop   context.CancelFunc
	server *grpc.Server
	work   sync.WaitGroup
	links  []*link // by site
	sites  []*answer.Rows
	errs   chan error // the first failure of each client

	mu   sync.Mutex
	plan *study.Plan // of the running study; clients learn it with its start
}

// Start runs a server and n clients with keys in dir; every client holds its own copy of values,
// rows of d.
func Start(dir string, n, d int, values []float64) (_ *Federation, err error) {
	authority, err := newAuthority(filepath.Join(dir, "plain"))
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &Federation{links: make([]*link, n), errs: make(chan error, n)}
	f.ctx, f.stop = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			f.Stop()
		}
	}()
	joined := make(chan *link, n)
	f.server = grpc.NewServer(grpc.Creds(credentials.NewTLS(authority.ServerTLS())), grpc.MaxRecvMsgSize(maxMessage),
		grpc.StaticStreamWindowSize(wire.StreamWindow), grpc.StaticConnWindowSize(wire.ConnectionWindow))
	covey.RegisterFederationServer(f.server, &service{joined: joined})
	f.work.Go(func() { f.server.Serve(l) })
	for i := range n {
		m, err := clip.NewMatrix(d, append([]float64(nil), values...))
		if err != nil {
			return nil, err
		}
		f.sites = append(f.sites, answer.New(m))
		config, err := newSite(filepath.Join(dir, "plain", fmt.Sprint(i)), siteName(i), authority)
		if err != nil {
			return nil, err
		}
		conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(credentials.NewTLS(config)),
			grpc.WithStaticStreamWindowSize(wire.StreamWindow), grpc.WithStaticConnWindowSize(wire.ConnectionWindow))
		if err != nil {
			return nil, err
		}
		client := &client{f, i}
		stream, err := covey.NewFederationClient(conn).Link(f.ctx)
		if err != nil {
			return nil, err
		}
		f.work.Go(func() {
			defer conn.Close()
			f.errs <- fmt.Errorf("plain: client %d: %w", i, client.run(stream))
		})
		select {
		case f.links[i] = <-joined:
		case <-time.After(time.Minute):
			return nil, fmt.Errorf("client %d does not come", i)
		}
	}
	return f, nil
}

// NewPlan plans a spec for a roster of the given counts of rows, as a coordinator would.
func NewPlan(spec proposal.Spec, units []int) (*study.Plan, error) {
	var roster []proposal.Member
	for i, n := range units {
		public, _, err := ed25519.GenerateKey(nil)
		if err != nil {
			return nil, err
		}
		roster = append(roster, proposal.Member{Name: siteName(i), Identity: proposal.Key(public), Units: n})
	}
	var nonce [32]byte
	rand.Read(nonce[:])
	body, err := proposal.Propose(spec, roster, ed25519.PublicKey(roster[0].Identity), nonce)
	if err != nil {
		return nil, err
	}
	return study.NewPlan(body)
}

func siteName(i int) string { return fmt.Sprintf("site-%04d", i) }

func newAuthority(dir string) (*pki.Authority, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := pki.Init(dir, []string{"127.0.0.1"}, time.Now()); err != nil {
		return nil, err
	}
	return pki.Load(dir)
}

// newSite makes a client's keys and certificate.
func newSite(dir, name string, a *pki.Authority) (*tls.Config, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := pki.NewKeys(dir); err != nil {
		return nil, err
	}
	site, err := pki.LoadHolder(pki.RoleSite, dir)
	if err != nil {
		return nil, err
	}
	request, err := site.CSR(name)
	if err != nil {
		return nil, err
	}
	certificate, err := a.Issue(pki.RoleSite, name, request, time.Now())
	if err != nil {
		return nil, err
	}
	if err := site.SaveCertificate(certificate, a.CertificatePEM(), time.Now()); err != nil {
		return nil, err
	}
	return site.ClientTLS("127.0.0.1")
}

// Stop ends all parts.
func (f *Federation) Stop() {
	f.stop()
	if f.server != nil {
		f.server.Stop()
	}
	f.work.Wait()
}

// Study runs all queries of a plan with central noise and returns the releases.
func (f *Federation) Study(plan *study.Plan) ([]study.Release, error) {
	f.mu.Lock()
	f.plan = plan
	f.mu.Unlock()
	var everybody []int
	for i := range f.links {
		everybody = append(everybody, i)
	}
	course := plan.Start()
	var releases []study.Release
	for course.Query < len(plan.Queries) && course.End == "" {
		ask, err := plan.NewAsk(course, len(releases))
		if err != nil {
			return nil, err
		}
		sum, err := f.sum(plan, ask)
		if err != nil {
			return nil, err
		}
		noised, err := noisy(plan, ask, sum)
		if err != nil {
			return nil, err
		}
		r, err := plan.NewRelease(ask, everybody, noised)
		if err != nil {
			return nil, err
		}
		if course, err = plan.Next(course, r, releases); err != nil {
			return nil, err
		}
		releases = append(releases, r)
	}
	if course.End != "" {
		return nil, fmt.Errorf("plain: the study ended: %s", course.End)
	}
	return releases, nil
}

// sum asks every client and adds the answers up.
func (f *Federation) sum(plan *study.Plan, a study.Ask) ([]uint64, error) {
	message, err := encodeAsk(plan, a)
	if err != nil {
		return nil, err
	}
	sent := make(chan error, len(f.links))
	for _, l := range f.links {
		go func() { sent <- l.send(message) }() // no client waits for another's
	}
	for range f.links {
		if err := <-sent; err != nil {
			return nil, err
		}
	}
	uploads := make([][]byte, len(f.links))
	for i, l := range f.links {
		select {
		case u := <-l.answers:
			uploads[i] = u
		case err := <-f.errs:
			return nil, err
		}
	}
	sum := make([]uint64, plan.Queries[a.Query].Values)
	for i, u := range uploads {
		if err := secagg.SumPacked(sum, u, plan.Bits); err != nil {
			return nil, fmt.Errorf("plain: client %d: %w", i, err)
		}
	}
	return sum, nil
}

// noisy is the coordinator's central noise, keyed at random.
func noisy(plan *study.Plan, a study.Ask, sum []uint64) ([]int64, error) {
	if plan.Noise.Chooses(plan.Queries[a.Query]) {
		return nil, fmt.Errorf("plain: query %d chooses; only sums are compared", a.Query)
	}
	var key [32]byte
	rand.Read(key[:])
	noised := make([]int64, len(sum))
	if err := a.Sigma.Draw(noise.NewKeyed(key), noised); err != nil {
		return nil, err
	}
	for i, v := range sum {
		noised[i] = int64((v+uint64(noised[i]))<<(64-plan.Bits)) >> (64 - plan.Bits)
	}
	return noised, nil
}

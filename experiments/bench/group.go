package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"covey/internal/frame"
	"covey/internal/secagg"
	covey "covey/proto/covey/v1"
)

// group is the sites of one setup with all their keys in this process: everybody's messages are real.
type group struct {
	cfg           secagg.Config
	keys          []ed25519.PrivateKey
	secrets       []secagg.Secrets
	announcements [][]byte
	setup         *secagg.Setup
	held          map[int]secagg.Held // by site, of those whose shares are needed
	agreed        []*secagg.Agreement // by site, of slot 0
	boxes         [][]byte            // by dealer, for the site whose setup is measured
}

// newGroup makes the announcements of n sites and checks them.
func newGroup(n, slots int) (*group, error) {
	g := &group{secrets: make([]secagg.Secrets, n), announcements: make([][]byte, n), held: map[int]secagg.Held{}}
	corrupt := (n - 1) / 3
	quorum := (n+corrupt)/2 + 1
	g.cfg = secagg.Config{Corrupt: corrupt, Quorum: quorum, MinSurvivors: max(quorum, corrupt+2), Slots: slots}
	rand.Read(g.cfg.Study[:])
	for range n {
		public, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			return nil, err
		}
		g.cfg.Identity, g.keys = append(g.cfg.Identity, public), append(g.keys, key)
	}
	if err := g.cfg.Validate(); err != nil {
		return nil, err
	}
	err := each(n, func(i int) (err error) {
		if g.secrets[i], err = secagg.NewSecrets(g.cfg); err == nil {
			g.announcements[i], err = secagg.Announce(g.cfg, i, g.secrets[i], g.keys[i])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	g.setup, err = secagg.Verify(g.cfg, g.announcements)
	return g, err
}

// refused says that sites are too many, or too few, for the graph.
func refused(err error) bool {
	_, ok := errors.AsType[*secagg.ConfigError](err)
	return ok
}

// each runs work for 0..n-1, a few at a time.
func each(n int, work func(i int) error) error {
	var e errgroup.Group
	e.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		e.Go(func() error { return work(i) })
	}
	return e.Wait()
}

// setupTimes is the CPU of one agent's setup. The coordinator makes the same check.
type setupTimes struct {
	announce, check, deal, receive time.Duration
	bytes                          int // up
}

func (s setupTimes) agent() time.Duration { return s.announce + s.check + s.deal + s.receive }

// setUp makes site self's part once more. Everybody else's is made the first time, and not measured.
func (g *group) setUp(self int) (s setupTimes, err error) {
	if g.boxes == nil {
		if g.boxes, err = g.boxesFor(self); err != nil {
			return s, err
		}
	}
	n := len(g.keys)
	var own [][]byte
	signatures := make([][]byte, n)
	for i := range signatures {
		signatures[i] = g.setup.Confirm(g.keys[i], i)
	}
	settle()
	for _, part := range []struct {
		into *time.Duration
		work func() error
	}{
		{&s.announce, func() error {
			sec, err := secagg.NewSecrets(g.cfg)
			if err == nil {
				_, err = secagg.Announce(g.cfg, self, sec, g.keys[self])
			}
			return err
		}},
		{&s.check, func() error {
			setup, err := secagg.Verify(g.cfg, g.announcements)
			if err == nil {
				err = setup.CheckConfirmations(signatures)
			}
			return err
		}},
		{&s.deal, func() (err error) { own, err = g.setup.Deal(self, g.secrets[self]); return err }},
		{&s.receive, func() error {
			_, err := g.setup.Receive(self, g.secrets[self], g.boxes)
			g.setup.Confirm(g.keys[self], self)
			return err
		}},
	} {
		if *part.into, err = onCPU(part.work); err != nil {
			return s, err
		}
	}
	s.bytes = len(g.announcements[self]) + len(signatures[self])
	for _, box := range own {
		s.bytes += len(box)
	}
	return s, nil
}

// boxesFor gives everybody's boxes for one site.
func (g *group) boxesFor(to int) ([][]byte, error) {
	boxes := make([][]byte, len(g.keys))
	return boxes, each(len(g.keys), func(from int) error {
		if from == to {
			return nil
		}
		dealt, err := g.setup.Deal(from, g.secrets[from])
		if err == nil {
			boxes[from] = dealt[to]
		}
		return err
	})
}

// holdShares deals and receives for all sites, and makes everybody's agreements of slot 0.
func (g *group) holdShares() error {
	n := len(g.keys)
	boxes := make([][][]byte, n)
	if err := each(n, func(from int) (err error) { boxes[from], err = g.setup.Deal(from, g.secrets[from]); return err }); err != nil {
		return err
	}
	held := make([]secagg.Held, n)
	g.agreed = make([]*secagg.Agreement, n)
	err := each(n, func(to int) (err error) {
		mine := make([][]byte, n)
		for from := range n {
			mine[from] = boxes[from][to]
		}
		if held[to], err = g.setup.Receive(to, g.secrets[to], mine); err == nil {
			g.agreed[to], err = g.setup.Agree(to, 0, g.secrets[to].Slots[0])
		}
		return err
	})
	for i, h := range held {
		g.held[i] = h
	}
	return err
}

// aggregation is one query's messages, made by everybody.
type aggregation struct {
	g           *group
	q           secagg.Query
	u           secagg.Survivors
	uploads     [][]byte // by site
	signatures  [][]byte // of u
	certificate secagg.Certificate
	helpers     []int
	shares      [][]byte // of helpers
}

// aggregate makes a query over d values and its noise lanes, with the given number of sites missing from its sum.
func (g *group) aggregate(d, dropped int, bits uint) (*aggregation, error) {
	n := len(g.keys)
	r := &aggregation{g: g, uploads: make([][]byte, n)}
	r.q = secagg.Query{Bits: bits, Lanes: d + secagg.NoiseLaneCount(bits)}
	rand.Read(r.q.Context[:])
	for i := range n - dropped {
		r.u = append(r.u, i)
	}
	if err := r.u.Validate(n, g.cfg.MinSurvivors); err != nil {
		return nil, err
	}
	err := each(len(r.u), func(i int) error {
		v := vector(i, r.q.Lanes)
		if err := g.agreed[i].Mask(r.q, v); err != nil {
			return err
		}
		r.uploads[i] = secagg.Pack(v, bits)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.signatures = make([][]byte, len(r.u))
	r.certificate = make(secagg.Certificate, n)
	for at, i := range r.u {
		if r.signatures[at], err = g.setup.SignRelease(i, g.keys[i], r.q, r.u); err != nil {
			return nil, err
		}
		if at < g.cfg.Quorum {
			r.certificate[i] = r.signatures[at]
		}
	}
	r.helpers = r.u[:g.cfg.Quorum]
	r.shares = make([][]byte, len(r.helpers))
	return r, each(len(r.helpers), func(at int) (err error) {
		i := r.helpers[at]
		r.shares[at], err = g.setup.OpenShares(i, g.held[i][0], r.q, r.u, r.certificate)
		return err
	})
}

// vector is what site i hides: small numbers that tell the sites apart.
func vector(i, lanes int) []uint64 {
	v := make([]uint64, lanes)
	for j := range v {
		v[j] = uint64((i + 1) * (j%97 + 1))
	}
	return v
}

// want is the sum to be opened. The agent that is measured hides zeros, in an upload that is thrown away.
func (r *aggregation) want() []uint64 {
	sum := make([]uint64, r.q.Lanes)
	for _, i := range r.u {
		secagg.SumInto(sum, vector(i, r.q.Lanes), r.q.Bits)
	}
	return sum
}

// bytesUp is what one agent sends a round: upload, signature and shares.
func (r *aggregation) bytesUp() int {
	id := r.g.cfg.Study[:]
	total := 0
	for _, m := range []*covey.SiteMessage{
		{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{Study: id, Query: 20, Slot: 20, Masked: r.uploads[0]}}},
		{Body: &covey.SiteMessage_ReleaseSignature{ReleaseSignature: &covey.ReleaseSignature{Study: id, Query: 20, Slot: 20, Signature: r.signatures[0]}}},
		{Body: &covey.SiteMessage_Shares{Shares: &covey.Shares{Study: id, Query: 20, Slot: 20, Shares: r.shares[0]}}},
	} {
		raw, err := proto.Marshal(m)
		if err != nil {
			panic(fmt.Sprint("of our own message: ", err))
		}
		frame.Send(raw, func(data []byte, last bool) error {
			total += onWire(proto.Size(&covey.LinkRequest{Frame: &covey.Frame{Data: data, Last: last}}))
			return nil
		})
	}
	return total
}

// onWire adds to a gRPC message what carries it: 5 bytes of gRPC, and for each 16 kB at most 9 of HTTP/2's DATA frame and
// 22 of TLS 1.3's record.
func onWire(message int) int {
	const piece = 16 << 10
	message += 5
	return message + (message+piece-1)/piece*(9+22)
}

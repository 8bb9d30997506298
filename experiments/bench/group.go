package bench

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"

	"google.golang.org/protobuf/proto"

	"covey/internal/graph"
	"covey/internal/secagg"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/parties"
)

// group is the sites of one setup, and what the coordinator keeps of it.
type group struct {
	*parties.Group
	kept secagg.Kept
}

// newConfig returns the numbers of n sites: on the complete graph with η = ⌊(n-1)/3⌋ corrupt ones,
// as a study has, and above secagg.MaxSites on the sparse one with a tenth of them corrupt, for a
// tenth that drops out.
func newConfig(n, slots int) (cfg secagg.Config, err error) {
	cfg = secagg.Config{Corrupt: (n - 1) / 3, Slots: slots}
	if n > secagg.MaxSites {
		cfg.Corrupt = n / 10
	}
	cfg.Quorum = (n+cfg.Corrupt)/2 + 1
	cfg.MinSurvivors = max(cfg.Quorum, cfg.Corrupt+2)
	if n > secagg.MaxSites {
		cfg.Sparse, err = graph.NewNumbers(n, cfg.Corrupt, cfg.MinSurvivors, 0.1)
	}
	rand.Read(cfg.Study[:])
	return cfg, err
}

// newGroup makes the announcements of n sites and checks them.
func newGroup(n, slots int) (*group, error) {
	cfg, err := newConfig(n, slots)
	if err != nil {
		return nil, err
	}
	keys := make([]ed25519.PrivateKey, n)
	for i := range keys {
		if _, keys[i], err = ed25519.GenerateKey(nil); err != nil {
			return nil, err
		}
	}
	g := &group{}
	g.Group, err = parties.New(cfg, keys, nil)
	return g, err
}

// holdShares sets what all sites hold.
func (g *group) holdShares() error {
	if g.Sparse() {
		return g.computeShares()
	}
	err := g.Hold()
	if err == nil {
		g.kept = g.Kept()
	}
	return err
}

// setUp measures site self's part of the setup, and the check that the coordinator makes too.
// Everybody else's part is made first, and not measured. It returns the bytes that the site sends.
func (g *group) setUp(self int, t times) (up int, err error) {
	senders := g.Setup.Graph().Senders(self)
	if err := parties.Each(len(senders), func(at int) error { return g.Deal(senders[at]) }); err != nil {
		return 0, err
	}
	boxes, bodies := g.Received(self)
	seals := g.SealsFor(self)
	signatures, transcript := make([][]byte, len(g.Keys)), g.Setup.Transcript()
	for i := range signatures { // of sites that nobody deals to here
		signatures[i] = ed25519.Sign(g.Keys[i], binary.BigEndian.AppendUint16(append([]byte("covey secagg confirmation v2\x00"), transcript[:]...), uint16(i)))
	}
	var own [][]byte
	var taken *secagg.Received
	runtime.GC()
	err = t.run([]part{
		{"announce", func() error {
			sec, err := secagg.NewSecrets(g.Config)
			if err == nil {
				_, err = secagg.Announce(g.Config, self, sec, g.Keys[self])
			}
			return err
		}},
		{"check", func() error {
			checked, err := g.Check()
			if err == nil {
				err = checked.CheckConfirmations(signatures)
			}
			return err
		}},
		{"deal", func() (err error) {
			own, err = g.Setup.Deal(self, g.Secrets[self], g.Keys[self], seals)
			return err
		}},
		{"receive", func() (err error) {
			taken, err = g.Setup.Receive(self, g.Secrets[self], g.Keys[self], boxes, bodies)
			return err
		}},
	})
	if err != nil {
		return 0, err
	}
	var nonce []byte
	if g.Sparse() {
		nonce = g.Secrets[self].Nonce[:]
	}
	for _, sent := range append(own, g.Announcements[self], g.Seals[self], g.Bodies[self], nonce, taken.Deposits, taken.Statement, taken.Confirmation) {
		up += len(sent)
	}
	return up, nil
}

// aggregation is one query's messages, made by everybody.
type aggregation struct {
	g           *group
	q           secagg.Query
	u           secagg.Survivors
	uploads     [][]byte // by site
	signers     []int    // of U, whose signatures count
	signatures  [][]byte // of signers
	certificate secagg.Certificate
	helpers     []int
	shares      [][]byte // of helpers
}

// aggregate makes a query over d values and its noise lanes, with the given number of sites missing
// from its sum.
func (g *group) aggregate(d, dropped int, bits uint) (*aggregation, error) {
	n := len(g.Keys)
	r := &aggregation{g: g, uploads: make([][]byte, n)}
	r.q = secagg.Query{Bits: bits, Lanes: d + secagg.NoiseLaneCount(bits)}
	rand.Read(r.q.Context[:])
	for i := range n - dropped {
		r.u = append(r.u, i)
	}
	err := parties.Each(len(r.u), func(i int) error {
		v := vector(i, r.q.Lanes)
		if err := g.Setup.Mask(i, g.Secrets[i].Slots[0], g.Held[i][0], r.q, v); err != nil {
			return err
		}
		r.uploads[i] = secagg.Pack(v, bits)
		return nil
	})
	if err != nil {
		return nil, err
	}
	enough := g.Config.Quorum
	if g.Sparse() {
		enough = g.Config.Sparse.Threshold
	}
	r.certificate = make(secagg.Certificate, n)
	for _, i := range g.Setup.Graph().Committee() {
		if !r.u.Contains(i) {
			continue
		}
		signature, err := g.Setup.SignRelease(i, g.Keys[i], r.q, r.u)
		if err != nil {
			return nil, err
		}
		if len(r.signers) < enough {
			r.certificate[i] = signature
		}
		r.signers, r.signatures = append(r.signers, i), append(r.signatures, signature)
	}
	return r, r.help()
}

// help makes the shares of as many survivors as are needed, in the roster's order.
func (r *aggregation) help() error {
	shares := make([][]byte, len(r.u))
	most := len(r.u)
	if !r.g.Sparse() {
		most = r.g.Config.Quorum
	}
	if err := r.g.Setup.CheckCertificate(r.q, r.u, r.certificate); err != nil {
		return err // every site checks it; one of them is measured
	}
	err := parties.Each(most, func(at int) (err error) {
		i := r.u[at]
		shares[at], err = r.g.Setup.CertifiedShares(i, r.g.Secrets[i].Slots[0], r.g.Held[i][0], r.q, r.u)
		return err
	})
	if err != nil {
		return err
	}
	opening, err := r.g.Setup.NewOpening(r.q, r.u, r.g.kept)
	for at := 0; err == nil && at < most && !opening.Ready(); at++ {
		r.helpers, r.shares = append(r.helpers, r.u[at]), append(r.shares, shares[at])
		err = opening.Add(r.u[at], shares[at])
	}
	return err
}

// agentParts and coordinatorParts are a round's parts in order.
var (
	agentParts       = []string{"mask", "sign", "shares"}
	coordinatorParts = []string{"sum", "signatures", "opening"}
)

// run measures one agent's round and the coordinator's once.
func (r *aggregation) run(t times) error {
	g, self := r.g, r.u[len(r.u)-1]
	own, held := g.Secrets[self].Slots[0], g.Held[self][0]
	v, sum := make([]uint64, r.q.Lanes), make([]uint64, r.q.Lanes)
	runtime.GC()
	err := t.run([]part{
		{"mask", func() error {
			if err := g.Setup.Mask(self, own, held, r.q, v); err != nil {
				return err
			}
			secagg.Pack(v, r.q.Bits)
			return nil
		}},
		{"sign", func() error { _, err := g.Setup.SignRelease(self, g.Keys[self], r.q, r.u); return err }},
		{"shares", func() error { _, err := g.Setup.OpenShares(self, own, held, r.q, r.u, r.certificate); return err }},
		{"sum", func() error {
			for _, i := range r.u {
				if err := secagg.SumPacked(sum, r.uploads[i], r.q.Bits); err != nil {
					return err
				}
			}
			return nil
		}},
		{"signatures", func() error {
			releasing, err := g.Setup.Releasing(r.q, r.u)
			for at, i := range r.signers {
				if err == nil {
					err = releasing.Check(i, r.signatures[at])
				}
			}
			return err
		}},
		{"opening", func() error {
			opening, err := g.Setup.NewOpening(r.q, r.u, g.kept)
			if err != nil {
				return err
			}
			for at, i := range r.helpers {
				if err := opening.Add(i, r.shares[at]); err != nil {
					return err
				}
			}
			return opening.Unmask(sum)
		}},
	})
	if err == nil && !slices.Equal(sum, r.want()) {
		err = fmt.Errorf("the opened sum of %d sites is not the true one", len(r.u))
	}
	return err
}

// vector returns what site i hides: small numbers that tell the sites apart.
func vector(i, lanes int) []uint64 {
	v := make([]uint64, lanes)
	for j := range v {
		v[j] = uint64((i + 1) * (j%97 + 1))
	}
	return v
}

// want returns the sum to be opened. The agent that is measured hides zeros, in an upload that is
// thrown away.
func (r *aggregation) want() []uint64 {
	sum := make([]uint64, r.q.Lanes)
	for _, i := range r.u {
		secagg.SumInto(sum, vector(i, r.q.Lanes), r.q.Bits)
	}
	return sum
}

// bytesUp returns how many bytes one agent sends a round: upload, signature and shares.
func (r *aggregation) bytesUp() int {
	id := r.g.Config.Study[:]
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
		wire.Send(raw, func(data []byte, last bool) error {
			total += onWire(proto.Size(&covey.LinkRequest{Frame: &covey.Frame{Data: data, Last: last}}))
			return nil
		})
	}
	return total
}

// onWire adds to a gRPC message what carries it: 5 bytes of gRPC, and for each 16 kB at most 9 of
// HTTP/2's DATA frame and 22 of TLS 1.3's record.
func onWire(message int) int {
	const piece = 16 << 10
	message += 5
	return message + (message+piece-1)/piece*(9+22)
}

package coordinator

import (
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/analysis"
	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
)

// Offer returns what a proposal is made of. Of each site it tells one count a data set and day: the
// first of the day goes into the log, so that every later leader tells the same.
func (s analysts) Offer(ctx context.Context, dataset string, sites, readers []string) (wire.Offer, error) {
	who, err := s.caller(ctx, costOffer)
	if err != nil {
		return wire.Offer{}, err
	}
	if len(dataset) > wire.MaxDataset || len(sites) > proposal.MaxSites || len(readers) > proposal.MaxReaders {
		return wire.Offer{}, status.Errorf(codes.InvalidArgument, "at most %d bytes of a data set's name, %d sites and %d readers", wire.MaxDataset, proposal.MaxSites, proposal.MaxReaders)
	}
	now := s.c.now()
	m := s.c.machine.lock()
	offering, fresh, err := m.offering(dataset, sites, now)
	s.c.machine.unlock()
	if err != nil {
		return wire.Offer{}, err
	}
	if len(fresh) > 0 {
		if err := s.c.apply(entry{Tell: &tellEntry{dataset, fresh}}); err != nil {
			return wire.Offer{}, s.failed(err, "offer", who)
		}
	}
	out := wire.Offer{Coordinator: s.c.signingKey(), Clock: now}
	if out.Readers, err = s.c.readers(readers); err != nil {
		return wire.Offer{}, status.Error(codes.NotFound, err.Error())
	}
	m = s.c.machine.lock()
	defer s.c.machine.unlock()
	for _, h := range offering {
		units, _ := m.counts.Of(dataset, h.Name)
		out.Sites = append(out.Sites, proposal.Member{Name: h.Name, Identity: h.Identity, Units: units})
	}
	return out, nil
}

// offering returns the sites, of those that are named or of all, that offer a data set, and the
// counts of those that were not told today. Of all, those without the data set are left out.
func (m *leader) offering(dataset string, names []string, now time.Time) (offering []membership.Holder, fresh map[string]int, err error) {
	sites, links, err := m.connected(names)
	if err != nil {
		return nil, nil, status.Error(codes.NotFound, err.Error())
	}
	fresh = map[string]int{}
	for i, h := range sites {
		units, offers := links[i].units[dataset]
		switch {
		case !offers && len(names) == 0:
			continue
		case !offers:
			return nil, nil, status.Errorf(codes.NotFound, "site %q offers no such data set", h.Name)
		}
		offering = append(offering, h)
		if m.counts.Fresh(dataset, h.Name, now) {
			fresh[h.Name] = units
		}
	}
	return offering, fresh, nil
}

// maxProposing is how many proposals of an analyst are read and looked at at a time: each is in
// memory from its first frame on, for as long as the rest does not come.
const maxProposing = 2

// Proposing takes one of the caller's places for a proposal on its way.
func (s analysts) Proposing(ctx context.Context) (done func(), err error) {
	who, err := s.caller(ctx, 0)
	if err != nil {
		return nil, err
	}
	m := s.c.machine.lock()
	defer s.c.machine.unlock()
	if m.proposing[who.Name] >= maxProposing {
		return nil, status.Errorf(codes.ResourceExhausted, "%d proposals of this analyst are on their way: wait until they are answered", maxProposing)
	}
	m.proposing[who.Name]++
	return func() { s.proposed(who.Name) }, nil
}

// proposed frees a place that Proposing took.
func (s analysts) proposed(name string) {
	m := s.c.machine.lock()
	defer s.c.machine.unlock()
	if m.proposing[name]--; m.proposing[name] == 0 {
		delete(m.proposing, name)
	}
}

// Propose takes a proposal that its caller has made and signed. The same one again is taken as
// before: its answer was lost.
func (s analysts) Propose(ctx context.Context, offered wire.Proposal) (proposal.Digest, error) {
	who, err := s.caller(ctx, costPropose)
	if err != nil {
		return proposal.Digest{}, err
	}
	digest := proposal.DigestOf(offered.Body)
	known, err := s.fits(offered, digest, partyOf(who))
	if known {
		return digest, nil
	}
	if err != nil {
		return digest, refusal(err)
	}
	err = s.c.apply(entry{Round: &round.Entry{Study: digest, Kind: round.EntryProposed, Body: offered.Body, Signature: offered.Signature}})
	if _, refused := errors.AsType[*analysis.Refusal](err); refused { // another one was quicker
		return digest, refusal(err)
	}
	if _, stale := errors.AsType[*round.StaleError](err); err != nil && !stale { // stale: sent twice at a time
		return digest, s.failed(err, "propose", who)
	}
	s.c.log.Info("an analyst has proposed a study", "analyst", who.Name, "study", digest)
	return digest, nil
}

// refusal returns the status of a proposal that is not taken.
func refusal(err error) error {
	if refused, ok := errors.AsType[*analysis.Refusal](err); ok && refused.Quota {
		return status.Error(codes.ResourceExhausted, refused.Reason)
	}
	return status.Error(codes.InvalidArgument, err.Error())
}

// fits checks an analyst's proposal before anything of it is written: whose it is, that it is
// signed, that it was made for this federation, and that there is room for it. known reports
// whether it was taken before.
func (s analysts) fits(offered wire.Proposal, digest proposal.Digest, by proposal.Party) (known bool, err error) {
	p, err := proposal.Parse(offered.Body)
	if err != nil {
		return false, err
	}
	if err := p.CheckSignature(digest, offered.Signature); err != nil {
		return false, err
	}
	now := s.c.now()
	m := s.c.machine.lock()
	if err = m.federation().Fits(&p, by, now); err == nil {
		if _, known = m.find(digest); !known {
			err = m.mayPropose(&p, now, func(r outline.Study) bool {
				return over(m.told(r, now)) // or the place of one would show its end before its time
			})
		}
	}
	s.c.machine.unlock()
	if known || err != nil {
		return known, err
	}
	_, err = study.NewPlan(offered.Body)
	return false, err
}

// federation returns what analysts' proposals have to fit.
func (m *leader) federation() analysis.Federation {
	current := func(all map[string]membership.Holder) func(string) proposal.Key {
		return func(name string) proposal.Key {
			if h := all[name]; !h.Revoked {
				return h.Identity
			}
			return nil
		}
	}
	return analysis.Federation{Coordinator: m.signingKey(), Site: current(m.who.Sites), Analyst: current(m.who.Analysts), Units: m.counts.Of}
}

// mayPropose returns why a study cannot be taken as the state is: an analyst may have at most so
// many, and must still be a member. over reports which of those that have ended hold no place. If
// over is nil, none of these holds one, and mayPropose is deterministic: at is the entry's time.
func (m *replicated) mayPropose(p *proposal.Proposal, at time.Time, over func(outline.Study) bool) error {
	if by := p.Proposer; by != nil {
		if h := m.who.Analysts[by.Name]; h.Revoked || !by.Same(h.Party()) {
			return &analysis.Refusal{Reason: "proposer: is not an analyst of this federation"}
		}
	}
	return analysis.Allowed(p, at, func(yield func(analysis.Earlier) bool) {
		for _, r := range m.all {
			e := analysis.Earlier{Proposal: r.Proposal(), Proposed: m.dates[r.Digest].Proposed, Over: r.Terminal()}
			if by := e.Proposal.Proposer; e.Over && over != nil && by != nil && by.Name == p.Proposer.Name {
				e.Over = over(r)
			}
			if !yield(e) {
				return
			}
		}
	})
}

func (c *core) signingKey() proposal.Key {
	return proposal.Key(c.authority.SigningKey().Public().(ed25519.PublicKey))
}

// tellEntry notes what analysts are told of a data set's sizes, by site.
type tellEntry struct {
	Dataset string         `json:"dataset"`
	Units   map[string]int `json:"units"`
}

package coordinator

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/study"
)

// connected returns the sites that are named, or all that have joined, and their links. None that
// is away is left out unsaid: its units would be missing from the study.
func (m *leader) connected(names []string) (sites []membership.Holder, links []*link, err error) {
	if len(names) == 0 {
		for _, h := range membership.ByName(m.who.Sites) {
			if !h.Revoked {
				names = append(names, h.Name)
			}
		}
	}
	for _, name := range names {
		h, ok := m.who.Sites[name]
		if !ok || h.Revoked {
			return nil, nil, proposal.FieldErrorf("sites", "%.80q has not joined", name)
		}
		l := m.links[name]
		if l == nil {
			return nil, nil, proposal.FieldErrorf("sites", "%q is not connected, so its count of units is not known: wait for it, name sites = [...] without it, or plan with validate --units (one count per site)", name)
		}
		sites, links = append(sites, h), append(links, l)
	}
	return sites, links, nil
}

// Roster fills a spec's roster in from the sites that are connected and offer
// its data set: their identity keys, and their counts of units.
func (c *Coordinator) Roster(spec proposal.Spec) (roster []proposal.Member, err error) {
	m := c.machine.lock()
	defer c.machine.unlock()
	sites, links, err := m.connected(spec.Sites)
	for i, h := range sites {
		units, ok := links[i].units[spec.Dataset]
		if !ok {
			return nil, proposal.FieldErrorf("dataset", "site %q offers no data set %q", h.Name, spec.Dataset)
		}
		roster = append(roster, proposal.Member{Name: h.Name, Identity: h.Identity, Units: units})
	}
	return roster, err
}

// Create proposes a study to its sites.
func (c *Coordinator) Create(spec proposal.Spec) (*study.Plan, error) {
	var nonce [32]byte
	rand.Read(nonce[:])
	body, plan, err := c.planned(spec, nonce)
	if err != nil {
		return nil, err
	}
	return plan, c.apply(entry{Round: &round.Entry{Study: plan.Digest, Kind: round.EntryProposed, Body: body}})
}

// Preview returns the plan that Create would propose now, with another nonce.
func (c *Coordinator) Preview(spec proposal.Spec) (*study.Plan, error) {
	_, plan, err := c.planned(spec, [32]byte{})
	return plan, err
}

// planned returns the proposal of a spec with the sites that are connected now, and its plan.
func (c *Coordinator) planned(spec proposal.Spec, nonce [32]byte) (body []byte, plan *study.Plan, err error) {
	if spec, err = spec.Dated(c.now()); err != nil {
		return nil, nil, err
	}
	roster, err := c.Roster(spec)
	if err != nil {
		return nil, nil, err
	}
	readers, err := c.readers(spec.Readers)
	if err != nil {
		return nil, nil, err
	}
	if body, err = proposal.ProposeAs(nil, spec, roster, readers, ed25519.PublicKey(c.signingKey()), nonce); err != nil {
		return nil, nil, err
	}
	plan, err = study.NewPlan(body)
	return body, plan, err
}

// readers returns analysts who have joined, with their keys.
func (c *Coordinator) readers(names []string) (out []proposal.Party, err error) {
	for _, name := range names {
		h, ok := c.machine.holder(pki.RoleAnalyst, name)
		if !ok || h.Revoked {
			return nil, proposal.FieldErrorf("readers", "no analyst %.80q has joined", name)
		}
		out = append(out, h.Party())
	}
	return out, nil
}

// Find resolves a digest, the beginning of one of at least 4 digits, or else a study's name, for
// reading: a decision names its digest whole.
func (c *Coordinator) Find(ref string) (proposal.Digest, error) {
	m := c.machine.lock()
	defer c.machine.unlock()
	var found []proposal.Digest
	for _, r := range m.all {
		if proposal.Refers(ref, r.Digest, r.Proposal().Spec.Name) {
			found = append(found, r.Digest)
		}
	}
	slices.Reverse(found)
	if len(found) != 1 {
		return proposal.Digest{}, &proposal.UnknownError{Ref: ref, Matches: found}
	}
	return found[0], nil
}

// ErrOver is of a study that cannot be ended: it is over.
var ErrOver = errors.New("the study is over")

// Abort ends a study. What was charged stays charged.
func (c *Coordinator) Abort(digest proposal.Digest) error {
	m := c.machine.lock()
	r, ok := m.find(digest)
	over := ok && r.Terminal()
	c.machine.unlock()
	switch {
	case !ok:
		return &proposal.UnknownError{Ref: digest.String()}
	case over:
		return ErrOver
	}
	return c.apply(entry{Round: &round.Entry{Study: digest, Kind: round.EntryEnded, Code: study.CodeAborted}})
}

// Body returns a proposal's exact bytes.
func (c *Coordinator) Body(digest proposal.Digest) ([]byte, error) {
	w, err := c.whole(digest)
	return w.Body, err
}

// now is a study at a moment.
type now struct {
	round.Durable // without its releases
	releases      func(see func(round.Released) error) error
	roster        []proposal.Member
	words         map[int]outline.Word
}

// whole returns a study's state now, which the caller must not change. One that is over is read
// from the disk.
func (c *Coordinator) whole(digest proposal.Digest) (now, error) {
	m := c.machine.lock()
	r, ok := m.find(digest)
	if !ok {
		c.machine.unlock()
		return now{}, &proposal.UnknownError{Ref: digest.String()}
	}
	if r.State != nil {
		defer c.machine.unlock()
		return now{r.State.Durable, listed(r.State.Releases), r.Proposal().Roster, maps.Clone(m.words[digest])}, nil
	}
	c.machine.unlock()
	state, words, err := r.Closed.Load()
	if err != nil {
		return now{}, fmt.Errorf("study %s cannot be read again: %w", digest, err)
	}
	return now{state.Durable, r.Closed.Releases, r.Proposal().Roster, words}, nil
}

// listed shows releases that are in memory.
func listed(releases []round.Released) func(see func(round.Released) error) error {
	return func(see func(round.Released) error) error {
		for _, r := range releases {
			if err := see(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// UnfinishedError is a result asked for before the study completed.
type UnfinishedError struct {
	Status round.Status
	Code   study.Code
}

func (e *UnfinishedError) Error() string {
	if e.Code != "" {
		return fmt.Sprintf("the study has no result: it is %s (%s)", e.Status, e.Code)
	}
	return fmt.Sprintf("the study has no result yet: it is %s", e.Status)
}

// completed returns a completed study and what its sites signed of it.
func (c *Coordinator) completed(digest proposal.Digest) (now, result.Evidence, error) {
	w, err := c.whole(digest)
	if err == nil && w.Status != round.StatusCompleted {
		err = &UnfinishedError{w.Status, w.Code}
	}
	return w, evidence(w.Durable, approvals(w.roster, w.words)), err
}

// Result returns a completed study's result, as its sites signed it, and as [result.Read] would.
func (c *Coordinator) Result(digest proposal.Digest) (*result.Result, error) {
	w, e, err := c.completed(digest)
	if err != nil {
		return nil, err
	}
	return result.Draft(w.Draft).Complete(w.Body, e, w.Attestations, w.signed())
}

// signed shows the study's releases with their certificates.
func (w now) signed() result.Transcript {
	return func(see func(result.SignedRelease, []byte) error) error {
		return w.releases(func(r round.Released) error { return see(signedRelease(r), r.Certificate) })
	}
}

// ResultFile returns what writes the file of Result. It holds one release at a time. What fails
// after its beginning was given out is logged, since who reads it sees only that it is cut off.
func (c *Coordinator) ResultFile(digest proposal.Digest) (func(io.Writer) error, error) {
	w, e, err := c.completed(digest)
	if err != nil {
		return nil, err
	}
	write, err := result.Draft(w.Draft).Writer(w.Body, e, w.Attestations, w.signed())
	if err != nil {
		return nil, err
	}
	return func(to io.Writer) error {
		counted := &counter{to: to}
		err := write(counted)
		if err != nil && counted.err == nil {
			c.log.Error("a result cannot be put together; its beginning was given out", "study", digest, "bytes", counted.n, "error", err)
		}
		return err
	}, nil
}

// Watch calls see with the view of a study now and after every change, until it is over, see fails,
// ctx ends or this node stops leading (ErrNotLeader). Changes that come faster than see returns are
// seen together.
func (c *Coordinator) Watch(ctx context.Context, digest proposal.Digest, see func(outline.View) error) error {
	for {
		m := c.machine.lock()
		if !m.leading {
			c.machine.unlock()
			return ErrNotLeader
		}
		changed := m.changed
		r, _ := m.find(digest)
		view, over := m.view(r), r.Terminal()
		c.machine.unlock()
		if err := see(view); err != nil || over {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.stopping:
			return errors.New("the coordinator stops")
		}
	}
}

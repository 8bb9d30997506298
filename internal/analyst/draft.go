package analyst

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"

	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// maxClockGap is how far the coordinator's clock may be from this one before it is said.
const maxClockGap = 2 * time.Minute

// expiry is used for a study whose file has none: an analyst's proposal does not wait forever.
const expiry = "336h"

// Draft is a proposal of this analyst's that was not sent.
type Draft struct {
	Body  []byte
	Plan  *study.Plan // Body's
	Fresh []string    // names whose keys are not pinned; empty: the coordinator
	// for the pins, once it is sent
	offer   wire.Offer
	trusted []string
}

// Draft makes the proposal of a study: it asks the coordinator for the sites' keys and counts and
// the readers' keys, holds them against those pinned, and writes all of it with this analyst as
// its proposer. trusted are fingerprints of keys that may have changed. It pins nothing, since the
// analyst has not agreed. Errors: [*KeyChangedError], [*AnswerError], *[proposal.FieldError], and
// those of a call.
func (c *Client) Draft(ctx context.Context, spec proposal.Spec, trusted []string) (*Draft, error) {
	for field, names := range map[string][]string{"sites": spec.Sites, "readers": spec.Readers} {
		for _, name := range names {
			if err := pki.ValidName(name); err != nil {
				return nil, &proposal.FieldError{Field: field, Reason: err.Error()}
			}
		}
	}
	if spec.Expires == "" {
		spec.Expires = expiry
	}
	spec, err := spec.Dated(c.now())
	if err != nil {
		return nil, err
	}
	var offer wire.Offer
	if err := c.call(ctx, callTime, func(ctx context.Context, conn *grpc.ClientConn) (err error) {
		offer, err = wire.CallOffer(ctx, conn, spec.Dataset, spec.Sites, spec.Readers)
		return err
	}); err != nil {
		return nil, err
	}
	if err := check(offer, spec); err != nil {
		return nil, err
	}
	if len(offer.Sites) == 0 {
		return nil, &proposal.FieldError{Field: "dataset", Reason: fmt.Sprintf("no connected site offers %q now", spec.Dataset)}
	}
	if gap := c.now().Sub(offer.Clock); gap.Abs() > maxClockGap {
		c.Say("the coordinator's clock and this machine's differ by %v: the proposal expires by this machine's", gap.Abs().Round(time.Second))
	}
	before, err := c.readPins()
	if err != nil {
		return nil, err
	}
	_, fresh, err := before.with(offer, trusted)
	if err != nil {
		return nil, err
	}
	var nonce [32]byte
	rand.Read(nonce[:])
	body, err := written(c.Party(), spec, offer, nonce)
	if err != nil {
		return nil, err
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		return nil, err
	}
	return &Draft{body, plan, fresh, offer, trusted}, nil
}

// written returns the proposal of a study, of an offer that was checked.
func written(self proposal.Party, spec proposal.Spec, o wire.Offer, nonce [32]byte) ([]byte, error) {
	body, err := proposal.ProposeAs(&self, spec, o.Sites, o.Readers, ed25519.PublicKey(o.Coordinator), nonce)
	if err == nil && len(body) > wire.MaxProposed {
		return nil, &proposal.FieldError{Field: "columns", Reason: fmt.Sprintf("the proposal has %d bytes, and an analyst's has at most %d", len(body), wire.MaxProposed)}
	}
	return body, err
}

// check refuses an offer that is not one for this spec: who is in the study is the analyst's to
// say, and not the coordinator's.
func check(o wire.Offer, spec proposal.Spec) error {
	refuse := func(format string, args ...any) error { return &AnswerError{fmt.Sprintf(format, args...)} }
	key := func(who string, k proposal.Key) error {
		if len(k) != ed25519.PublicKeySize {
			return refuse("%s: no Ed25519 key", who)
		}
		return nil
	}
	if err := key("the coordinator", o.Coordinator); err != nil {
		return err
	}
	if len(o.Sites) > proposal.MaxSites {
		return refuse("%d sites, at most %d", len(o.Sites), proposal.MaxSites)
	}
	var names []string
	for _, s := range o.Sites {
		if pki.ValidName(s.Name) != nil || slices.Contains(names, s.Name) {
			return refuse("a site named %s", frame.Quoted(s.Name))
		}
		if err := key(s.Name, s.Identity); err != nil {
			return err
		}
		names = append(names, s.Name)
	}
	if len(spec.Sites) > 0 && !slices.Equal(names, spec.Sites) {
		return refuse("it offers the sites %q, and the study names %q", names, spec.Sites)
	}
	names = nil
	for _, r := range o.Readers {
		if err := key(frame.Word(r.Name), r.Identity); err != nil {
			return err
		}
		names = append(names, r.Name)
	}
	if !slices.Equal(names, spec.Readers) {
		return refuse("it offers other readers than the %d that the study names", len(spec.Readers))
	}
	return nil
}

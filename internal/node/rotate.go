package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"covey/internal/membership"
)

// A change of CAs goes by the log, which holds certificates, and each coordinator brings its folder
// to where the log is. Keys go from one coordinator to another over their own port.

// rotationTick is how often a coordinator compares its folder with the log.
const rotationTick = time.Second

// CAReply is the state of the federation's CAs as the leader knows it.
type CAReply struct {
	Present string `json:"present"` // fingerprints
	Next    string `json:"next,omitempty"`
	Old     string `json:"old,omitempty"`
	// Waiting are sites whose certificates are not of the next CA yet, or, once it is in force, of
	// it.
	Waiting []string `json:"waiting_sites,omitempty"`
	// Coordinators are those that do not hold the next CA's key, or have not promoted it, with why.
	Coordinators []string  `json:"waiting_coordinators,omitempty"`
	Expires      time.Time `json:"expires"` // the present one's end
}

// heldReply is what one coordinator's folder holds.
type heldReply struct{ Present, Next string }

// followCA runs beside everything else.
func (n *Node) followCA(ctx context.Context) {
	tick := time.NewTicker(rotationTick)
	defer tick.Stop()
	said := ""
	for {
		err := n.reconcileCA(ctx)
		if now := fmt.Sprint(err); err != nil && ctx.Err() == nil && now != said {
			n.log.Warn("the next CA is not in place here; trying again", "error", err)
			said = now
		} else if err == nil {
			said = ""
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// reconcileCA brings the folder to where the log is. Everything is compared by fingerprint, so that
// a log that is being replayed, and shows steps of the past, changes nothing.
func (n *Node) reconcileCA(ctx context.Context) error {
	n.changing.Lock()
	defer n.changing.Unlock()
	log := n.Coordinator.Authorities()
	n.authority.Trust(log.All()...)
	present, next, old := n.authority.Rotation()
	if want := log.Next.Fingerprint(); want != "" && want != next && want != present {
		if err := n.fetchNext(ctx, log); err != nil {
			return err
		}
	}
	if in := log.Present.Fingerprint(); in != "" && in == next && in != present {
		if err := n.authority.Promote(); err != nil {
			return err
		}
		n.log.Info("the next CA is in force", "ca", in)
	}
	// does nothing where the server's certificate is of the CA in force
	if err := n.renew(); err != nil {
		return err
	}
	if old != "" && log.Old.Fingerprint() == "" && log.Next.Fingerprint() == "" && log.Present.Fingerprint() == present {
		if err := n.authority.DropOld(); err != nil {
			return err
		}
		n.log.Info("previous CA removed from the trust store", "ca", old)
		n.Coordinator.EndRetired()
	}
	return nil
}

// fetchNext gets the next CA's key from the leader.
func (n *Node) fetchNext(ctx context.Context, log membership.Authorities) error {
	leader := n.leaderPeer()
	if n.port == nil || leader == "" {
		return errors.New("the next CA's key is at another coordinator, and none leads")
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	key, err := n.ask(ctx, leader, "/v1/ca/key", log.Next.Fingerprint())
	if err != nil {
		return err
	}
	if err := n.authority.SaveNext(log.Next, key); err != nil {
		return err
	}
	n.log.Info("the next CA's key is here", "ca", log.Next.Fingerprint())
	return nil
}

// ask posts to another coordinator and gives its answer.
func (n *Node) ask(ctx context.Context, address, path string, body any) ([]byte, error) {
	conn, err := n.port.DialOperator(ctx, address)
	if err != nil {
		return nil, err
	}
	return exchange(ctx, conn, path, body)
}

// CA tells of the federation's CAs, and who is not ready for the next step.
func (n *Node) CA(ctx context.Context) (CAReply, error) {
	log := n.Coordinator.Authorities()
	r := CAReply{Present: n.authority.Fingerprint(), Next: log.Next.Fingerprint(), Old: log.Old.Fingerprint(), Expires: n.authority.CA().NotAfter}
	if r.Next == "" && r.Old == "" {
		return r, nil
	}
	target := r.Next
	if target == "" {
		target = r.Present
	}
	r.Waiting = n.Coordinator.Stragglers(target)
	var err error
	r.Coordinators, err = n.behind(ctx, func(h heldReply) bool { return h.Next == target || h.Present == target })
	return r, err
}

// behind names the coordinators whose folders are not as they must be, this one included.
func (n *Node) behind(ctx context.Context, ready func(heldReply) bool) ([]string, error) {
	peers, err := n.replica.Peers()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range peers {
		held := heldReply{}
		if p.ID == n.Config.Name {
			held.Present, held.Next, _ = n.authority.Rotation()
		} else {
			ctx, cancel := context.WithTimeout(ctx, requestTime)
			raw, err := n.ask(ctx, p.Address, "/v1/ca/held", "")
			cancel()
			if err != nil {
				out = append(out, p.ID+" does not answer")
				continue
			}
			if err := json.Unmarshal(raw, &held); err != nil {
				return nil, err
			}
		}
		if !ready(held) {
			out = append(out, p.ID)
		}
	}
	return out, nil
}

// promoteTime bounds the wait for all coordinators to promote the next CA.
const promoteTime = 30 * time.Second

// RetireCA puts the next CA into the present one's place and ends the trust in that one, after all
// coordinators hold the next one and all sites have certificates of it; force does not wait for
// sites, which must then join again. It can be called again after it failed half-way. The leader's.
func (n *Node) RetireCA(ctx context.Context, force bool) error {
	r, err := n.CA(ctx)
	switch {
	case err != nil:
		return err
	case r.Next == "" && r.Old == "":
		return &membership.CAError{Reason: "no change of CAs is under way: `coordinator ca new` begins one"}
	case r.Next != "" && len(r.Coordinators) > 0:
		return &membership.CAError{Reason: fmt.Sprintf("coordinators do not hold the next CA yet: %q; bring them back, or `coordinator raft remove` those that are gone", r.Coordinators)}
	case len(r.Waiting) > 0 && !force:
		return &membership.CAError{Reason: fmt.Sprintf("sites have no certificate of the next CA yet: %q; their agents fetch it within minutes of being connected (--force cuts those sites off: they must join again)", r.Waiting)}
	}
	if r.Next != "" {
		if err := n.Coordinator.StepCA(membership.CAPromote); err != nil {
			return err
		}
	}
	if err := n.reconcileCA(ctx); err != nil {
		return err
	}
	// The others follow within a second or two; one that did not could not be reached any more.
	target := n.authority.Fingerprint()
	ctx, cancel := context.WithTimeout(ctx, promoteTime)
	defer cancel()
	for {
		late, err := n.behind(ctx, func(h heldReply) bool { return h.Present == target })
		if err != nil {
			return err
		}
		if len(late) == 0 {
			break
		}
		select {
		case <-time.After(rotationTick):
		case <-ctx.Done():
			return &membership.CAError{Reason: fmt.Sprintf("the next CA is in force and the old one is still trusted: coordinators are behind: %q; run this again when they are back", late)}
		}
	}
	if err := n.Coordinator.StepCA(membership.CARetire); err != nil {
		return err
	}
	return n.reconcileCA(ctx)
}

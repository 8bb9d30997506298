package node

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"covey/internal/membership"
	"covey/internal/pki"
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
	// Analysts are such analysts: each moves with its next command, and nobody waits for it.
	Analysts []string `json:"waiting_analysts,omitempty"`
	// Coordinators are those that do not hold the next CA's key, or have not promoted it, with why.
	Coordinators []string  `json:"waiting_coordinators,omitempty"`
	Expires      time.Time `json:"expires"` // the present one's end
}

// Cut is whom the end of a CA cuts off: they join again, or need a new join file.
type Cut struct {
	Sites    []string `json:"sites,omitempty"`
	Analysts []string `json:"analysts,omitempty"`
	Invited  []string `json:"invited,omitempty"`
}

// RetireReply is the state after a CA was retired.
type RetireReply struct {
	CAReply
	Cut Cut `json:"cut_off"`
}

// heldReply is what a coordinator's folder holds, by fingerprints: CAs, and the signing key, which
// is empty from a version that does not tell.
type heldReply struct{ Present, Next, Signing string }

// signing returns the fingerprint of this coordinator's signing key.
func (n *Node) signing() string {
	return pki.Fingerprint(n.authority.SigningKey().Public().(ed25519.PublicKey))
}

// rotation changes the CAs of one coordinator's folder.
type rotation struct {
	n  *Node
	mu sync.Mutex // held while the folder changes
}

// follow runs beside everything else.
func (c *rotation) follow(ctx context.Context) {
	tick := time.NewTicker(rotationTick)
	defer tick.Stop()
	said := ""
	for {
		err := c.reconcile(ctx)
		if now := fmt.Sprint(err); err != nil && ctx.Err() == nil && now != said {
			c.n.log.Warn("this coordinator's CAs or certificate are not as they should be; trying again", "error", err)
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

// reconcile brings the folder to where the log is. Everything is compared by fingerprint, so that
// a log that is being replayed, and shows steps of the past, changes nothing.
func (c *rotation) reconcile(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.n.Coordinator.Authorities()
	c.n.authority.Trust(log.All()...)
	present, next, old := c.n.authority.Rotation()
	if want := log.Next.Fingerprint(); want != "" && want != next && want != present {
		if err := c.fetch(ctx, log); err != nil {
			return err
		}
	}
	if in := log.Present.Fingerprint(); in != "" && in == next && in != present {
		if err := c.n.authority.Promote(); err != nil {
			return err
		}
		c.n.log.Info("the next CA is in force", "ca", in)
	}
	// does nothing if the CA in force issued the server's certificate
	if err := c.n.renew(); err != nil {
		return fmt.Errorf("the server certificate is not renewed: %w", err)
	}
	if old != "" && log.Old.Fingerprint() == "" && log.Next.Fingerprint() == "" && log.Present.Fingerprint() == present {
		if err := c.n.authority.DropOld(); err != nil {
			return err
		}
		c.n.log.Info("previous CA removed from the trust store", "ca", old)
		c.n.Coordinator.EndRetired()
	}
	return nil
}

// fetch gets the next CA's key from the leader.
func (c *rotation) fetch(ctx context.Context, log membership.Authorities) error {
	leader := c.n.leaderPeer()
	if c.n.port == nil || leader == "" {
		return errors.New("the next CA's key is at another coordinator, and none leads")
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	key, err := c.n.ask(ctx, leader, "/v1/ca/key", log.Next.Fingerprint())
	if err != nil {
		return err
	}
	if err := c.n.authority.SaveNext(log.Next, key); err != nil {
		return err
	}
	c.n.log.Info("the next CA's key is here", "ca", log.Next.Fingerprint())
	return nil
}

// state tells of the federation's CAs, and who is not ready for the next step.
func (c *rotation) state(ctx context.Context) (CAReply, error) {
	log := c.n.Coordinator.Authorities()
	r := CAReply{Present: c.n.authority.Fingerprint(), Next: log.Next.Fingerprint(), Old: log.Old.Fingerprint(), Expires: c.n.authority.CA().NotAfter}
	if r.Next == "" && r.Old == "" {
		return r, nil
	}
	target := r.Next
	if target == "" {
		target = r.Present
	}
	r.Waiting = c.n.Coordinator.Stragglers(pki.RoleSite, target)
	r.Analysts = c.n.Coordinator.Stragglers(pki.RoleAnalyst, target)
	var err error
	r.Coordinators, err = c.behind(ctx, func(h heldReply) bool { return h.Next == target || h.Present == target })
	return r, err
}

// behind names the coordinators whose folders are not as they must be, this one included.
func (c *rotation) behind(ctx context.Context, ready func(heldReply) bool) ([]string, error) {
	peers, err := c.n.replica.Peers()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range peers {
		held := heldReply{}
		if p.ID == c.n.Config.Name {
			held.Present, held.Next, _ = c.n.authority.Rotation()
		} else {
			ctx, cancel := context.WithTimeout(ctx, requestTime)
			raw, err := c.n.ask(ctx, p.Address, "/v1/ca/held", "")
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

// retire puts the next CA into the present one's place and ends the trust in that one, after all
// coordinators hold the next one and all sites have certificates of it; force does not wait for
// sites, which must then join again. Unused join files name the old CA: they are withdrawn. It can
// be called again after it failed half-way. The leader's.
func (c *rotation) retire(ctx context.Context, force bool) (cut Cut, err error) {
	r, err := c.state(ctx)
	switch {
	case err != nil:
		return cut, err
	case r.Next == "" && r.Old == "":
		return cut, &membership.CAError{Reason: "no change of CAs is under way: `coordinator ca new` begins one"}
	case r.Next != "" && len(r.Coordinators) > 0:
		return cut, &membership.CAError{Reason: fmt.Sprintf("coordinators do not hold the next CA yet: %q; those that run fetch it within seconds: try again, or bring them back; `coordinator raft remove` is only for those that are gone for good", r.Coordinators)}
	case len(r.Waiting) > 0 && !force:
		return cut, &membership.CAError{Reason: fmt.Sprintf("sites have no certificate of the next CA yet: %q; their agents fetch it within minutes of being connected (--force cuts those sites off: they must join again)", r.Waiting)}
	}
	if r.Next != "" {
		if err := c.n.Coordinator.StepCA(membership.CAPromote); err != nil {
			return cut, err
		}
	}
	if err := c.reconcile(ctx); err != nil {
		return cut, err
	}
	// The others follow within a second or two; one that did not could not be reached any more.
	target := c.n.authority.Fingerprint()
	ctx, cancel := context.WithTimeout(ctx, promoteTime)
	defer cancel()
	for {
		late, err := c.behind(ctx, func(h heldReply) bool { return h.Present == target })
		if err != nil {
			return cut, err
		}
		if len(late) == 0 {
			break
		}
		select {
		case <-time.After(rotationTick):
		case <-ctx.Done():
			return cut, &membership.CAError{Reason: fmt.Sprintf("the next CA is in force and the old one is still trusted: coordinators are behind: %q; run this again when they are back", late)}
		}
	}
	if err := c.n.Coordinator.StepCA(membership.CARetire); err != nil {
		return cut, err
	}
	cut = Cut{Sites: r.Waiting, Analysts: r.Analysts}
	if cut.Invited, err = c.withdraw(); err != nil {
		return cut, err
	}
	return cut, c.reconcile(ctx)
}

// withdraw withdraws all unused join files, and returns whose they were.
func (c *rotation) withdraw() (names []string, err error) {
	_, invited := c.n.Coordinator.Expected()
	invited = slices.Concat(invited, c.n.Coordinator.Sites().Invited, c.n.Coordinator.Analysts().Invited)
	for _, i := range invited {
		role, name := i.Whose()
		n, err := c.n.Coordinator.Withdraw(role, name)
		if err != nil {
			return names, err
		}
		if n > 0 && c.n.now().Before(i.Expires) {
			names = append(names, name)
		}
	}
	return names, nil
}

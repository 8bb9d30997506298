package node

import (
	"time"

	"covey/internal/notify"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/round"
)

// How long before its end a certificate is worth a notice: a coordinator's own, which it renews
// pki.RenewBefore before, and its CA's, which a person has to replace at every site.
const (
	soonServer = 14 // days
	soonCA     = 90
)

// notifies returns what tells people what coordinator.toml wants them told. Of several coordinators
// the one that leads tells of studies. If it is lost for good with a notice on its way, that notice
// is lost with it: the others count as told what they know of.
func (n *Node) notifies(dir string) (*notify.Notifier, error) {
	targets := notify.Under(dir, n.Config.Notify)
	return notify.New(notify.Options{
		Dir:     dir,
		Targets: func() []notify.Target { return targets },
		Facts:   func() ([]notify.Fact, bool) { return n.facts(), n.Coordinator.Leading() },
		Logger:  n.log, Now: n.now,
	})
}

func (n *Node) facts() []notify.Fact {
	var out []notify.Fact
	now := n.now()
	if pki.Expiry(n.authority.CA(), now) < soonCA || n.authority.ServerCertificate().NotAfter.Sub(now) < soonServer*24*time.Hour {
		out = append(out, notify.Fact{Event: notify.Expiring})
	}
	return append(out, studyFacts(n.Coordinator.Views(), now)...)
}

// studyFacts returns what people may be told of studies: never who is at fault.
func studyFacts(views []outline.View, now time.Time) (out []notify.Fact) {
	for _, v := range views {
		add := func(e notify.Event) {
			out = append(out, notify.Fact{Event: e, Study: v.Digest.String(), Name: v.Name})
		}
		add(notify.Proposed)
		switch v.Status {
		case round.StatusCompleted:
			add(notify.Completed)
		case round.StatusEnded:
			add(notify.Ended)
		}
		if v.Overdue || v.Status == round.StatusProposed && !v.Expires.IsZero() && v.Expires.Sub(now) < 24*time.Hour {
			add(notify.Overdue)
		}
	}
	return out
}

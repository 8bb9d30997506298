package analyst

import (
	"context"
	"log/slog"
	"time"

	"covey/internal/notify"
	"covey/internal/pki"
	"covey/internal/wire"
)

// soon is how many days before its end a certificate that was not renewed is worth a notice, and
// hasty how long before its expiry a study is that not all sites have approved.
const (
	soon  = 14
	hasty = 24 * time.Hour
)

// Notices tell this analyst's people what analyst.toml wants them told. What was told is kept in
// the folder (notify.json), so that a restart repeats nothing and loses nothing.
type Notices struct {
	client   *Client
	notifier *notify.Notifier
	facts    []notify.Fact // as the coordinator said them last
}

// Notices reads the queue of the folder. The error is a [*ConfigError] where no [[notify]] table
// names a receiver.
func (c *Client) Notices(log *slog.Logger) (*Notices, error) {
	targets := notify.Under(c.dir, c.config.Notify)
	if len(targets) == 0 {
		return nil, &ConfigError{File: File, Key: "notify", Reason: "names no receiver: a [[notify]] table has a command or a webhook (docs/operations.md, being told)"}
	}
	n := &Notices{client: c}
	var err error
	n.notifier, err = notify.New(notify.Options{
		Dir:     c.dir,
		Targets: func() []notify.Target { return targets },
		Facts:   func() ([]notify.Fact, bool) { return n.facts, true },
		Logger:  log, Now: c.now,
	})
	return n, err
}

// Step asks the coordinator where the studies stand, and sends notices of what is new and what is
// due. Where it cannot ask it sends none: what is not known is not over.
func (n *Notices) Step(ctx context.Context) error {
	all, err := n.client.List(ctx)
	if err != nil {
		return err
	}
	n.facts = n.client.facts(all)
	n.notifier.Step(ctx)
	return nil
}

// facts returns what an analyst may be told: states of studies, as the coordinator shows them, and
// the end of the certificate.
func (c *Client) facts(all []wire.Told) []notify.Fact {
	var out []notify.Fact
	if pki.Expiry(c.holder.Certificate(), c.now()) < soon {
		out = append(out, notify.Fact{Event: notify.Expiring})
	}
	for _, t := range all {
		add := func(e notify.Event) {
			out = append(out, notify.Fact{Event: e, Study: t.Study.String(), Name: t.Name})
		}
		add(notify.Proposed)
		switch t.Phase {
		case wire.PhaseProposed:
			if !t.Expires.IsZero() && t.Expires.Sub(c.now()) < hasty {
				add(notify.Overdue)
			}
		case wire.PhaseCompleted:
			add(notify.Completed)
		case wire.PhaseEnded:
			add(notify.Ended)
		}
	}
	return out
}

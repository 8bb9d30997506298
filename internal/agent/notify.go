package agent

import (
	"encoding/hex"
	"time"

	"covey/internal/egress"
	"covey/internal/ledger"
	"covey/internal/notify"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
)

// soon is how long before its end a certificate that was not renewed is worth a notice (the agent
// renews it pki.RenewBefore before), and hasty how long before a study expires its decision is.
const (
	soon  = 14 // days
	hasty = 24 * time.Hour
)

// notifier tells this site's people what agent.toml wants them told. What leaves is a line of the
// egress log like any message.
func (a *Agent) notifier() (*notify.Notifier, error) {
	return notify.New(notify.Options{
		Dir:     a.config.DataDir(),
		Targets: func() []notify.Target { return a.Settings.current.Load().Targets() },
		Facts:   func() ([]notify.Fact, bool) { return a.facts(), true },
		Sent: func(id string, body []byte) error {
			line := egress.Line{Kind: "notification", Bytes: len(body)}
			var d proposal.Digest
			if raw, err := hex.DecodeString(id); err == nil && len(raw) == len(d) {
				copy(d[:], raw)
				line.Study = &d
			}
			return a.egress.Record(line.Of(body), a.now())
		},
		Logger: a.log, Now: a.now,
	})
}

// facts returns what notices may say: states of studies, which the coordinator knows, and the end
// of the certificate. None depends on a row.
func (a *Agent) facts() []notify.Fact {
	var out []notify.Fact
	if pki.Expiry(a.site.Certificate(), a.now()) < soon {
		out = append(out, notify.Fact{Event: notify.Expiring})
	}
	studies, err := a.Views.Studies()
	if err != nil {
		return out // the ledger failed, and the process ends
	}
	for _, v := range studies {
		add := func(e notify.Event) {
			out = append(out, notify.Fact{Event: e, Study: v.Digest.String(), Name: v.Name})
		}
		add(notify.Proposed)
		switch {
		case v.State == statePending:
			add(notify.Awaiting)
			if v.Expires != nil && v.Expires.Sub(a.now()) < hasty {
				add(notify.Overdue)
			}
		case v.State == string(ledger.Finished) && v.Code == string(study.CodeCompleted):
			add(notify.Completed)
		case v.State == string(ledger.Finished):
			add(notify.Ended)
		}
	}
	return out
}

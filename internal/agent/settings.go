package agent

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"covey/internal/limits"
	"covey/internal/siteconfig"
)

// Settings are what agent.toml says while the agent runs, but for what needs a restart.
type Settings struct {
	a       *Agent
	current atomic.Pointer[siteconfig.Config]

	mu sync.Mutex // held while agent.toml is read again
	// charged are the populations of each data set, by name and by place, since the start
	charged map[string]map[string]bool
}

// Reloaded is what reading agent.toml again changed.
type Reloaded struct {
	// Changed are the keys, as siteconfig.Config.Diff has them; no values.
	Changed []string `json:"changed"`
	// Anew says which data sets' budgets begin anew.
	Anew []string `json:"anew,omitempty"`
	// Below says which budgets are less than what is spent and reserved.
	Below []string `json:"below,omitempty"`
}

// RestartError is a change of agent.toml that a running agent cannot take. Nothing was changed.
type RestartError struct{ Keys []string }

func (e *RestartError) Error() string {
	return fmt.Sprintf("agent.toml: nothing was changed: a new %s needs a restart of the agent", strings.Join(e.Keys, " and "))
}

// AnewError is a change of agent.toml after which studies of the same data are charged to another
// budget. Nothing was changed.
type AnewError struct{ Datasets []string }

func (e *AnewError) Error() string {
	return "agent.toml: nothing was changed: " + strings.Join(e.Datasets, "; ") +
		`. What studies of these people released stays released, so that they can lose more than either budget allows; if they are other people, or this is intended: agent reload --yes`
}

// Reload reads agent.toml again: all of it, or nothing. A study that was approved keeps the data
// set that its approval recorded. A proposal that waits for the operator goes on waiting; it is
// approved under the new configuration. yes takes a data set to another population's budget. The
// error is a *siteconfig.Error, a *RestartError or an *AnewError.
func (s *Settings) Reload(yes bool) (Reloaded, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, err := s.reload(yes)
	if err != nil {
		s.a.log.Error("agent.toml is refused; the agent keeps the configuration it has", "error", err)
		return Reloaded{}, err
	}
	s.a.log.Info("agent.toml was read again", "changed", done.Changed)
	for _, words := range slices.Concat(done.Anew, done.Below) {
		s.a.log.Warn(words)
	}
	return done, nil
}

func (s *Settings) reload(yes bool) (Reloaded, error) {
	next, err := siteconfig.Reread(s.a.config.File())
	if err != nil {
		return Reloaded{}, err
	}
	done := Reloaded{Changed: s.current.Load().Diff(next)}
	if keys := siteconfig.NeedsRestart(done.Changed); len(keys) > 0 {
		return Reloaded{}, &RestartError{keys}
	}
	if done.Anew = s.anew(next); len(done.Anew) > 0 && !yes {
		return Reloaded{}, &AnewError{done.Anew}
	}
	s.charge(next)
	s.a.sessions.mu.Lock()
	defer s.a.sessions.mu.Unlock()
	s.current.Store(next)
	done.Below = limits.Below(limits.Populations(next, s.a.ledger))
	s.a.stock.Forget()
	s.a.uplink.Again() // whatever changed: a file may have other rows, and a new hello counts them
	return done, nil
}

// places are by what a data set is known again: its name, and where its rows are.
func (s *Settings) places(d siteconfig.Dataset) []string {
	at := "file " + s.a.config.Source(d).Path
	if d.Query != "" {
		at = fmt.Sprintf("query %q %q %q", d.DSNFile, d.DSNEnv, d.Query)
	}
	return []string{"name " + d.Name, at}
}

// charge remembers which populations data sets are charged to. Called by New, and with mu held.
func (s *Settings) charge(c *siteconfig.Config) {
	for _, d := range c.Datasets {
		for _, place := range s.places(d) {
			if s.charged[place] == nil {
				s.charged[place] = map[string]bool{}
			}
			s.charged[place][d.Population] = true
		}
	}
}

// anew says which data sets of next are charged to a population that they were never charged to
// since the start.
func (s *Settings) anew(next *siteconfig.Config) []string {
	var out []string
	for _, d := range next.Datasets {
		for _, place := range s.places(d) {
			if before := s.charged[place]; before != nil && !before[d.Population] {
				out = append(out, fmt.Sprintf("data set %q was charged to another population than %q, whose budget does not count those charges", d.Name, d.Population))
				break
			}
		}
	}
	return out
}

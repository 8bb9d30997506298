package agent

import (
	"errors"
	"fmt"
	"reflect"

	"covey/internal/dataset"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// asked returns the data set that a study asks for. The code says why the agent has no such data
// set.
func asked(c *siteconfig.Config, p proposal.Proposal) (siteconfig.Dataset, study.Code, error) {
	spec := p.Spec
	d, ok := c.Dataset(spec.Dataset)
	if !ok {
		return d, study.CodeData, fmt.Errorf("it asks for data set %q, which agent.toml does not have", spec.Dataset)
	}
	if spec.Unit != d.Unit {
		return d, study.CodeUnit, fmt.Errorf("its units are not those of the data set: the study's unit is %q, that of data set %q %q, where \"\" is a row. Once unit says the same in study.toml and agent.toml, it can be proposed again", spec.Unit, d.Name, d.Unit)
	}
	if err := c.Policy.Refuses(p); err != nil {
		return d, study.CodeRejected, err
	}
	return d, "", nil
}

// renew brings a study that nobody approved to the configuration that holds. Called with mu held.
func (s *session) renew() (study.Code, error) {
	now := s.agent.Settings.current.Load()
	if s.under == now {
		return "", nil
	}
	d, code, err := asked(now, s.asks)
	if code != "" {
		return code, err
	}
	s.rows.Release() // of what may be another data set
	s.use(d, now)
	return "", nil
}

// use sets the data set and the configuration that has it. Called with mu held.
func (s *session) use(d siteconfig.Dataset, under *siteconfig.Config) {
	s.agent.sessions.mu.Lock()
	defer s.agent.sessions.mu.Unlock()
	s.dataset, s.under = d, under
}

// terms are the configuration and the data set that a view shows: of an approved study the data set
// that the approval recorded, of another what is offered now.
func (s *summary) terms() (*siteconfig.Config, siteconfig.Dataset) {
	now := s.agent.Settings.current.Load()
	if e, _ := s.agent.ledger.Study(s.id); e.State != ledger.Approved {
		if d, code, _ := asked(now, s.asks); code == "" {
			return now, d
		}
	}
	s.agent.sessions.mu.Lock()
	defer s.agent.sessions.mu.Unlock()
	return now, s.dataset
}

// population is whose budget the study is charged to.
func (s *summary) population() string {
	_, d := s.terms()
	return d.Population
}

// pinned loads the rows of an approved study and checks that they are those that were approved. If
// the data set is not where the approval recorded it, and agent.toml now has it in another place,
// the same bytes there will do.
func (s *session) pinned(approval ledger.Approval) study.Code {
	code, why := s.pinnedAs(approval)
	now, ok := s.agent.Settings.current.Load().Dataset(s.dataset.Name)
	if code != "" && ok && now.Unit == s.dataset.Unit && !reflect.DeepEqual(now, s.dataset) {
		recorded := s.dataset
		s.rows.Release()
		s.use(now, s.under)
		if moved, other := s.pinnedAs(approval); moved != "" {
			s.rows.Release()
			s.use(recorded, s.under)
			why += "; the data set of this name in agent.toml does not replace it: " + other
		} else {
			s.agent.log.Info("the approved data set has moved; reading it from its place in agent.toml", "study", s.plan.Digest, "dataset", now.Name)
			code, why = "", ""
		}
	}
	s.delays(code, why)
	return code
}

// delays logs that the study lacks this site's rows, and that they are back. The coordinator asks
// again at least once a minute: the same reason is logged once.
func (s *session) delays(code study.Code, why string) {
	if s.missing == why {
		return
	}
	log := s.agent.log.With("study", s.plan.Digest, "dataset", s.dataset.Name)
	switch s.missing = why; code {
	case "":
		log.Info("the approved data set can be used again")
		return
	case study.CodeDataChanged:
		why = "it is not the data set that was approved: " + why
	}
	goes := "the study waits for this site until its data set can be used, or until the study is aborted"
	if !s.plan.Proposal.Spec.Waits() {
		goes = "the study goes on without this site until its data set can be used"
	}
	log.Warn(goes, "error", why)
}

// pinnedAs is pinned of the data set as the session has it. It also returns the reason in words.
func (s *session) pinnedAs(approval ledger.Approval) (code study.Code, why string) {
	if err := s.rows.Load(s.plan, s.dataset, s.unattended); err != nil {
		s.stands("an approved study could not use it when last asked: " + err.Error())
		_, units := errors.AsType[*sitedata.UnitsError](err)
		// Rows with a value at fault were not approved. That they were read no further than the
		// fault must not show.
		at, found := errors.AsType[*dataset.Error](err)
		if units || found && at.Value {
			return study.CodeDataChanged, err.Error()
		}
		return study.CodeData, err.Error()
	}
	s.stands("") // Views tells by itself which files have changed
	if s.rows.Pin() == approval.DataSHA256 {
		return "", ""
	}
	s.rows.Release() // a file that is restored is read again
	if s.dataset.Query == "" {
		return study.CodeDataChanged, "its bytes, or how agent.toml reads them (columns, separator, missing_values, names, precision and the like), have changed"
	}
	why = "the query's answer, or how agent.toml reads it (columns, missing_values, names, precision and the like), has changed"
	s.stands("not what an approved study pinned when last asked: " + why)
	return study.CodeDataChanged, why
}

package agent

import (
	"covey/internal/clip"
	"covey/internal/dataset"
	"covey/internal/local"
	"covey/internal/study"
)

// unitsError is a data set of another size than the roster says.
type unitsError struct{ has, roster int }

func (e *unitsError) Error() string {
	return "the data set has another number of units than the roster says"
}

// load reads the study's rows, once. The error is a *dataset.Error, a
// *clip.ValueError or a *unitsError; none carries a value.
func (s *session) load() error {
	if s.rows != nil {
		return nil
	}
	spec := s.plan.Proposal.Spec
	read, err := dataset.Read(s.agent.config.source(s.dataset), requestOf(spec), dataset.ReadOptions{})
	if err != nil {
		return err
	}
	if want := s.plan.Proposal.Roster[s.self].Units; read.Units != want {
		return &unitsError{read.Units, want}
	}
	var rows *clip.Matrix
	if spec.Unit == "" {
		rows, err = clip.NewMatrix(read.D, read.Values, read.Absent...)
	} else {
		rows, err = clip.NewUnits(read.D, read.Values, read.Unit, read.Absent...)
	}
	if err != nil {
		return err
	}
	s.rows, s.sha = local.New(rows), read.SHA256
	return nil
}

// requestOf is what a study wants of a data set, as dataset reads it.
func requestOf(spec study.Spec) dataset.Request {
	q := dataset.Request{Unit: spec.Unit, Missing: dataset.Missing(spec.Missing)}
	for _, c := range spec.Columns {
		q.Columns = append(q.Columns, dataset.Column{Name: c.Name, Offset: c.Offset, Scale: c.Scale})
	}
	return q
}

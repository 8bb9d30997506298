package responder

import (
	"errors"

	"covey/internal/study"
	"covey/internal/wire"
)

// history is how far this site has followed a study by itself: every step from the release before,
// by the plan's own rules. It is made of the signed results on the ledger, which outlive a restart,
// so that a site which acted on one history takes no other. Vectors are kept of the course alone;
// what a rule reads of earlier releases is read from the ledger again.
type history struct {
	course   study.Course
	releases int   // followed
	queries  []int // of those releases, in their order
}

var errForked = errors.New("responder: a result on record does not follow from those before it")

// follow goes on over the results that this site holds, and returns where they lead. It is a
// *study.MismatchError, or errForked, where a result on record is of another course: this site then
// answers no query of the study any more.
func (s *Responder) follow() (*history, error) {
	if s.history == nil {
		s.history = &history{course: s.plan.Start()}
	}
	h := s.history
	for h.course.End == "" && h.course.Query < len(s.plan.Queries) {
		release, encoded, ok, err := s.results.release(h.course.Query)
		if err != nil || !ok {
			return h, err
		}
		// A result that came before those it follows was not compared with them.
		if err := s.plan.CheckCourse(h.course, release.Ask()); err != nil {
			return h, errors.Join(errForked, err)
		}
		var earlier []study.Release
		for _, query := range s.plan.Queries.Earlier(release.Query) {
			e, _, ok, err := s.results.release(query)
			if err == nil && !ok {
				err = errForked // the course went another way than these results
			}
			if err != nil {
				return h, err
			}
			earlier = append(earlier, s.plan.Spent(e))
		}
		next, err := s.plan.NextOf(h.course, release, encoded, earlier)
		if err != nil {
			return h, err
		}
		h.course, h.releases, h.queries = next, h.releases+1, append(h.queries, release.Query)
	}
	return h, nil
}

// lawful reports whether a query is what this site finds that comes next; if not, with the refusal.
func (s *Responder) lawful(r wire.Query, ask study.Ask) (wire.Refusal, bool) {
	h, err := s.follow()
	log := s.log.With("study", s.plan.Digest, "query", ask.Query)
	switch {
	case errors.Is(err, errForked):
		log.Error("the results on record belong to two histories; this site answers no query of the study", "error", err)
		return wire.Refuse(r, study.CodeForked), false
	case err != nil:
		return wire.Refuse(r, s.ring.Internal(err)), false
	case ask.Query != h.course.Query:
		no := wire.Refuse(r, study.CodeOutOfOrder)
		no.Lacks = 1 + h.releases // a coordinator tells the next one
		return no, false
	}
	if err := s.plan.CheckCourse(h.course, ask); err != nil {
		if m, ok := errors.AsType[*study.MismatchError](err); ok && m.Field == study.FieldHistory {
			log.Error("the coordinator's query follows from other results than those that it sent this site; it is refused", "held", h.course.History)
			return wire.Refuse(r, study.CodeForked), false
		}
		log.Error("a query does not follow from the results before it; it is refused", "error", err)
		return wire.Refuse(r, study.CodePlanMismatch), false
	}
	return wire.Refusal{}, true
}

// succeeds is nil if a release may be recorded: it is in its one encoding, and where this site has
// followed the study up to its query, it is about what comes next. One of a later query waits on
// record for those before it.
func (s *Responder) succeeds(release study.Release, encoded []byte) error {
	if !release.EncodedAs(encoded) {
		return errors.New("it is not in its only valid encoding")
	}
	h, err := s.follow()
	if err != nil || release.Query != h.course.Query {
		return err
	}
	return s.plan.CheckCourse(h.course, release.Ask())
}

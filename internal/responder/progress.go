package responder

import (
	"time"

	"covey/internal/frame"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
)

// tell logs where a study stands, for those who watch `agent run`: after this site's sum has left,
// until when the other sites are awaited. After a release, released tells how much noise is in it
// and what of the study's privacy is charged. They read what is public or planned, nothing of the
// rows.
func (s *Responder) tell(r wire.Message, said wire.Message) {
	q, ok := r.(wire.Query)
	if !ok || !holds[wire.Upload](said) {
		return
	}
	log := s.log.With("study", s.plan.Digest, "name", s.plan.Proposal.Spec.Name)
	until := s.now().Add(time.Duration(s.plan.Proposal.Spec.Deadlines.Round))
	log.Info("this site's masked sum is sent; the other sites are awaited", append(s.place(q.Ask.Query), "until", until.UTC().Truncate(time.Second))...)
}

// released logs a release that was checked.
func (s *Responder) released(release study.Release) {
	log := s.log.With("study", s.plan.Digest, "name", s.plan.Proposal.Spec.Name)
	fields := append(s.place(release.Query), "sites", len(release.Survivors), "epsilon", s.plan.Proposal.Spec.Epsilon)
	if e, ok := s.ledger.Study(s.plan.Digest); ok && s.plan.Rho > 0 {
		fields = append(fields, "charged", frame.Short(e.SpentRho/s.plan.Rho))
	}
	if release.Kind == study.KindPower {
		fields = append(fields, "noise_to_signal", frame.Short(release.NoiseToSignal(s.plan.D)))
	}
	log.Info("a sum is released", fields...)
}

// place returns which query and round it is, counted from 0 as in every log, of how many.
func (s *Responder) place(query int) []any {
	if query < 0 || query >= len(s.plan.Queries) {
		return nil
	}
	q := s.plan.Queries[query]
	at := []any{"query", query, "queries", len(s.plan.Queries), "kind", q.Kind}
	if q.Kind == study.KindPower || q.Of == study.KindPower {
		at = append(at, "round", q.Round, "rounds", s.plan.Rounds)
	}
	return at
}

// holds reports whether an answer is of a kind, or a pair that has one.
func holds[A wire.Message](said wire.Message) bool {
	if two, ok := said.(uplink.Pair); ok {
		return holds[A](two.Message) || holds[A](two.Second)
	}
	_, ok := said.(A)
	return ok
}

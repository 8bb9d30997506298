package run

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/simulate"
	"covey/internal/study"
)

// Spec returns a study of d columns without offsets, whose rows are centered: ε, δ = 10^-6, the
// practical profile and no explained variance.
func Spec(d int, epsilon float64) proposal.Spec {
	s := proposal.Spec{Name: "experiment", Dataset: "rows", Epsilon: epsilon, Delta: 1e-6, Center: proposal.CenterPublic, ExplainedVariance: proposal.VarianceNone}
	for j := range d {
		s.Columns = append(s.Columns, proposal.Column{Name: fmt.Sprint("y", j), Scale: 1})
	}
	return s
}

// Study runs a study over five sites, or so many as Sites says, the last Dropped of which are in no
// sum. The seed is its nonce, which sets the public start. Noise is the operating system's or, with
// Fixed, drawn from the seed.
type Study struct {
	Spec           proposal.Spec
	Fixed          bool
	Sites, Dropped int
}

func (s Study) sites() int { return cmp.Or(s.Sites, Sites) }

// On runs the study on the data.
func (s Study) On(m *Data, seed uint64) (*result.Result, error) {
	_, r, err := s.Planned(m, seed)
	return r, err
}

// Planned is On with the study's plan.
func (s Study) Planned(m *Data, seed uint64) (*study.Plan, *result.Result, error) {
	plan, err := newPlan(s.Spec, m.units(s.sites()), seed)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.follow(plan, m)
	return plan, r, err
}

func (s Study) follow(plan *study.Plan, m *Data) (*result.Result, error) {
	sites, err := m.sites(s.sites())
	if err != nil {
		return nil, err
	}
	clear(sites[len(sites)-s.Dropped:])
	sources := make([]io.Reader, len(sites)+1) // one for each site's share, and the coordinator's
	for i := range sources {
		if sources[i] = rand.Reader; s.Fixed {
			sources[i] = noise.NewKeyed(sha256.Sum256(binary.BigEndian.AppendUint64(plan.Digest[:], uint64(i))))
		}
	}
	return simulate.Run(plan, sites, sources)
}

func newPlan(spec proposal.Spec, units []int, seed uint64) (*study.Plan, error) {
	var roster []proposal.Member
	for i, n := range units {
		key := ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i+1))).Public().(ed25519.PublicKey)
		roster = append(roster, proposal.Member{Name: fmt.Sprint("site-", i), Identity: proposal.Key(key), Units: n})
	}
	var nonce [32]byte
	binary.BigEndian.PutUint64(nonce[:], seed)
	body, err := proposal.Propose(spec, roster, ed25519.PublicKey(roster[0].Identity), nonce)
	if err != nil {
		return nil, err
	}
	return study.NewPlan(body)
}

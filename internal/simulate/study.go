package simulate

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"covey/internal/aggregate"
	"covey/internal/answer"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// EndedError is a study that ended without a result.
type EndedError struct{ Code study.Code }

func (e *EndedError) Error() string { return "the study ended without a result: " + string(e.Code) }

// Plan plans a spec for sites that are not there, as many as units has counts. Their names are the
// spec's, or site-1 and so on. Nobody has a private key for any key in the proposal: they are
// hashes, so that nobody can sign anything for it. It returns the proposal's bytes, too.
func Plan(spec proposal.Spec, units []int, nonce [32]byte) (*study.Plan, []byte, error) {
	var roster []proposal.Member
	for i, n := range units {
		name := fmt.Sprintf("site-%d", i+1)
		if len(spec.Sites) == len(units) {
			name = spec.Sites[i]
		}
		roster = append(roster, proposal.Member{Name: name, Identity: nobody(fmt.Sprint("site ", i)), Units: n})
	}
	spec, err := spec.Dated(time.Now())
	if err != nil {
		return nil, nil, err
	}
	body, err := proposal.Propose(spec, roster, ed25519.PublicKey(nobody("coordinator")), nonce)
	if err != nil {
		return nil, nil, err
	}
	p, err := study.NewPlan(body)
	return p, body, err
}

func nobody(who string) proposal.Key {
	h := sha256.Sum256([]byte("covey: no key of a simulated " + who))
	return h[:]
}

// Run follows a plan to its end and returns the result, unsigned. sites are the roster's, nil those
// that have dropped out; all others are in every sum. sources are where noise is drawn from: one
// for each site's shares, then the coordinator's. The error is an *[EndedError] where the study
// ends early.
func Run(p *study.Plan, sites []*answer.Rows, sources []io.Reader) (*result.Result, error) {
	var survivors []int
	for i, rows := range sites {
		if rows != nil {
			survivors = append(survivors, i)
		}
	}
	course := p.Start()
	var releases []study.Release
	for course.Query < len(p.Queries) && course.End == "" {
		ask, err := p.NewAsk(course, len(releases))
		if err != nil {
			return nil, err
		}
		noised, err := opened(p, ask, survivors, sites, sources)
		if err != nil {
			return nil, err
		}
		r, err := p.NewRelease(ask, survivors, noised)
		if err != nil {
			return nil, err
		}
		if len(r.Removable()) > 0 {
			r.Removed = survivors
		}
		if course, err = p.Next(course, r, releases); err != nil {
			return nil, err
		}
		releases = append(releases, r)
	}
	if course.End != "" {
		return nil, &EndedError{course.End}
	}
	return result.New(p, releases)
}

// opened returns the opened sum, made private where the plan says: by what it keeps of every
// survivor's share, by the coordinator's noise, or by a private choice.
func opened(p *study.Plan, a study.Ask, survivors []int, sites []*answer.Rows, sources []io.Reader) ([]int64, error) {
	sum := make([]uint64, p.Queries[a.Query].Values)
	for _, i := range survivors {
		part, err := sites[i].Answer(p, i, a, 1) // studies run side by side instead
		if err != nil {
			return nil, err
		}
		if p.Honest > 0 {
			share, err := p.Noise.Share(a.Sigma)
			if err != nil {
				return nil, err
			}
			for _, kept := range share.Kept(len(survivors)) {
				if err := add(part, kept.Sigma, sources[i]); err != nil {
					return nil, err
				}
			}
		}
		for j, v := range part {
			sum[j] += uint64(v)
		}
	}
	if p.Honest > 0 {
		noised := make([]int64, len(sum))
		for i, v := range sum {
			noised[i] = int64(v)
		}
		return noised, nil
	}
	return aggregate.Privatize(p, a, sum, p.Bits, sources[len(sites)])
}

// add adds discrete Gaussian noise.
func add(sum []int64, sigma noise.Sigma, source io.Reader) error {
	draws := make([]int64, len(sum))
	if err := sigma.Draw(source, draws); err != nil {
		return err
	}
	for i, v := range draws {
		sum[i] += v
	}
	return nil
}

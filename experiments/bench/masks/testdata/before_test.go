package bench

import (
	"crypto/rand"

	"covey/internal/noise"
)

// totalSigma is the noise of a sum, in grid steps.
const totalSigma = 1 << 20

// parts is the distributed noise of one query at the commit before: one draw a value and site, of
// which nothing is taken away again.
type parts struct {
	share noise.Sigma
	key   [32]byte
	draws []int64
}

func newParts(n, d, dropped int) (*parts, error) {
	cfg, err := newConfig(n, 1)
	if err != nil {
		return nil, err
	}
	total, err := noise.SigmaAtLeast(totalSigma)
	if err != nil {
		return nil, err
	}
	p := &parts{draws: make([]int64, d)}
	rand.Read(p.key[:])
	p.share, err = noise.ShareSigma(total, cfg.MinSurvivors-max(cfg.Corrupt, 1))
	return p, err
}

func (p *parts) run(t times) error {
	return t.run([]part{
		{"draw", func() error { return p.share.Draw(noise.NewKeyed(p.key), p.draws) }},
		{"remove", func() error { return nil }},
	})
}

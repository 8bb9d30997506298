package bench

import (
	"crypto/rand"
	"errors"
	"slices"

	"covey/internal/noise"
	"covey/internal/secagg"
)

// totalSigma is the noise of a sum, in grid steps.
const totalSigma = 1 << 20

// parts is the distributed noise of one query, with what its sum takes away again.
type parts struct {
	share     noise.Share
	own       secagg.SlotSecret
	context   [32]byte
	sites     int
	survivors [][32]byte // their keys of the chain
	sum       []uint64
}

// newParts returns the noise of d values of n sites, with so many missing from the sum.
func newParts(n, d, dropped int) (*parts, error) {
	cfg, err := newConfig(n, 1)
	if err != nil {
		return nil, err
	}
	total, err := noise.SigmaAtLeast(totalSigma)
	if err != nil {
		return nil, err
	}
	p := &parts{sites: n, sum: make([]uint64, d)}
	rand.Read(p.own[:])
	rand.Read(p.context[:])
	for range n - dropped {
		var secret secagg.SlotSecret
		rand.Read(secret[:])
		p.survivors = append(p.survivors, secagg.NoiseChain(secret, p.context, n, n-dropped))
	}
	p.share, err = noise.NewShare(total, cfg.MinSurvivors, n, max(cfg.Corrupt, 1))
	return p, err
}

// run measures once what an agent adds, and what the coordinator takes away of all survivors'.
func (p *parts) run(t times) error {
	v, u := make([]uint64, len(p.sum)), len(p.survivors)
	removable := p.share.Removable(u)
	err := t.run([]part{
		{"draw", func() error {
			root := secagg.NoiseChain(p.own, p.context, p.sites, p.sites)
			keys := secagg.NoiseComponentKeys(root, p.sites, p.share[1:].Levels())
			return p.share.Add(v, append([][32]byte{secagg.NoiseShareKey(p.own, p.context)}, keys...))
		}},
		{"remove", func() error {
			for _, key := range p.survivors {
				if err := removable.Subtract(p.sum, secagg.NoiseComponentKeys(key, u, removable.Levels())); err != nil {
					return err
				}
			}
			return nil
		}},
	})
	if err != nil {
		return err
	}
	return p.check(v, removable)
}

// check compares what is left of one site's noise with what is kept.
func (p *parts) check(v []uint64, removable noise.Share) error {
	u := len(p.survivors)
	key := secagg.NoiseChain(p.own, p.context, p.sites, u)
	if err := removable.Subtract(v, secagg.NoiseComponentKeys(key, u, removable.Levels())); err != nil {
		return err
	}
	kept, want := p.share.Kept(u), make([]uint64, len(v))
	root := secagg.NoiseChain(p.own, p.context, p.sites, p.sites)
	keys := append([][32]byte{secagg.NoiseShareKey(p.own, p.context)}, secagg.NoiseComponentKeys(root, p.sites, kept[1:].Levels())...)
	if err := kept.Add(want, keys); err != nil {
		return err
	}
	if !slices.Equal(v, want) {
		return errors.New("what is left of a site's noise is not what is kept")
	}
	return nil
}

// Package aggregate handles exact sums: it masks a site's sum before that leaves, and makes the
// opened total private before anyone sees it. Both ends are here so that experiments/audit runs
// what agents and coordinators run.
package aggregate

import (
	"covey/internal/secagg"
	"covey/internal/study"
)

// Upload is what leaves a site of its exact sum for an ask that its plan allows: values, with this
// site's share of the noise or followed by the lanes that key it, under the slot's masks, in the
// ring's width. It charges, checks and remembers nothing.
func Upload(p *study.Plan, setup *secagg.Setup, self int, ask study.Ask, q secagg.Query, sum []int64, own secagg.SlotSecret, held secagg.SlotHeld) ([]byte, error) {
	v := make([]uint64, 0, q.Lanes)
	for _, x := range sum {
		v = append(v, uint64(x)) // Mask reduces mod 2^b
	}
	var err error
	if p.Honest > 0 {
		err = AddShare(p, v, own, q, ask)
	} else {
		v = append(v, secagg.NoiseLanes(own, q.Context, q.Bits)...)
	}
	if err != nil {
		return nil, err
	}
	if err := setup.Mask(self, own, held, q, v); err != nil {
		return nil, err
	}
	return secagg.Pack(v, q.Bits), nil
}

// AddShare adds all parts of this site's share of distributed noise. They are a function of the
// slot's secret and ctx: an upload that is computed again after a crash is the same, and another
// slot's has noise of its own. The key of the parts that may be removed leaves only with this
// site's shares (secagg.NoiseChain), and that of the first part never.
func AddShare(p *study.Plan, v []uint64, own secagg.SlotSecret, q secagg.Query, ask study.Ask) error {
	share, err := p.Noise.Share(ask.Sigma)
	if err != nil {
		return err
	}
	keys := [][32]byte{secagg.NoiseShareKey(own, q.Context)}
	if removable := share[1:]; len(removable) > 0 {
		sites := p.Thresholds.Sites
		root := secagg.NoiseChain(own, q.Context, sites, sites)
		keys = append(keys, secagg.NoiseComponentKeys(root, sites, removable.Levels())...)
	}
	return share.Add(v, keys)
}

package agent

import (
	"maps"
	"slices"

	"covey/internal/holding"
	"covey/internal/rowcache"
	"covey/internal/siteconfig"
)

// openCache opens the cache and removes the rows of studies that are over and of data
// sets that are not kept any more.
func (a *Agent) openCache() error {
	var err error
	if a.cache, err = rowcache.Open(a.config.CacheDir()); err != nil {
		return err
	}
	known, err := a.pending.List()
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, id := range known {
		keep[holding.Owner(id)] = true
	}
	for _, e := range a.ledger.Active() {
		keep[holding.Owner(e.Study)] = true
	}
	for _, d := range a.config.Datasets {
		if d.Cache == siteconfig.CacheKeep {
			keep[d.Keeper()] = true
		}
	}
	return a.cache.Retain(func(owner string) bool { return keep[owner] })
}

// closeCache lets go of all rows.
func (a *Agent) closeCache() error {
	if a.cache == nil {
		return nil
	}
	a.sessions.mu.Lock()
	places := slices.Collect(maps.Values(a.sessions.places))
	a.sessions.mu.Unlock()
	for _, at := range places {
		at.mu.Lock()
		at.rows.Release()
		at.mu.Unlock()
	}
	return a.cache.Close()
}

// Datasets tells of each data set that the site offers, in the order of agent.toml, and then of
// those that studies under way still use, whether it is what these pinned: by its size and time,
// or, if hash, by all its bytes.
func (vs *Views) Datasets(hash bool) []holding.Status {
	type used struct {
		d    siteconfig.Dataset
		pins [][32]byte
	}
	var all []used
	find := func(d siteconfig.Dataset) *used {
		for i := range all {
			if holding.Seen(all[i].d) == holding.Seen(d) {
				return &all[i]
			}
		}
		all = append(all, used{d: d})
		return &all[len(all)-1]
	}
	config := vs.a.Settings.current.Load()
	for _, d := range config.Datasets {
		find(d)
	}
	for _, e := range vs.a.ledger.Active() {
		approval, ok := vs.a.ledger.Approved(e.Study)
		if !ok {
			continue
		}
		if s := vs.a.sessions.listed(e.Study); s != nil {
			_, d := s.terms()
			u := find(d)
			u.pins = append(u.pins, approval.DataSHA256)
		}
	}
	out := []holding.Status{}
	for i, u := range all {
		v := vs.a.stock.Status(vs.a.config.Source(u.d), u.d, u.pins, hash)
		v.Offered = i < len(config.Datasets)
		out = append(out, v)
	}
	return out
}

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

// closeCache releases all rows.
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

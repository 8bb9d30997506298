package analysis

import (
	"maps"
	"time"
)

// Count is how many units analysts are told that a site's data set has, from a day on.
type Count struct {
	Day   int64 `json:"day"` // since 1970 in UTC
	Units int   `json:"units"`
}

// Counts are the counts that analysts were told last, by data set and site. A table that grows
// would tell when each of its rows came: all analysts are told one number a site, data set and day,
// the first that any of them asked for.
type Counts map[string]map[string]Count

// keptDays is how long a count is kept that nobody asked for again.
const keptDays = 2

func dayOf(at time.Time) int64 { return at.Unix() / (24 * 60 * 60) }

// Clone returns a copy that later counts do not change.
func (c Counts) Clone() Counts {
	out := make(Counts, len(c))
	for name, sites := range c {
		out[name] = maps.Clone(sites)
	}
	return out
}

// Fresh reports whether a site's count may be told anew at a time: none was told on that day, or
// on the next one by another coordinator's clock. A later day is of a clock that ran ahead: a count
// that stood until then would have each proposal declined once the rows change.
func (c Counts) Fresh(dataset, site string, at time.Time) bool {
	old, told := c[dataset][site]
	return !told || old.Day < dayOf(at) || old.Day > dayOf(at)+1
}

// Tell notes what analysts are told at a time of sites' counts of a data set; what was told on that
// day stays. What was told more than two days before is forgotten.
func (c Counts) Tell(dataset string, units map[string]int, at time.Time) {
	if c[dataset] == nil {
		c[dataset] = map[string]Count{}
	}
	for site, n := range units {
		if c.Fresh(dataset, site, at) {
			c[dataset][site] = Count{dayOf(at), n}
		}
	}
	for name, sites := range c {
		maps.DeleteFunc(sites, func(_ string, old Count) bool { return old.Day < dayOf(at)-keptDays })
		if len(sites) == 0 {
			delete(c, name)
		}
	}
}

// Of returns the count that analysts were told last.
func (c Counts) Of(dataset, site string) (units int, told bool) {
	last, told := c[dataset][site]
	return last.Units, told
}

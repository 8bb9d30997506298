package holding

import (
	"time"

	"covey/internal/dataset"
	"covey/internal/siteconfig"
)

// Status is a data set as its operator sees it; nothing of it is a value, and none of it
// leaves the site.
type Status struct {
	Name       string `json:"name"`
	Population string `json:"population"`
	Unit       string `json:"unit,omitempty"` // empty: every row is a unit
	// the file's format, "folder of parquet", or the server's kind
	Kind string `json:"kind"`
	// Offered is false for a data set that a study under way still uses, and that agent.toml no
	// longer has, or now describes otherwise.
	Offered bool `json:"offered"`
	// Studies are approved and not over, and have pinned it.
	Studies int `json:"studies"`
	// Data compares it with what those studies pinned: one of the words below; empty without one.
	Data string `json:"data,omitempty"`
	// Read is when this process last read it, for a study or to count its units.
	Read  *time.Time `json:"read,omitempty"`
	Fault string     `json:"fault,omitempty"` // why it cannot be looked at, or used
}

// What [Status].Data says.
const (
	DataSame = "as pinned" // its bytes were hashed, or the query asked
	// its bytes were, when it was read; size and time are those still
	DataLooks   = "looks as pinned"
	DataMaybe   = "looks changed"    // size or time are others than when it was read
	DataChanged = "changed"          // its bytes were hashed, or the query asked
	DataUnknown = "not compared yet" // since the start, or a query
)

// Status tells of a data set that studies under way have pinned so: whether it is still that, by
// its size and time, or, if hash, by all its bytes.
func (s *Stock) Status(at dataset.Source, d siteconfig.Dataset, pins [][32]byte, hash bool) Status {
	v := Status{Name: d.Name, Population: d.Population, Unit: d.Unit, Kind: at.Words(), Studies: len(pins)}
	s.mu.Lock()
	last, looked := s.looks[Seen(d)]
	s.mu.Unlock()
	if looked {
		v.Read = &last.at
	}
	if len(pins) > 0 || at.Query == nil {
		v.Data, v.Fault = compare(d, at, last, looked, pins, hash)
	}
	return v
}

// compare is Status.Data and Fault.
func compare(d siteconfig.Dataset, at dataset.Source, last look, looked bool, pins [][32]byte, hash bool) (data, fault string) {
	all := func(pin [32]byte) bool {
		for _, p := range pins {
			if p != pin {
				return false
			}
		}
		return true
	}
	if hash && len(pins) > 0 {
		sha, err := at.Pin(dataset.ReadOptions{})
		switch {
		case err != nil:
			return "", err.Error()
		case all(d.Pin(sha)):
			return DataSame, ""
		}
		return DataChanged, ""
	}
	if at.Query != nil {
		return DataUnknown, ""
	}
	stamp, err := at.Stamp()
	switch {
	case err != nil:
		return "", err.Error()
	case len(pins) == 0:
		return "", ""
	case !looked:
		return DataUnknown, ""
	case !stamp.Same(last.stamp):
		return DataMaybe, ""
	case all(last.pin):
		return DataLooks, ""
	}
	return DataChanged, ""
}

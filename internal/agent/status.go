package agent

import (
	"encoding/hex"
	"time"

	"covey/internal/dataset"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// DatasetStatus is a data set as its operator sees it; nothing of it is a value, and none of it
// leaves the site.
type DatasetStatus struct {
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
	Fault string     `json:"fault,omitempty"` // why it cannot be looked at
}

// What DatasetStatus.Data says.
const (
	DataSame = "as pinned" // its bytes were hashed, or the query asked
	// its bytes were, when it was read; size and time are those still
	DataLooks   = "looks as pinned"
	DataMaybe   = "looks changed"    // size or time are others than when it was read
	DataChanged = "changed"          // its bytes were hashed, or the query asked
	DataUnknown = "not compared yet" // since the start, or a query
)

// look is a data set as it was when its rows were read.
type look struct {
	stamp dataset.Stamp // of files
	pin   [32]byte
	at    time.Time
}

// seen names a data set in all its words.
func seen(d siteconfig.Dataset) string { return hex.EncodeToString(d.Record()) }

func (a *Agent) looked(d siteconfig.Dataset, l look) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looks[seen(d)] = l
}

// Datasets tells of each data set that the site offers, in the order of agent.toml, and then of
// those that studies under way still use, whether it is what these pinned: by its size and time,
// or, if hash, by all its bytes.
func (a *Agent) Datasets(hash bool) []DatasetStatus {
	type used struct {
		d    siteconfig.Dataset
		pins [][32]byte
	}
	var all []used
	find := func(d siteconfig.Dataset) *used {
		for i := range all {
			if seen(all[i].d) == seen(d) {
				return &all[i]
			}
		}
		all = append(all, used{d: d})
		return &all[len(all)-1]
	}
	config := a.current.Load()
	for _, d := range config.Datasets {
		find(d)
	}
	for _, e := range a.ledger.Studies() {
		approval, ok := a.ledger.Approved(e.Study)
		if e.State != ledger.Approved || !ok {
			continue
		}
		if s, _ := a.session(proposal.Digest(e.Study)); s != nil {
			_, d := s.terms()
			u := find(d)
			u.pins = append(u.pins, approval.DataSHA256)
		}
	}
	out := []DatasetStatus{}
	for i, u := range all {
		at := a.config.Source(u.d)
		v := DatasetStatus{Name: u.d.Name, Population: u.d.Population, Unit: u.d.Unit, Kind: at.Words(), Offered: i < len(config.Datasets), Studies: len(u.pins)}
		a.mu.Lock()
		last, looked := a.looks[seen(u.d)]
		a.mu.Unlock()
		if looked {
			v.Read = &last.at
		}
		if len(u.pins) > 0 || at.Query == nil {
			v.Data, v.Fault = compare(u.d, at, last, looked, u.pins, hash)
		}
		out = append(out, v)
	}
	return out
}

// compare is DatasetStatus.Data and Fault.
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

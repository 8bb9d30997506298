package agent

import (
	"covey/internal/enroll"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/wire"
)

// hello says what this site offers: the names of its data sets and their sizes,
// public under replacement adjacency. One that cannot be read is not offered.
func (a *Agent) hello() wire.Hello {
	h := wire.Hello{Software: enroll.Software}
	for _, d := range a.Settings.current.Load().Datasets {
		units, err := a.stock.Count(a.config.Source(d), d, a.now)
		if err != nil {
			a.log.Error("a data set is not offered", "dataset", d.Name, "error", err)
			continue
		}
		h.Datasets = append(h.Datasets, wire.Dataset{Name: d.Name, Units: uint64(units)})
	}
	a.Chain.Greet(&h)
	return h
}

// maxHello bounds a hello, in bytes: a coordinator takes no message of over 64 KiB from a site in
// no study.
const maxHello = 60 << 10

// tellStudies puts into a hello which studies are open here and which are over, the newest first,
// as many as fit: the coordinator tells the end of a study to the sites that have it open, that do
// not know it, or that had no place to say. Of a ledger that fails nothing is said.
func (a *Agent) tellStudies(h *wire.Hello) {
	open, err := a.pending.List()
	if err != nil {
		a.log.Error("the proposals that wait cannot be listed", "error", err)
		return
	}
	var over []proposal.Digest
	for _, e := range a.ledger.Studies() {
		if a.arriving.holds(e.Study) {
			continue // its verdict tells
		}
		switch e.State {
		case ledger.Approved:
			open = append(open, e.Study)
		case ledger.Finished, ledger.Rejected:
			over = append(over, e.Study)
		}
	}
	if a.ledger.Err() != nil {
		return
	}
	room := maxHello
	for _, d := range h.Datasets {
		room -= len(d.Name) + 20 // its tags, lengths and number
	}
	room = max(0, room/wire.TagBytes)
	h.AllOpen = len(open) <= room
	h.Open = tags(open[:min(room, len(open))])
	h.Over = tags(over[:min(room-len(h.Open), len(over))])
}

func tags(studies []proposal.Digest) []wire.Tag {
	out := make([]wire.Tag, len(studies))
	for i, id := range studies {
		out[i] = wire.TagOf(id)
	}
	return out
}

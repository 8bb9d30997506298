package wire

import (
	"google.golang.org/protobuf/proto"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// Query asks for one masked upload. Its Ask has neither kind nor round, which are the plan's.
type Query struct {
	Study proposal.Digest
	Ask   study.Ask
}

// About returns what the ask is of.
func (m Query) About() Header { return Header{m.Study, m.Ask.Query, m.Ask.Slot} }

func (m Query) body() proto.Message {
	a := m.Ask
	return &covey.Query{
		History: a.History[:],
		X:       a.X, Center: a.Center, Found: a.Found, Scale: a.Scale, Fill: a.Fill, Deviations: a.Deviations, Radius: a.Radius, Grid: a.Grid, Sigma: uint64(a.Sigma),
	}
}

func queryOf(r *reader, h Header, b *covey.Query) Query {
	return Query{h.Study, study.Ask{
		Query: h.Query, Slot: h.Slot, History: r.link(b.GetHistory()),
		X: b.GetX(), Center: b.GetCenter(), Found: b.GetFound(), Scale: b.GetScale(), Fill: b.GetFill(), Deviations: b.GetDeviations(), Radius: b.GetRadius(), Grid: b.GetGrid(), Sigma: noise.Sigma(b.GetSigma()),
	}}
}

// link reads a history's last link: all zeros if there is none, since no link is zero.
func (r *reader) link(b []byte) (d proposal.Digest) {
	if len(b) != 0 && len(b) != len(d) {
		r.err = ErrHistory
	}
	copy(d[:], b)
	return d
}

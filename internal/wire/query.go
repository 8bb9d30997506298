package wire

import (
	"google.golang.org/protobuf/proto"

	"covey/internal/noise"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// Query asks for one masked upload.
type Query struct {
	Study study.Digest
	Ask   study.Ask
}

// About returns what the ask is of.
func (m Query) About() Header { return Header{m.Study, m.Ask.Attempt, m.Ask.Query, m.Ask.Slot} }

func (m Query) body() proto.Message {
	a := m.Ask
	return &covey.Query{
		Kind: covey.Kind(number(covey.Kind_value, "KIND_", string(a.Kind))), Round: uint32(a.Round),
		X: a.X, Center: a.Center, Found: a.Found, Radius: a.Radius, Grid: a.Grid, Sigma: uint64(a.Sigma),
	}
}

func queryOf(r *reader, h Header, b *covey.Query) Query {
	return Query{h.Study, study.Ask{
		Attempt: h.Attempt, Query: h.Query, Slot: h.Slot, Kind: study.Kind(word(covey.Kind_name, int32(b.GetKind()))), Round: r.int(b.GetRound()),
		X: b.GetX(), Center: b.GetCenter(), Found: b.GetFound(), Radius: b.GetRadius(), Grid: b.GetGrid(), Sigma: noise.Sigma(b.GetSigma()),
	}}
}

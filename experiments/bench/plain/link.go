package plain

import (
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"covey/internal/noise"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

const maxMessage = 2 * wire.Max

// service is the server's side of the links.
type service struct {
	covey.UnimplementedFederationServer
	joined chan<- *link
}

// link is one client's stream as the server holds it.
type link struct {
	stream  grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]
	answers chan []byte // packed sums, as they come
}

// Link takes a client's answers until it goes. The first message is an empty hello.
func (s *service) Link(stream grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]) error {
	l := &link{stream: stream, answers: make(chan []byte, 1)}
	hello := true
	for {
		raw, err := wire.Receive(func() ([]byte, bool, error) {
			m, err := stream.Recv()
			return m.GetFrame().GetData(), m.GetFrame().GetLast(), err
		}, wire.MaxMessage)
		if err != nil {
			return err
		}
		if hello {
			hello = false
			s.joined <- l
			continue
		}
		var m covey.SiteMessage
		if err := proto.Unmarshal(raw, &m); err != nil {
			return err
		}
		l.answers <- m.GetUpload().GetMasked()
	}
}

func (l *link) send(message []byte) error {
	return wire.Send(message, func(data []byte, last bool) error {
		return l.stream.Send(&covey.LinkResponse{Frame: &covey.Frame{Data: data, Last: last}})
	})
}

func encodeAsk(p *study.Plan, a study.Ask) ([]byte, error) {
	return proto.Marshal(&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Query{Query: &covey.Query{
		Study: p.Digest[:], Query: uint32(a.Query), Slot: uint32(a.Slot),
		X: a.X, Center: a.Center, Found: a.Found, Scale: a.Scale, Fill: a.Fill, Deviations: a.Deviations, Radius: a.Radius, Grid: a.Grid, Sigma: uint64(a.Sigma),
	}}})
}

func decodeAsk(raw []byte) (study.Ask, error) {
	var m covey.CoordinatorMessage
	if err := proto.Unmarshal(raw, &m); err != nil {
		return study.Ask{}, err
	}
	q := m.GetQuery()
	if q == nil {
		return study.Ask{}, errors.New("plain: not a query")
	}
	return study.Ask{
		Query: int(q.GetQuery()), Slot: int(q.GetSlot()),
		X: q.GetX(), Center: q.GetCenter(), Found: q.GetFound(), Scale: q.GetScale(), Fill: q.GetFill(), Deviations: q.GetDeviations(), Radius: q.GetRadius(), Grid: q.GetGrid(), Sigma: noise.Sigma(q.GetSigma()),
	}, nil
}

// client is one site.
type client struct {
	f    *Federation
	site int
}

// run answers queries until the stream ends.
func (c *client) run(stream grpc.BidiStreamingClient[covey.LinkRequest, covey.LinkResponse]) error {
	send := func(message []byte) error {
		return wire.Send(message, func(data []byte, last bool) error {
			return stream.Send(&covey.LinkRequest{Frame: &covey.Frame{Data: data, Last: last}})
		})
	}
	if err := send(nil); err != nil {
		return err
	}
	for {
		raw, err := wire.Receive(func() ([]byte, bool, error) {
			m, err := stream.Recv()
			return m.GetFrame().GetData(), m.GetFrame().GetLast(), err
		}, wire.MaxMessage)
		if err != nil {
			return err
		}
		answer, err := c.answer(raw)
		if err != nil {
			return err
		}
		if err := send(answer); err != nil {
			return err
		}
	}
}

func (c *client) answer(raw []byte) ([]byte, error) {
	ask, err := decodeAsk(raw)
	if err != nil {
		return nil, err
	}
	c.f.mu.Lock()
	plan := c.f.plan
	c.f.mu.Unlock()
	ask = plan.Queries.Fill(ask)
	if err := plan.Check(ask); err != nil {
		return nil, err
	}
	sum, err := c.f.sites[c.site].Answer(plan, c.site, ask, 0)
	if err != nil {
		return nil, err
	}
	v := make([]uint64, len(sum))
	for i, x := range sum {
		v[i] = uint64(x)
	}
	return proto.Marshal(&covey.SiteMessage{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{
		Study: plan.Digest[:], Query: uint32(ask.Query), Slot: uint32(ask.Slot), Masked: secagg.Pack(v, plan.Bits),
	}}})
}

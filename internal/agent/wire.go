package agent

import (
	"context"
	"errors"
	"math"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"covey/internal/egress"
	"covey/internal/enroll"
	"covey/internal/frame"
	"covey/internal/noise"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// This file alone knows the generated messages: it turns them into requests,
// and answers into them.

var (
	errNotMessage = errors.New("link: not a coordinator message")
	errNoStudy    = errors.New("link: a message without a study")
	errHistory    = errors.New("link: a history of another length")
	errNumber     = errors.New("link: a number over 2^31-1")
)

// decode reads a serialized CoordinatorMessage. Whether it makes sense is the
// session's to say; a message of a kind not known here is an error.
func decode(raw []byte) (request, error) {
	var m covey.CoordinatorMessage
	if checkShape(raw) != nil || proto.Unmarshal(raw, &m) != nil {
		return nil, errNotMessage
	}
	if p, ok := m.GetBody().(*covey.CoordinatorMessage_Proposal); ok {
		return askDecision{p.Proposal.GetBody()}, nil
	}
	digest, err := digestOf(&m)
	if err != nil {
		return nil, err
	}
	var r reader
	var out request
	switch b := m.GetBody().(type) {
	case *covey.CoordinatorMessage_Announce:
		out = askAnnouncement{digest, b.Announce.GetAttempt()}
	case *covey.CoordinatorMessage_Reveal:
		out = askNonce{digest, b.Reveal.GetAttempt(), b.Reveal.GetAnnouncements()}
	case *covey.CoordinatorMessage_Deal:
		out = askBoxes{digest, b.Deal.GetAttempt(), b.Deal.GetAnnouncements(), b.Deal.GetNonces()}
	case *covey.CoordinatorMessage_Confirm:
		out = askConfirmation{digest, b.Confirm.GetAttempt(), b.Confirm.GetBoxes(), b.Confirm.GetBodies()}
	case *covey.CoordinatorMessage_Confirmed:
		out = tellConfirmed{digest, b.Confirmed.GetAttempt(), b.Confirmed.GetSignatures()}
	case *covey.CoordinatorMessage_Query:
		q := b.Query
		out = askUpload{digest, study.Ask{
			Attempt: q.GetAttempt(), Query: r.int(q.GetQuery()), Slot: r.int(q.GetSlot()), History: r.digest(q.GetHistory()),
			X: q.GetX(), Center: q.GetCenter(), Found: q.GetFound(),
			Radius: q.GetRadius(), Grid: q.GetGrid(), Sigma: noise.Sigma(q.GetSigma()),
		}}
	case *covey.CoordinatorMessage_Release:
		out = askSignature{digest, r.int(b.Release.GetQuery()), r.int(b.Release.GetSlot()), r.ints(b.Release.GetSurvivors())}
	case *covey.CoordinatorMessage_Open:
		o := b.Open
		out = askShares{digest, r.int(o.GetQuery()), r.int(o.GetSlot()), r.ints(o.GetSurvivors()), o.GetCertificate()}
	case *covey.CoordinatorMessage_Final:
		f := b.Final
		out = tellFinal{digest, r.int(f.GetQuery()), r.int(f.GetSlot()), final{f.GetReleased(), f.GetSignature()}}
	case *covey.CoordinatorMessage_Ended:
		out = tellEnded{digest, codeOf(b.Ended.GetCode())}
	default:
		return nil, errNotMessage
	}
	return out, r.err
}

// reader narrows numbers, and remembers that one did not fit.
type reader struct{ err error }

func (r *reader) int(v uint32) int {
	if v > math.MaxInt32 {
		r.err = errNumber
		return 0
	}
	return int(v)
}

func (r *reader) ints(v []uint32) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = r.int(x)
	}
	return out
}

// digest reads a link: zeros, which none is, if there is none.
func (r *reader) digest(b []byte) (d study.Digest) {
	if len(b) != 0 && len(b) != len(d) {
		r.err = errHistory
	}
	copy(d[:], b)
	return d
}

func digestOf(m *covey.CoordinatorMessage) (study.Digest, error) {
	body := bodyOf(m)
	if body == nil {
		return study.Digest{}, errNotMessage
	}
	id, ok := entry(body, "study")
	if !ok || len(id.Bytes()) != len(study.Digest{}) {
		return study.Digest{}, errNoStudy
	}
	return study.Digest(id.Bytes()), nil
}

// bodyOf returns the body of a SiteMessage or CoordinatorMessage, nil if none is set.
func bodyOf(m proto.Message) protoreflect.Message {
	r := m.ProtoReflect()
	set := r.WhichOneof(r.Descriptor().Oneofs().ByName("body"))
	if set == nil {
		return nil
	}
	return r.Get(set).Message()
}

// entry returns a body's field of a name; false if its message has no such field.
func entry(body protoreflect.Message, name protoreflect.Name) (protoreflect.Value, bool) {
	f := body.Descriptor().Fields().ByName(name)
	if f == nil {
		return protoreflect.Value{}, false
	}
	return body.Get(f), true
}

// describe says of an answer what the egress log holds. It reads the message that is sent, by its
// fields' names: a message with a field of a study, a query, a slot or a code cannot leave without
// its being on record.
func describe(a answer, bytes int) egress.Line {
	s := egress.Line{Kind: a.kind(), Bytes: bytes}
	body := bodyOf(message(a))
	if body == nil {
		return s
	}
	if v, ok := entry(body, "study"); ok {
		id := study.Digest(v.Bytes())
		s.Study = &id
	}
	for name, at := range map[protoreflect.Name]**int{"query": &s.Query, "slot": &s.Slot} {
		if v, ok := entry(body, name); ok {
			n := int(v.Uint())
			*at = &n
		}
	}
	if v, ok := entry(body, "code"); ok && v.Enum() != 0 {
		s.Code = codeOf(covey.Code(v.Enum()))
	}
	return s
}

// encode returns the serialized SiteMessage of an answer.
func encode(a answer) ([]byte, error) { return proto.Marshal(message(a)) }

// message returns the SiteMessage of an answer.
func message(a answer) *covey.SiteMessage {
	m := &covey.SiteMessage{}
	switch a := a.(type) {
	case hello:
		h := &covey.Hello{Software: a.Software, Open: tags(a.Open), AllOpen: a.AllOpen, Over: tags(a.Over)}
		for _, o := range a.Datasets {
			h.Datasets = append(h.Datasets, &covey.Dataset{Name: o.Name, Units: uint64(o.Units)})
		}
		m.Body = &covey.SiteMessage_Hello{Hello: h}
	case decision:
		m.Body = &covey.SiteMessage_Decision{Decision: &covey.Decision{
			Study: a.Study[:], Verdict: wireVerdict(a.Verdict), Code: wireCode(a.Code), Signature: a.Signature}}
	case announcement:
		m.Body = &covey.SiteMessage_Announcement{Announcement: &covey.Announcement{
			Study: a.Study[:], Attempt: a.Attempt, Signed: a.Signed}}
	case nonce:
		m.Body = &covey.SiteMessage_Nonce{Nonce: &covey.Nonce{Study: a.Study[:], Attempt: a.Attempt, Nonce: a.Nonce}}
	case boxes:
		m.Body = &covey.SiteMessage_Boxes{Boxes: &covey.Boxes{Study: a.Study[:], Attempt: a.Attempt, Boxes: a.Boxes}}
	case confirmation:
		m.Body = &covey.SiteMessage_Confirmation{Confirmation: &covey.Confirmation{
			Study: a.Study[:], Attempt: a.Attempt, Signature: a.Signature}}
	case upload:
		m.Body = &covey.SiteMessage_Upload{Upload: &covey.Upload{
			Study: a.Study[:], Query: uint32(a.Query), Slot: uint32(a.Slot), Masked: a.Masked}}
	case signature:
		m.Body = &covey.SiteMessage_ReleaseSignature{ReleaseSignature: &covey.ReleaseSignature{
			Study: a.Study[:], Query: uint32(a.Query), Slot: uint32(a.Slot), Signature: a.Signature}}
	case shares:
		m.Body = &covey.SiteMessage_Shares{Shares: &covey.Shares{
			Study: a.Study[:], Query: uint32(a.Query), Slot: uint32(a.Slot), Shares: a.Shares}}
	case refusal:
		r := &covey.Refusal{
			Study: a.Study[:], Attempt: a.Attempt, Query: uint32(a.Query), Slot: uint32(a.Slot), Code: wireCode(a.Code),
			Culprit: uint32(a.Culprit), Context: a.Context, Survivors: uints(a.Survivors), Signature: a.Signature, Shared: a.Shared,
			Announcement: a.Announcement, Lacks: uint32(a.Lacks),
		}
		if a.Final != nil {
			r.Final = &covey.Final{Study: a.Study[:], Query: uint32(a.Query), Slot: uint32(a.Slot),
				Released: a.Final.Encoded, Signature: a.Final.Signature}
		}
		m.Body = &covey.SiteMessage_Refusal{Refusal: r}
	}
	return m
}

func tags(studies []study.Digest) []byte {
	var out []byte
	for _, id := range studies {
		out = append(out, id[:frame.TagBytes]...)
	}
	return out
}

// codeOf maps by name: CODE_BAD_SHARE is "bad_share". An unknown number is internal.
func codeOf(c covey.Code) study.Code {
	name, ok := covey.Code_name[int32(c)]
	if !ok || c == covey.Code_CODE_UNSPECIFIED {
		return study.CodeInternal
	}
	return study.Code(strings.ToLower(strings.TrimPrefix(name, "CODE_")))
}

func wireCode(c study.Code) covey.Code {
	return covey.Code(covey.Code_value["CODE_"+strings.ToUpper(string(c))])
}

func wireVerdict(v Verdict) covey.Verdict {
	return covey.Verdict(covey.Verdict_value["VERDICT_"+strings.ToUpper(string(v))])
}

func uints(v []int) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = uint32(x)
	}
	return out
}

// stream is one open Link: frames out and in.
type stream struct {
	grpc.BidiStreamingClient[covey.LinkRequest, covey.LinkResponse]
}

func (s stream) send(data []byte, last bool) error {
	return s.Send(&covey.LinkRequest{Frame: &covey.Frame{Data: data, Last: last}})
}

func (s stream) receive() (data []byte, last bool, err error) {
	m, err := s.Recv()
	if err != nil {
		return nil, false, enroll.ExplainLeader(err)
	}
	return m.GetFrame().GetData(), m.GetFrame().GetLast(), nil
}

func openStream(ctx context.Context, conn grpc.ClientConnInterface) (stream, error) {
	s, err := covey.NewFederationClient(conn).Link(ctx)
	return stream{s}, err
}

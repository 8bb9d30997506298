package wire

import (
	"context"
	"io"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// MaxProposed bounds the body of a proposal that an analyst sends, in bytes.
const MaxProposed = 3 << 20

// Phase is how far a study has come, as an analyst is told it.
type Phase string

// The phases.
const (
	PhaseProposed  Phase = "proposed"
	PhaseSetup     Phase = "setup"
	PhaseRunning   Phase = "running"
	PhaseCompleted Phase = "completed"
	PhaseEnded     Phase = "ended"
)

// Offer is what a proposal is made of.
type Offer struct {
	Coordinator proposal.Key // Ed25519, signs releases and results
	Sites       []proposal.Member
	Readers     []proposal.Party // in the order asked for
	Clock       time.Time        // the coordinator's, in whole seconds
}

// Told is what an analyst is told of a study: nothing that follows from rows, budgets or links of a
// site. Times are rounded to 10 seconds.
type Told struct {
	Study    proposal.Digest
	Name     string
	Proposer string // analyst's name; empty of the coordinator's operator
	Own      bool   // the caller proposed it
	Phase    Phase
	Code     study.Code // why it ended
	Answers  []Answer   // in the order of the roster
	Done     int        // queries
	Queries  int        // that the plan may ask
	Proposed time.Time
	Ended    time.Time // zero: not over
	Expires  time.Time // zero: never
}

// Answer is one site's, as an analyst is told it.
type Answer struct {
	Site    string
	Verdict study.Verdict
	Fault   study.Code // of the schema, found before a row is read
	Awaited bool       // the study waits for this site just now
	Gone    bool       // it cannot come back to this study: revoked, or joined with another key
}

// AnalysisServer answers analysts; what is an error goes to them as a status.
type AnalysisServer interface {
	Offer(ctx context.Context, dataset string, sites, readers []string) (Offer, error)
	// Proposing is called before anything of a proposal is read; done after it was answered.
	Proposing(ctx context.Context) (done func(), err error)
	Propose(ctx context.Context, p Proposal) (proposal.Digest, error)
	List(ctx context.Context) ([]Told, error)
	// Watch calls see with a study now and after each change, until it is over, see fails or ctx
	// ends; with once, now alone.
	Watch(ctx context.Context, of proposal.Digest, once bool, see func(Told) error) error
	Withdraw(ctx context.Context, of proposal.Digest) error
}

// RegisterAnalysis puts the analysts' service on a gRPC server.
func RegisterAnalysis(s *grpc.Server, to AnalysisServer) {
	covey.RegisterAnalysisServer(s, &analysis{to: to})
}

// roles are the methods, by their full names, and who may call each. What is not here is for
// nobody, and what has no role needs no certificate.
var roles = map[string][]pki.Role{
	covey.Enrollment_Join_FullMethodName:     {},
	covey.Federation_Link_FullMethodName:     {pki.RoleSite},
	covey.Federation_Renew_FullMethodName:    {pki.RoleSite, pki.RoleAnalyst},
	covey.Federation_Standing_FullMethodName: {pki.RoleSite, pki.RoleAnalyst},
	covey.Federation_Result_FullMethodName:   {pki.RoleSite, pki.RoleAnalyst},
	covey.Analysis_Offer_FullMethodName:      {pki.RoleAnalyst},
	covey.Analysis_Propose_FullMethodName:    {pki.RoleAnalyst},
	covey.Analysis_List_FullMethodName:       {pki.RoleAnalyst},
	covey.Analysis_Watch_FullMethodName:      {pki.RoleAnalyst},
	covey.Analysis_Withdraw_FullMethodName:   {pki.RoleAnalyst},
}

// RolesOf returns who may call a method, by its full name: open reports whether it needs no
// certificate. Nobody may call a method that is not known here.
func RolesOf(method string) (of []pki.Role, open bool) {
	of, known := roles[method]
	return of, known && len(of) == 0
}

type analysis struct {
	covey.UnimplementedAnalysisServer
	to AnalysisServer
}

func (s *analysis) Offer(ctx context.Context, r *covey.OfferRequest) (*covey.OfferResponse, error) {
	o, err := s.to.Offer(ctx, r.GetDataset(), r.GetSites(), r.GetReaders())
	if err != nil {
		return nil, err
	}
	out := &covey.OfferResponse{Coordinator: o.Coordinator, UnixSeconds: o.Clock.Unix()}
	for _, m := range o.Sites {
		out.Sites = append(out.Sites, &covey.OfferedSite{Name: m.Name, Identity: m.Identity, Units: uint64(m.Units)})
	}
	for _, p := range o.Readers {
		out.Readers = append(out.Readers, &covey.Reader{Name: p.Name, Identity: p.Identity})
	}
	return out, nil
}

// proposedMore is room for what a serialized proposal holds besides its body.
const proposedMore = 1 << 10

func (s *analysis) Propose(of grpc.ClientStreamingServer[covey.ProposeRequest, covey.ProposeResponse]) error {
	done, err := s.to.Proposing(of.Context())
	if err != nil {
		return err
	}
	defer done()
	raw, err := Receive(func() ([]byte, bool, error) {
		m, err := of.Recv()
		return m.GetFrame().GetData(), m.GetFrame().GetLast(), err
	}, MaxProposed+proposedMore)
	if err == ErrTooLong {
		return status.Errorf(codes.ResourceExhausted, "a proposal has at most %d bytes", MaxProposed)
	}
	if err != nil {
		return err
	}
	p, err := decodeProposed(raw)
	if err != nil {
		return status.Error(codes.InvalidArgument, "what was sent is not a proposal")
	}
	digest, err := s.to.Propose(of.Context(), p)
	if err != nil {
		return err
	}
	return of.SendAndClose(&covey.ProposeResponse{Study: digest[:]})
}

// decodeProposed reads a proposal as an analyst sends it.
func decodeProposed(raw []byte) (Proposal, error) {
	var m covey.Proposal
	if err := proto.Unmarshal(raw, &m); err != nil {
		return Proposal{}, err
	}
	if len(m.GetBody()) > MaxProposed {
		return Proposal{}, ErrTooLong
	}
	return Proposal{m.GetBody(), m.GetSignature()}, nil
}

func (s *analysis) List(ctx context.Context, _ *covey.ListRequest) (*covey.ListResponse, error) {
	all, err := s.to.List(ctx)
	out := &covey.ListResponse{}
	for _, t := range all {
		out.Studies = append(out.Studies, t.message())
	}
	return out, err
}

// errNoDigest answers what is no digest as an unknown study is answered.
var errNoDigest = status.Error(codes.NotFound, NoStudy)

// NoStudy is what an analyst is told of a study that does not exist and of one that is not its own
// and not for it to read, alike.
const NoStudy = "there is no such study for this analyst"

func (s *analysis) Watch(r *covey.WatchRequest, to grpc.ServerStreamingServer[covey.WatchResponse]) error {
	of, ok := digestOf(r.GetStudy())
	if !ok {
		return errNoDigest
	}
	return s.to.Watch(to.Context(), of, r.GetOnce(), func(t Told) error { return to.Send(&covey.WatchResponse{Study: t.message()}) })
}

func (s *analysis) Withdraw(ctx context.Context, r *covey.WithdrawRequest) (*covey.WithdrawResponse, error) {
	of, ok := digestOf(r.GetStudy())
	if !ok {
		return nil, errNoDigest
	}
	return &covey.WithdrawResponse{}, s.to.Withdraw(ctx, of)
}

func (t Told) message() *covey.Study {
	out := &covey.Study{
		Study: t.Study[:], Name: t.Name, Proposer: t.Proposer, Own: t.Own, Phase: covey.Phase(number(covey.Phase_value, "PHASE_", string(t.Phase))), Code: wireCode(t.Code),
		QueriesDone: uint32(t.Done), Queries: uint32(t.Queries), ProposedUnix: unixOf(t.Proposed), EndedUnix: unixOf(t.Ended), ExpiresUnix: unixOf(t.Expires),
	}
	for _, a := range t.Answers {
		out.Answers = append(out.Answers, &covey.Answer{Site: a.Site, Verdict: wireVerdict(a.Verdict), Fault: wireCode(a.Fault), Awaited: a.Awaited, Gone: a.Gone})
	}
	return out
}

// toldOf reads what a coordinator says of a study: texts as they came.
func toldOf(m *covey.Study) (Told, error) {
	of, ok := digestOf(m.GetStudy())
	if !ok || len(m.GetAnswers()) > proposal.MaxSites {
		return Told{}, errShape
	}
	t := Told{Study: of}
	t.Name, t.Proposer, t.Own, t.Code = m.GetName(), m.GetProposer(), m.GetOwn(), whyOf(m.GetCode())
	if t.Phase = Phase(word(covey.Phase_name, int32(m.GetPhase()))); t.Phase == "" {
		return Told{}, errShape
	}
	for _, unix := range []int64{m.GetProposedUnix(), m.GetEndedUnix(), m.GetExpiresUnix()} {
		if unix < 0 || unix > latest {
			return Told{}, errShape
		}
	}
	t.Done, t.Queries = int(m.GetQueriesDone()), int(m.GetQueries())
	t.Proposed, t.Ended, t.Expires = timeOf(m.GetProposedUnix()), timeOf(m.GetEndedUnix()), timeOf(m.GetExpiresUnix())
	for _, a := range m.GetAnswers() {
		t.Answers = append(t.Answers, Answer{a.GetSite(), verdictOf(a.GetVerdict()), whyOf(a.GetFault()), a.GetAwaited(), a.GetGone()})
	}
	return t, nil
}

// latest is the last second of a year that RFC 3339 has.
const latest = 253402300799

// whyOf is codeOf where there may be no code.
func whyOf(c covey.Code) study.Code {
	if c == covey.Code_CODE_UNSPECIFIED {
		return ""
	}
	return codeOf(c)
}

func unixOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func timeOf(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}

// CallOffer asks for what a proposal is made of. What the coordinator says is not checked.
func CallOffer(ctx context.Context, conn grpc.ClientConnInterface, dataset string, sites, readers []string) (Offer, error) {
	r, err := covey.NewAnalysisClient(conn).Offer(ctx, &covey.OfferRequest{Dataset: dataset, Sites: sites, Readers: readers})
	if err != nil {
		return Offer{}, err
	}
	return OfferOf(r), nil
}

// OfferOf reads an offer, unchecked.
func OfferOf(r *covey.OfferResponse) Offer {
	o := Offer{Coordinator: r.GetCoordinator(), Clock: time.Unix(r.GetUnixSeconds(), 0).UTC()}
	for _, s := range r.GetSites() {
		o.Sites = append(o.Sites, proposal.Member{Name: s.GetName(), Identity: s.GetIdentity(), Units: int(min(s.GetUnits(), proposal.MaxUnits+1))})
	}
	for _, p := range r.GetReaders() {
		o.Readers = append(o.Readers, proposal.Party{Name: p.GetName(), Identity: p.GetIdentity()})
	}
	return o
}

// CallPropose hands in a proposal with its proposer's signature.
func CallPropose(ctx context.Context, conn grpc.ClientConnInterface, p Proposal) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	raw, err := proto.Marshal(&covey.Proposal{Body: p.Body, Signature: p.Signature})
	if err != nil {
		return err
	}
	to, err := covey.NewAnalysisClient(conn).Propose(ctx)
	if err != nil {
		return err
	}
	// A server that refuses ends the stream: its reason is CloseAndRecv's error.
	_ = Send(raw, func(data []byte, last bool) error {
		return to.Send(&covey.ProposeRequest{Frame: &covey.Frame{Data: data, Last: last}})
	})
	r, err := to.CloseAndRecv()
	if err != nil {
		return err
	}
	if digest := proposal.DigestOf(p.Body); !slices.Equal(r.GetStudy(), digest[:]) {
		return errShape
	}
	return nil
}

// CallList asks for the caller's studies and those that it may read.
func CallList(ctx context.Context, conn grpc.ClientConnInterface) ([]Told, error) {
	r, err := covey.NewAnalysisClient(conn).List(ctx, &covey.ListRequest{})
	if err != nil {
		return nil, err
	}
	var out []Told
	for _, m := range r.GetStudies() {
		t, err := toldOf(m)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// CallWatch calls see with a study now and after each change, until it is over, or now alone. The
// error of see ends it.
func CallWatch(ctx context.Context, conn grpc.ClientConnInterface, of proposal.Digest, once bool, see func(Told) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, err := covey.NewAnalysisClient(conn).Watch(ctx, &covey.WatchRequest{Study: of[:], Once: once})
	if err != nil {
		return err
	}
	for {
		m, err := from.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		t, err := toldOf(m.GetStudy())
		if err != nil {
			return err
		}
		if err := see(t); err != nil {
			return err
		}
	}
}

// CallWithdraw ends a study of the caller's own.
func CallWithdraw(ctx context.Context, conn grpc.ClientConnInterface, of proposal.Digest) error {
	_, err := covey.NewAnalysisClient(conn).Withdraw(ctx, &covey.WithdrawRequest{Study: of[:]})
	return err
}

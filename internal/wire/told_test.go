package wire

import (
	"context"
	"reflect"
	"testing"
	"time"

	"google.golang.org/grpc"

	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

func told() Told {
	at := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	return Told{
		Study: proposal.Digest{1}, Name: "weights", Proposer: "ada", Own: true, Phase: PhaseEnded, Code: study.CodeExpired,
		Answers: []Answer{{"north", study.VerdictApproved, "", false, false}, {"south", study.VerdictPending, study.CodeColumns, true, true}},
		Done:    3, Queries: 21, Proposed: at, Ended: at.Add(time.Hour), Expires: at.Add(time.Hour),
	}
}

// TestTold: what an analyst is told comes over as it was said; what no coordinator in order says
// does not come over.
func TestTold(t *testing.T) {
	for _, want := range []Told{told(), {Study: proposal.Digest{2}, Phase: PhaseProposed}} {
		if got, err := toldOf(want.message()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v: %v", got, want, err)
		}
	}
	for name, spoil := range map[string]func(m *covey.Study){
		"short digest":     func(m *covey.Study) { m.Study = m.Study[:31] },
		"long digest":      func(m *covey.Study) { m.Study = append(m.Study, 0) },
		"no phase":         func(m *covey.Study) { m.Phase = 0 },
		"unknown phase":    func(m *covey.Study) { m.Phase = 77 },
		"before 1970":      func(m *covey.Study) { m.ProposedUnix = -1 },
		"year 10000":       func(m *covey.Study) { m.ExpiresUnix = latest + 1 },
		"answers of many":  func(m *covey.Study) { m.Answers = make([]*covey.Answer, proposal.MaxSites+1) },
		"end before there": func(m *covey.Study) { m.EndedUnix = -1 << 63 },
	} {
		m := told().message()
		spoil(m)
		if _, err := toldOf(m); err != errShape {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := toldOf(nil); err != errShape {
		t.Error(err)
	}
}

// desk notes which study it is asked about.
type desk struct {
	AnalysisServer
	of *[]proposal.Digest
}

func (d desk) Withdraw(_ context.Context, of proposal.Digest) error {
	*d.of = append(*d.of, of)
	return nil
}

func (d desk) Watch(_ context.Context, of proposal.Digest, _ bool, _ func(Told) error) error {
	*d.of = append(*d.of, of)
	return nil
}

// stream is of a call whose answers nobody reads.
type stream struct {
	grpc.ServerStreamingServer[covey.WatchResponse]
}

func (stream) Context() context.Context { return context.Background() }

// TestDigestIsWhole: what is longer or shorter than a digest stands for no study.
func TestDigestIsWhole(t *testing.T) {
	var asked []proposal.Digest
	s := &analysis{to: desk{of: &asked}}
	for _, digest := range [][]byte{nil, id[:31], append(id[:], 0)} {
		_, withdrawing := s.Withdraw(t.Context(), &covey.WithdrawRequest{Study: digest})
		watching := s.Watch(&covey.WatchRequest{Study: digest}, stream{})
		if withdrawing != errNoDigest || watching != errNoDigest || len(asked) > 0 {
			t.Errorf("%d bytes: %v, %v, asked about %v", len(digest), withdrawing, watching, asked)
		}
	}
}

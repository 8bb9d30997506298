package analyst

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/enroll"
	"covey/internal/frame"
	"covey/internal/proposal"
)

// NotJoinedError is a folder from which nobody has joined.
type NotJoinedError struct{ Dir string }

func (e *NotJoinedError) Error() string {
	return e.Dir + ": nobody has joined a federation from this folder: analyst join FILE, with a join file from the coordinator's operator; --dir names another folder"
}

// EndedError is a certificate past its end.
type EndedError struct {
	Analyst string
	At      time.Time
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("the certificate of %s ended on %s: ask the coordinator's operator for a join file for one who has joined (coordinator analyst invite %s --again), then analyst join FILE --again",
		e.Analyst, e.At.UTC().Format(time.DateOnly), e.Analyst)
}

// ExcludedError is a coordinator that does not let this analyst in.
type ExcludedError struct {
	Analyst string
	Words   string // the coordinator's
}

func (e *ExcludedError) Error() string {
	return fmt.Sprintf("the coordinator does not let %s in: %s. If that is a mistake, ask its operator for a new join file; an analyst who was revoked joins again in a new folder, with new keys",
		e.Analyst, frame.Quoted(e.Words))
}

// QuotaError is a request beyond what the coordinator takes of one analyst.
type QuotaError struct{ Words string }

func (e *QuotaError) Error() string {
	return "the coordinator does not take this now: " + frame.Quoted(e.Words)
}

// RefusedError is a request that the coordinator understood and refused.
type RefusedError struct {
	Words   string
	Unknown bool // it is about a study that does not exist, or not for this analyst
}

func (e *RefusedError) Error() string { return "the coordinator refuses: " + frame.Quoted(e.Words) }

// LostError is a call whose answer was lost: it may have been taken.
type LostError struct {
	Address string
	Err     error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the coordinator at %s was lost before it answered: %s", e.Address, enroll.Plain(e.Err))
}

// Unwrap returns the connection's error.
func (e *LostError) Unwrap() error { return e.Err }

// NoLeaderError is coordinators that answer and none of which leads.
type NoLeaderError struct {
	File string
	Err  error // of the last that answered
}

func (e *NoLeaderError) Error() string {
	words := "no coordinator leads at the moment; try again"
	if at, ok := errors.AsType[*enroll.NotLeaderError](e.Err); ok && len(at.Addresses) > 0 {
		words += fmt.Sprintf(". One names %q: if that is not in %s and its operator tells you so, add it there", at.Addresses, e.File)
	}
	return words
}

// Unwrap returns the last coordinator's answer.
func (e *NoLeaderError) Unwrap() error { return e.Err }

// UnknownStudyError is a word for a study that means none, or several.
type UnknownStudyError struct {
	Ref     string
	Matches []proposal.Digest
	Signed  []proposal.Digest // in this folder, whether the coordinator knows them or not
}

func (e *UnknownStudyError) Error() string {
	if len(e.Matches) == 0 && len(e.Signed) > 0 {
		return fmt.Sprintf("the coordinator tells of no study %.80q, and this folder has signed one (%s): it was refused or never arrived; or the coordinator was restored from an older backup, and then sites may have answered it, and charged it. Ask its operator before you propose it again",
			e.Ref, some(e.Signed))
	}
	if len(e.Matches) == 0 {
		return fmt.Sprintf("no study %.80q is this analyst's or for it to read: analyst list shows those that are", e.Ref)
	}
	return fmt.Sprintf("%d studies match %.80q; give the digest of one, such as %s", len(e.Matches), e.Ref, some(e.Matches))
}

// some are the last few digests, each long enough to be given.
func some(digests []proposal.Digest) string {
	var out []string
	for _, d := range digests[max(0, len(digests)-5):] {
		out = append(out, d.String()[:12])
	}
	return strings.Join(out, ", ")
}

// AnswerError is an answer that no coordinator in order would make.
type AnswerError struct{ Reason string }

func (e *AnswerError) Error() string { return "the coordinator's answer is refused: " + e.Reason }

// explain returns the error of a call as an analyst reads it.
func (c *Client) explain(err error) error {
	s, ok := status.FromError(err)
	if !ok || s.Code() == codes.OK {
		return err
	}
	switch s.Code() {
	case codes.PermissionDenied, codes.Unauthenticated:
		return &ExcludedError{c.holder.Name(), s.Message()}
	case codes.ResourceExhausted:
		return &QuotaError{s.Message()}
	case codes.NotFound:
		return &RefusedError{s.Message(), true}
	case codes.InvalidArgument, codes.FailedPrecondition, codes.AlreadyExists, codes.OutOfRange:
		return &RefusedError{s.Message(), false}
	}
	return fmt.Errorf("the coordinator failed: %s", enroll.Plain(err))
}

// passing reports whether an error came from a coordinator that was lost or does not lead, so that
// the next one may answer.
func passing(err error) bool {
	_, gone := errors.AsType[*LostError](err)
	_, election := errors.AsType[*NoLeaderError](err)
	_, unreached := errors.AsType[*enroll.DialError](err)
	return gone || election || unreached
}

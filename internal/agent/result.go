package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/egress"
	"covey/internal/enroll"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/responder"
	"covey/internal/result"
	"covey/internal/wire"
)

// resultTime bounds how long a result file may take to come.
const resultTime = 10 * time.Minute

// NoResultError is a study whose result the coordinator does not have for this site.
type NoResultError struct{ Study proposal.Digest }

func (e *NoResultError) Error() string {
	return "the coordinator has no result of study " + e.Study.String()[:12] + " for this site: it has not completed, or this site is not in it"
}

// errNotLinked is a question to the coordinator while there is no link to one.
var errNotLinked = errors.New("there is no link to the coordinator; \"agent status\" says why")

// Result fetches the result file of a study from the coordinator that this agent is linked to, and
// checks it against this site's ledger. It keeps nothing of it: the file that it returns, at its
// beginning, is gone once the caller closes it. Errors: *[result.VerifyError], *[NoResultError],
// [errNotLinked].
func (vs *Views) Result(ctx context.Context, id proposal.Digest) (_ *os.File, err error) {
	defer vs.a.stock.Worked()
	conn := vs.a.uplink.Calls()
	if conn == nil {
		return nil, errNotLinked
	}
	ctx, cancel := context.WithTimeout(ctx, resultTime)
	defer cancel()
	if err := vs.a.egress.Record(egress.Line{Kind: "result", Study: &id, Bytes: len(id)}.Of(id[:]), vs.a.now()); err != nil {
		return nil, err
	}
	// on the disk, since a wide study's is longer than all else that an agent holds
	file, err := taken(vs.a.Dir(), free, func(to io.Writer) error { return wire.CallResult(ctx, conn, id[:], to) })
	_, disk := errors.AsType[*fs.PathError](err)
	switch {
	case disk:
		return nil, fmt.Errorf("the result needs room in %s until it is given out: %w", vs.a.Dir(), err)
	case status.Code(err) == codes.NotFound:
		return nil, &NoResultError{id}
	case err != nil:
		return nil, fmt.Errorf("the result did not arrive: %s", enroll.Plain(enroll.ExplainLeader(err)))
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	v, err := result.VerifyTwice(file)
	if err != nil {
		return nil, err
	}
	if v.Digest != id {
		return nil, &result.VerifyError{What: "digest", Query: -1, Reason: "the coordinator sent the result of another study, " + v.Digest.String()}
	}
	if err := vs.Holds(id).Check(v); err != nil {
		return nil, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return file, err
}

// Held is what a site has on record of a study.
type Held struct {
	State ledger.State `json:"state"`
	// Releases are the signed releases that this site was told, each as its query and its hash.
	Releases []HeldRelease `json:"releases,omitempty"`
	// Data is the pin of the rows that were approved (siteconfig.Dataset.Pin), zeros where it is
	// not known: of nothing approved, and of a ledger that came from an export.
	Data proposal.Digest `json:"data"`
}

// HeldRelease is a release on record: the SHA-256 of its exact signed bytes.
type HeldRelease struct {
	Query int             `json:"query"`
	Hash  proposal.Digest `json:"hash"`
}

// Holds returns what this site has on record of a study.
func (vs *Views) Holds(id proposal.Digest) Held { return HeldIn(vs.a.ledger, id) }

// HeldIn is [Views.Holds] of a ledger that no agent has open.
func HeldIn(l *ledger.Ledger, id proposal.Digest) Held {
	h := Held{State: ledger.Unknown}
	for _, s := range l.Studies() {
		if s.Study == id {
			h.State, h.Data = s.State, s.DataSHA256
		}
	}
	journal := l.Journal(id)
	last, any := journal.LatestFinal()
	for query := 0; any && query <= last; query++ {
		if final, ok := responder.Final(journal, query); ok {
			h.Releases = append(h.Releases, HeldRelease{query, proposal.DigestOf(final.Encoded)})
		}
	}
	return h
}

// Approved reports whether this site approved the study.
func (h Held) Approved() bool { return h.State == ledger.Approved || h.State == ledger.Finished }

// Check is nil for a result that verifies if this site approved its digest, which fixes the
// coordinator's key, and every release that this site received is in it, byte for byte: each
// holds the hash of the one before it, so that the last one told settles all before it. A release
// that this site was not told, since it was away, is held by the next one's hash, or, at the end,
// by the coordinator's signature alone. The error is a *[result.VerifyError].
func (h Held) Check(v *result.Verified) error {
	if !h.Approved() {
		return &result.VerifyError{What: "digest", Query: -1, Reason: fmt.Sprintf("this site did not approve the study: on its ledger it is %q", h.State)}
	}
	for _, r := range h.Releases {
		if has, ok := v.Release(r.Query); !ok || has != r.Hash {
			return &result.VerifyError{What: "releases", Query: r.Query, Reason: "is another release than the one that this site was told"}
		}
	}
	return nil
}

// Local puts on record that a file of this site's rows was made here: nothing left.
func (a *Agent) Local(id proposal.Digest, bytes int, sha256 string) error {
	return a.egress.Record(egress.Line{Kind: egress.KindLocal, Study: &id, Bytes: bytes, SHA256: sha256}, a.now())
}

package analyst

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/grpc"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/wire"
)

// NoResultError is a study whose result the coordinator does not have for this analyst.
type NoResultError struct{ Study proposal.Digest }

func (e *NoResultError) Error() string {
	return "the coordinator has no result of study " + e.Study.String()[:12] + " for this analyst: it has not completed, which shows at the next whole minute, or it is not this analyst's to read"
}

// Fetched is a result file that verifies.
type Fetched struct {
	File   *os.File // its exact bytes, from the beginning; gone once the caller closes it
	Result *result.Result
	// Kept reports whether its proposal was signed here, byte for byte.
	Kept bool
	// Pinned reports whether the key that signed it is the pinned one.
	Pinned bool
	Key    string // its fingerprint
}

// Result fetches the result of a study and checks that it verifies, has that digest, and is signed
// by the key in the proposal that was signed here, or for another analyst's study, by the pinned
// key, unless trusted has its fingerprint. Nothing of it stays in the folder. Errors:
// *[result.VerifyError], [*KeyChangedError], [*KeptError], [*NoResultError], and those of a call.
func (c *Client) Result(ctx context.Context, id proposal.Digest, trusted []string) (got *Fetched, err error) {
	file, err := spool(c.dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	again := func() error {
		_, err := file.Seek(0, io.SeekStart)
		return err
	}
	err = c.call(ctx, resultTime, func(ctx context.Context, conn *grpc.ClientConn) error {
		if err := errors.Join(file.Truncate(0), again()); err != nil { // of a call that failed
			return err
		}
		return wire.CallResult(ctx, conn, id[:], file)
	})
	if _, none := c.unknown(err, id).(*UnknownStudyError); none {
		return nil, &NoResultError{id}
	}
	if err != nil {
		return nil, err
	}
	if err := again(); err != nil {
		return nil, err
	}
	r, v, err := result.Read(file)
	if err != nil {
		return nil, err
	}
	if got, err = c.checked(v, id, trusted); err != nil {
		return nil, err
	}
	got.File, got.Result = file, r
	return got, again()
}

// spool returns a file without a name, on the disk, since a wide study's result is long: in a
// folder, or where that cannot be written to, as one of keys alone may be, in the system's for such
// files.
func spool(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "result-*")
	if err != nil {
		var other error
		if file, other = os.CreateTemp("", "result-*"); other != nil {
			return nil, errors.Join(err, other)
		}
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Known returns where the key that signed a result is known from; empty if it is not. The error for
// a copy of its proposal that was changed is a [*KeptError].
func (c *Client) Known(v *result.Verified) (string, error) {
	switch got, err := c.checked(v, v.Digest, []string{FingerprintOf(v.Coordinator)}); {
	case err != nil:
		return "", err
	case got.Kept:
		return "the proposal that you signed", nil
	case got.Pinned:
		return "it, " + got.Key + ", which your proposals have", nil
	}
	return "", nil
}

// checked holds a result that verifies against what this folder has.
func (c *Client) checked(v *result.Verified, id proposal.Digest, trusted []string) (*Fetched, error) {
	if v.Digest != id {
		return nil, &result.VerifyError{What: "digest", Query: -1, Reason: fmt.Sprintf("it is the result of another study, %v", v.Digest)}
	}
	kept, err := c.Kept(id)
	if err != nil {
		return nil, err
	}
	p, err := c.readPins()
	if err != nil {
		return nil, err
	}
	out := &Fetched{Kept: kept != nil, Pinned: bytes.Equal(p.Coordinator, v.Coordinator), Key: FingerprintOf(v.Coordinator)}
	if out.Kept { // the bytes, by their digest, and so the key in them
		return out, nil
	}
	return out, same("", p.Coordinator, v.Coordinator, trusted)
}

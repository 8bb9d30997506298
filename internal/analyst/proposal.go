package analyst

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/wire"
)

// proposalsDir is the folder of the proposals that were signed: DIGEST.toml, a proposal's exact
// bytes, DIGEST.sig, its signature in hex, and DIGEST.refused where the coordinator said that it
// did not take it. What was signed can always be shown, even if the coordinator shows something
// else.
const proposalsDir = "proposals"

// Propose pins a draft's keys, signs it, keeps it and its signature, and sends both. Where the
// answer is lost it looks whether the proposal is there, and sends the same bytes once more if it
// is not: they are one study however often they come. The error of an answer that is lost again is
// a [*LostError].
func (c *Client) Propose(ctx context.Context, d *Draft) error {
	id := proposal.DigestOf(d.Body)
	signature := proposal.SignProposal(c.holder.Identity(), id)
	if err := d.Plan.Proposal.CheckSignature(id, signature); err != nil {
		return err
	}
	if err := c.pin(d.offer, d.trusted); err != nil {
		return err
	}
	if err := c.keep(id, d.Body, signature); err != nil {
		return err
	}
	// The same bytes may have been refused before, and may be taken now.
	err := os.Remove(c.mark(id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for try := range 2 {
		err = c.call(ctx, callTime, func(ctx context.Context, conn *grpc.ClientConn) error {
			return wire.CallPropose(ctx, conn, wire.Proposal{Body: d.Body, Signature: signature})
		})
		if _, gone := errors.AsType[*LostError](err); !gone || ctx.Err() != nil {
			if try == 0 && declined(err) { // else the first try may have been taken
				os.WriteFile(c.mark(id), nil, 0o600) // without it a later warning says more than it need
			}
			return err
		}
		if _, found := c.Study(ctx, id); found == nil {
			return nil
		}
	}
	return fmt.Errorf("%w. analyst list shows whether the proposal is there; a copy of it is in %s", err, c.path(id))
}

// declined reports whether a coordinator said that it did not take what it was sent.
func declined(err error) bool {
	_, quota := errors.AsType[*QuotaError](err)
	_, refused := errors.AsType[*RefusedError](err)
	return quota || refused
}

// mark is the file that says of a proposal that it was refused.
func (c *Client) mark(id proposal.Digest) string {
	return strings.TrimSuffix(c.path(id), "toml") + "refused"
}

func (c *Client) path(id proposal.Digest) string {
	return filepath.Join(c.dir, proposalsDir, id.String()+".toml")
}

// keep writes what was signed, the signature first: a proposal that is there has one.
func (c *Client) keep(id proposal.Digest, body, signature []byte) error {
	if err := os.MkdirAll(filepath.Join(c.dir, proposalsDir), 0o700); err != nil {
		return err
	}
	path := c.path(id)
	if err := pki.ReplaceFile(path[:len(path)-len("toml")]+"sig", []byte(hex.EncodeToString(signature)+"\n"), 0o600); err != nil {
		return err
	}
	return pki.ReplaceFile(path, body, 0o600)
}

// KeptError is a kept proposal that is not what was signed.
type KeptError struct{ Path string }

func (e *KeptError) Error() string {
	return e.Path + ": is not the proposal that was signed: its bytes have another digest than its name"
}

// Kept returns the bytes of a proposal that was signed in this folder; nil where the folder has no
// copy of it. The error for bytes that were changed is a [*KeptError].
func (c *Client) Kept(id proposal.Digest) ([]byte, error) {
	body, err := os.ReadFile(c.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && proposal.DigestOf(body) != id {
		return nil, &KeptError{c.path(id)}
	}
	return body, err
}

// signed returns the proposals in this folder that a person's word refers to.
func (c *Client) signed(ref string) []proposal.Digest {
	return c.those(func(id proposal.Digest, p proposal.Proposal) bool { return proposal.Refers(ref, id, p.Spec.Name) }, nil)
}

// Untold returns the proposals in this folder that ask what p asks, that no coordinator refused,
// and that one which tells of all these studies does not tell of.
func (c *Client) Untold(p proposal.Proposal, all []wire.Told) []proposal.Digest {
	told := map[proposal.Digest]bool{}
	for _, t := range all {
		told[t.Study] = true
	}
	return c.those(func(id proposal.Digest, before proposal.Proposal) bool {
		_, err := os.Stat(c.mark(id))
		return err != nil && p.Again(before)
	}, told)
}

// those returns the proposals in this folder that are meant, without some. It skips files that it
// cannot read: its callers have something else to say.
func (c *Client) those(meant func(proposal.Digest, proposal.Proposal) bool, without map[proposal.Digest]bool) (out []proposal.Digest) {
	files, _ := os.ReadDir(filepath.Join(c.dir, proposalsDir))
	for _, file := range files {
		id, err := proposal.ParseDigest(strings.TrimSuffix(file.Name(), ".toml"))
		if err != nil || without[id] {
			continue
		}
		body, err := c.Kept(id)
		if err != nil {
			continue
		}
		if p, err := proposal.Parse(body); err == nil && meant(id, p) {
			out = append(out, id)
		}
	}
	return out
}

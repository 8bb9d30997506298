// Package operator carries the requests of a coordinator's operator to it: HTTP with JSON bodies on
// a unix socket in the data folder. Who can open that file (mode 0600) is the operator.
package operator

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"covey/internal/coordinator"
	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/people"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
)

// maxSpec bounds a posted study.toml.
const maxSpec = 16 << 20

// InviteRequest asks for a join file.
type InviteRequest struct {
	Name  string            `json:"name"` // of the site or the analyst
	Valid proposal.Duration `json:"valid"`
	Again bool              `json:"again,omitempty"` // of one that has joined
}

// WithdrawReply is how many unused join files were withdrawn.
type WithdrawReply struct {
	Withdrawn int `json:"withdrawn"`
}

// RevokeReply tells what became of a site or an analyst that was revoked.
type RevokeReply struct {
	Site    string `json:"site,omitempty"`
	Analyst string `json:"analyst,omitempty"`
	// Studies are those that are not over and have the site in their roster, or are the analyst's,
	// as proposed.
	Studies []outline.RevokedStudy `json:"studies"`
}

// CreateReply is a new study.
type CreateReply struct {
	Digest   proposal.Digest `json:"digest"`
	Plan     *study.Plan     `json:"plan"`
	Warnings []string        `json:"warnings,omitempty"`
}

// UnknownOutcomeError says that nobody knows whether the leader carried out a request. Unlike after
// its cause, the request must not simply be repeated.
type UnknownOutcomeError struct{ Err error }

func (e *UnknownOutcomeError) Error() string {
	return e.Err.Error() + "; whether it took the request is not known: look before you repeat it"
}

func (e *UnknownOutcomeError) Unwrap() error { return e.Err }

// AbortReply names the study that was ended.
type AbortReply struct {
	Digest proposal.Digest `json:"digest"`
}

// ErrorReply is any failure. Bad says that the request was at fault.
type ErrorReply struct {
	Error string `json:"error"`
	Bad   bool   `json:"bad_input"`
	// Again reports whether nothing was done, since no coordinator leads just now: the same request
	// may be made again.
	Again bool `json:"again,omitempty"`
}

// Handler returns the handler of the operator's socket; addresses go into join files. A node adds
// what it can do by itself.
func Handler(c *coordinator.Coordinator, addresses func() []string) *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, do func(*http.Request) (any, error)) { mux.HandleFunc(pattern, Answer(do)) }
	for under, role := range map[string]pki.Role{"/v1/sites": pki.RoleSite, "/v1/analysts": pki.RoleAnalyst} {
		handle("POST "+under+"/invite", func(r *http.Request) (any, error) {
			var q InviteRequest
			if err := Decode(r, maxSpec, &q); err != nil {
				return nil, err
			}
			join, err := c.InviteAs(role, q.Name, addresses(), time.Duration(q.Valid), q.Again)
			if err != nil {
				return nil, err
			}
			return join.Marshal()
		})
		handle("POST "+under+"/{name}/revoke", func(r *http.Request) (any, error) {
			name := r.PathValue("name")
			err := c.Revoke(role, name)
			who := membership.InviteOf(role, name)
			return RevokeReply{Site: who.Site, Analyst: who.Analyst, Studies: c.AwaitedOf(role, name)}, err
		})
		handle("POST "+under+"/{name}/withdraw", func(r *http.Request) (any, error) {
			n, err := c.Withdraw(role, r.PathValue("name"))
			return WithdrawReply{Withdrawn: n}, err
		})
	}
	handle("GET /v1/sites", func(*http.Request) (any, error) { return c.Sites(), nil })
	handle("GET /v1/analysts", func(*http.Request) (any, error) { return c.Analysts(), nil })
	handle("GET /v1/studies", func(*http.Request) (any, error) { return c.Views(), nil })
	planned := func(pattern string, do func(proposal.Spec) (*study.Plan, error)) {
		handle(pattern, func(r *http.Request) (any, error) {
			text, err := io.ReadAll(io.LimitReader(r.Body, maxSpec))
			if err != nil {
				return nil, err
			}
			spec, err := proposal.ParseSpec(text)
			if err != nil {
				return nil, err
			}
			plan, err := do(spec)
			if err != nil {
				return nil, err
			}
			return CreateReply{Digest: plan.Digest, Plan: plan, Warnings: plan.Warnings()}, nil
		})
	}
	planned("POST /v1/studies", c.Create)
	planned("POST /v1/plan", c.Preview)
	about := func(pattern string, do func(proposal.Digest) (any, error)) {
		handle(pattern, func(r *http.Request) (any, error) {
			d, err := c.Find(r.PathValue("ref"))
			if err != nil {
				return nil, err
			}
			return do(d)
		})
	}
	about("GET /v1/studies/{ref}", func(d proposal.Digest) (any, error) { return c.View(d), nil })
	about("GET /v1/studies/{ref}/decisions", func(d proposal.Digest) (any, error) { return c.Decisions(d) })
	about("GET /v1/studies/{ref}/proposal", func(d proposal.Digest) (any, error) { return c.Body(d) })
	about("GET /v1/studies/{ref}/result", func(d proposal.Digest) (any, error) { return c.ResultFile(d) })
	handle("POST /v1/studies/{ref}/abort", func(r *http.Request) (any, error) {
		// A decision names its digest whole: what a name means may change after it was read.
		d, err := proposal.ParseDigest(r.PathValue("ref"))
		if err == nil {
			err = c.Abort(d)
		}
		return AbortReply{Digest: d}, err
	})
	mux.HandleFunc("GET /v1/studies/{ref}/watch", func(w http.ResponseWriter, r *http.Request) {
		d, err := c.Find(r.PathValue("ref"))
		if err != nil {
			Reply(w, nil, err)
			return
		}
		out := json.NewEncoder(w)
		flush := http.NewResponseController(w)
		c.Watch(r.Context(), d, func(v outline.View) error {
			if err := out.Encode(v); err != nil {
				return err
			}
			return flush.Flush()
		})
	})
	return mux
}

// Answer is the handler that answers what do returns.
func Answer(do func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := do(r)
		Reply(w, v, err)
	}
}

// Decode reads a request's JSON, of at most so many bytes.
func Decode(r *http.Request, most int64, into any) error {
	if err := json.NewDecoder(io.LimitReader(r.Body, most)).Decode(into); err != nil {
		return &membership.JoinError{Reason: "the request is not JSON"}
	}
	return nil
}

// Reply answers with v, bytes as they are and anything else in JSON, or with err in an ErrorReply.
func Reply(w http.ResponseWriter, v any, err error) {
	if raw, ok := v.([]byte); ok && err == nil {
		w.Write(raw)
		return
	}
	if write, ok := v.(func(io.Writer) error); ok && err == nil {
		if write(w) != nil {
			panic(http.ErrAbortHandler) // it shows as cut off, not as a file
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		_, unknown := errors.AsType[*UnknownOutcomeError](err)
		leaderless := errors.Is(err, coordinator.ErrNotLeader)
		e := ErrorReply{Error: err.Error(), Bad: badInput(err), Again: leaderless && !unknown}
		switch {
		case e.Bad:
			w.WriteHeader(http.StatusBadRequest)
		case leaderless:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusInternalServerError)
		}
		v = e
	}
	json.NewEncoder(w).Encode(v)
}

func badInput(err error) bool {
	_, field := errors.AsType[*proposal.FieldError](err)
	_, join := errors.AsType[*membership.JoinError](err)
	_, unknown := errors.AsType[*proposal.UnknownError](err)
	_, name := errors.AsType[*pki.NameError](err)
	_, ca := errors.AsType[*membership.CAError](err)
	_, person := errors.AsType[*people.Error](err)
	return field || join || unknown || name || ca || person || errors.Is(err, coordinator.ErrOver)
}

package coordinator

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"covey/internal/pki"
	"covey/internal/study"
)

// The operator's interface is HTTP with JSON bodies on a unix socket in the data
// folder: who can open that file (mode 0600) is the operator.

// maxSpec bounds a posted study.toml.
const maxSpec = 16 << 20

// InviteRequest asks for a join file.
type InviteRequest struct {
	Site  string         `json:"site"`
	Valid study.Duration `json:"valid"`
	Again bool           `json:"again,omitempty"` // of a site that has joined
}

// WithdrawReply is how many unused join files were withdrawn.
type WithdrawReply struct {
	Withdrawn int `json:"withdrawn"`
}

// SitesReply lists sites.
type SitesReply struct {
	Sites   []ListedSite `json:"sites"`
	Invited []Invite     `json:"invited"`
}

// ListedSite is a site as listed.
type ListedSite struct {
	Site
	Fingerprint string         `json:"fingerprint"`
	Connected   bool           `json:"connected"`
	Datasets    map[string]int `json:"datasets,omitempty"` // units by name
}

// CreateReply is a new study.
type CreateReply struct {
	Digest   study.Digest `json:"digest"`
	Plan     *study.Plan  `json:"plan"`
	Warnings []string     `json:"warnings,omitempty"`
}

// AbortReply names the study that was ended.
type AbortReply struct {
	Digest study.Digest `json:"digest"`
}

// ErrorReply is any failure. Bad says that the request was at fault.
type ErrorReply struct {
	Error string `json:"error"`
	Bad   bool   `json:"bad_input"`
	// Again reports whether nothing was done, since no coordinator leads just now: the same request
	// may be made again.
	Again bool `json:"again,omitempty"`
}

// Operator returns the handler of the operator's socket; addresses go into join files.
func (c *Coordinator) Operator(addresses func() []string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/sites/invite", func(w http.ResponseWriter, r *http.Request) {
		var q InviteRequest
		if err := json.NewDecoder(io.LimitReader(r.Body, maxSpec)).Decode(&q); err != nil {
			fail(w, &JoinError{"", "the request is not JSON"})
			return
		}
		join, err := c.invite(q.Site, addresses(), time.Duration(q.Valid), q.Again)
		if err != nil {
			fail(w, err)
			return
		}
		text, err := join.Marshal()
		if err != nil {
			fail(w, err)
			return
		}
		w.Write(text)
	})
	mux.HandleFunc("POST /v1/sites/{name}/revoke", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		err := c.Revoke(name)
		Reply(w, RevokeReply{Site: name, Studies: c.AwaitedOf(name)}, err)
	})
	mux.HandleFunc("POST /v1/sites/{name}/withdraw", func(w http.ResponseWriter, r *http.Request) {
		n, err := c.Withdraw(r.PathValue("name"))
		Reply(w, WithdrawReply{Withdrawn: n}, err)
	})
	mux.HandleFunc("GET /v1/sites", func(w http.ResponseWriter, _ *http.Request) { Reply(w, c.listSites(), nil) })
	mux.HandleFunc("POST /v1/studies", c.postStudy(c.Create))
	mux.HandleFunc("POST /v1/plan", c.postStudy(c.Preview))
	mux.HandleFunc("GET /v1/studies", func(w http.ResponseWriter, _ *http.Request) { Reply(w, c.Views(), nil) })
	mux.HandleFunc("GET /v1/studies/{ref}", c.withStudy(func(w http.ResponseWriter, _ *http.Request, d study.Digest) {
		Reply(w, c.View(d), nil)
	}))
	mux.HandleFunc("GET /v1/studies/{ref}/decisions", c.withStudy(func(w http.ResponseWriter, _ *http.Request, d study.Digest) {
		Reply(w, c.Decisions(d), nil)
	}))
	mux.HandleFunc("GET /v1/studies/{ref}/proposal", c.withStudy(func(w http.ResponseWriter, _ *http.Request, d study.Digest) {
		w.Write(c.Body(d))
	}))
	mux.HandleFunc("GET /v1/studies/{ref}/result", c.withStudy(func(w http.ResponseWriter, _ *http.Request, d study.Digest) {
		result, err := c.Result(d)
		Reply(w, result, err)
	}))
	mux.HandleFunc("POST /v1/studies/{ref}/abort", func(w http.ResponseWriter, r *http.Request) {
		// A decision names its digest whole: what a name means may change after it was read.
		d, err := study.ParseDigest(r.PathValue("ref"))
		if err == nil {
			err = c.Abort(d)
		}
		Reply(w, AbortReply{Digest: d}, err)
	})
	mux.HandleFunc("GET /v1/studies/{ref}/watch", c.withStudy(func(w http.ResponseWriter, r *http.Request, d study.Digest) {
		out := json.NewEncoder(w)
		flush := http.NewResponseController(w)
		c.Watch(r.Context(), d, func(v View) error {
			if err := out.Encode(v); err != nil {
				return err
			}
			return flush.Flush()
		})
	}))
	return mux
}

func (c *Coordinator) postStudy(do func(study.Spec) (*study.Plan, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(io.LimitReader(r.Body, maxSpec))
		if err != nil {
			fail(w, err)
			return
		}
		spec, err := study.ParseSpec(text)
		if err != nil {
			fail(w, err)
			return
		}
		plan, err := do(spec)
		if err != nil {
			fail(w, err)
			return
		}
		Reply(w, CreateReply{Digest: plan.Digest, Plan: plan, Warnings: plan.Warnings()}, nil)
	}
}

func (c *Coordinator) withStudy(do func(http.ResponseWriter, *http.Request, study.Digest)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		digest, err := c.Find(r.PathValue("ref"))
		if err != nil {
			fail(w, err)
			return
		}
		do(w, r, digest)
	}
}

func (c *Coordinator) listSites() SitesReply {
	sites, invited := c.machine.Sites()
	out := SitesReply{Sites: []ListedSite{}, Invited: []Invite{}}
	for _, i := range invited {
		if i.Site != "" { // the others are coordinators'
			out.Invited = append(out.Invited, i)
		}
	}
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	for _, s := range sites {
		listed := ListedSite{Site: s, Fingerprint: pki.Fingerprint([]byte(s.Identity))}
		if l := c.links[s.Name]; l != nil {
			listed.Connected, listed.Datasets = true, l.units
		}
		out.Sites = append(out.Sites, listed)
	}
	return out
}

// Reply answers with v in JSON, or with err in an ErrorReply.
func Reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, err error) {
	e := ErrorReply{Error: err.Error(), Bad: badInput(err), Again: err == ErrNotLeader}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case e.Bad:
		w.WriteHeader(http.StatusBadRequest)
	case errors.Is(err, ErrNotLeader):
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusInternalServerError)
	}
	json.NewEncoder(w).Encode(e)
}

func badInput(err error) bool {
	_, field := errors.AsType[*study.FieldError](err)
	_, join := errors.AsType[*JoinError](err)
	_, unknown := errors.AsType[*UnknownStudyError](err)
	_, name := errors.AsType[*pki.NameError](err)
	_, ca := errors.AsType[*CAError](err)
	return field || join || unknown || name || ca
}

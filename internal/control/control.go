// Package control is what a site's operator asks of its agent: HTTP with JSON bodies on a unix
// socket. Who can open its file, mode 0600 in a directory of mode 0700, is the operator.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"covey/internal/agent"
	"covey/internal/chain"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
)

const (
	socketFile = "agent.sock"
	socketNote = "agent.sock.path" // holds the socket's path where it is not in the data directory
	socketTemp = "covey-agent-"    // begins the name of the directory that holds it then
	// sockaddr_un holds 108 bytes on Linux, 104 on macOS, the ending 0 included
	maxSockPath = 103
)

// ErrorReply is any failure. Bad says that the request was at fault.
type ErrorReply struct {
	Error string `json:"error"`
	Bad   bool   `json:"bad_input"`
}

// SocketPath tells where the agent of a data directory listens, or listened. A
// path too long for a socket is replaced by one in the system's temporary
// directory, which the agent writes down in the data directory.
func SocketPath(dir string) (string, error) {
	path, err := filepath.Abs(filepath.Join(dir, socketFile))
	if err != nil {
		return "", err
	}
	if len(path) <= maxSockPath {
		return path, nil
	}
	note, err := os.ReadFile(filepath.Join(dir, socketNote))
	if err != nil {
		return "", fmt.Errorf("%s: %s", filepath.Join(dir, socketNote), siteconfig.Reason(err))
	}
	return strings.TrimSpace(string(note)), nil
}

// listen opens the socket. The ledger's lock is held, so a socket that is there
// already is one that a crash left.
func listen(dir string) (net.Listener, error) {
	path, err := filepath.Abs(filepath.Join(dir, socketFile))
	if err != nil {
		return nil, err
	}
	if len(path) > maxSockPath {
		short, err := os.MkdirTemp("", socketTemp) // 0700
		if err != nil {
			return nil, err
		}
		path = filepath.Join(short, socketFile)
		if len(path) > maxSockPath {
			os.Remove(short)
			return nil, fmt.Errorf("control socket: neither %s nor %s is at most %d bytes long; use a shorter data directory or TMPDIR", dir, path, maxSockPath)
		}
		if err := siteconfig.WriteFile(filepath.Join(dir, socketNote), []byte(path+"\n")); err != nil {
			return nil, err
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	// The directory's mode keeps others out in the moment before this.
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Serve opens an agent's socket. The caller must call what it returns, which serves the socket
// until ctx ends and returns the error that ended it earlier.
func Serve(ctx context.Context, a *agent.Agent) (served func() error, err error) {
	l, err := listen(a.Dir())
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: Handler(a), ReadHeaderTimeout: 10 * time.Second}
	return func() error {
		defer func() {
			if at := filepath.Dir(l.Addr().String()); strings.HasPrefix(filepath.Base(at), socketTemp) {
				os.Remove(at)
			}
		}()
		defer context.AfterFunc(ctx, func() { server.Close() })() // removes the socket's file too
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	}, nil
}

// Handler returns the handler of the operator's socket.
func Handler(a *agent.Agent) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) {
		s, err := a.Views.Status()
		reply(w, s, err)
	})
	mux.HandleFunc("GET /v1/status/hashed", func(w http.ResponseWriter, _ *http.Request) {
		s, err := a.Views.Status()
		s.Datasets = a.Views.Datasets(true)
		reply(w, s, err)
	})
	for word, yes := range map[string]bool{"": false, "/yes": true} {
		mux.HandleFunc("POST /v1/reload"+word, func(w http.ResponseWriter, _ *http.Request) {
			done, err := a.Settings.Reload(yes)
			reply(w, done, err)
		})
	}
	mux.HandleFunc("GET /v1/studies", func(w http.ResponseWriter, _ *http.Request) {
		s, err := a.Views.Studies()
		reply(w, s, err)
	})
	mux.HandleFunc("GET /v1/studies/{ref}", withStudy(a, func(id proposal.Digest) (any, error) { return a.Views.Study(id) }))
	mux.HandleFunc("GET /v1/studies/{ref}/figures", exactly(func(id proposal.Digest) (any, error) { return a.Views.Figures(id) }))
	mux.HandleFunc("GET /v1/studies/{ref}/result", func(w http.ResponseWriter, r *http.Request) { result(a, w, r) })
	mux.HandleFunc("GET /v1/studies/{ref}/held", exactly(func(id proposal.Digest) (any, error) { return a.Views.Holds(id), nil }))
	mux.HandleFunc("POST /v1/studies/{ref}/local/{bytes}/{sha256}", func(w http.ResponseWriter, r *http.Request) {
		of, err := proposal.ParseDigest(r.PathValue("ref"))
		bytes, wrong := strconv.Atoi(r.PathValue("bytes"))
		sha, odd := proposal.ParseDigest(r.PathValue("sha256"))
		if err = errors.Join(err, wrong, odd); err == nil {
			a.Local(of, max(0, bytes), sha.String())
		}
		reply(w, struct{}{}, err)
	})
	mux.HandleFunc("POST /v1/studies/{ref}/approve", exactly(func(id proposal.Digest) (any, error) {
		if err := a.Decisions.Approve(id); err != nil {
			return nil, err
		}
		return a.Views.Study(id)
	}))
	mux.HandleFunc("POST /v1/studies/{ref}/reject", exactly(func(id proposal.Digest) (any, error) {
		if err := a.Decisions.Reject(id); err != nil {
			return nil, err
		}
		return a.Views.View(id), nil
	}))
	mux.HandleFunc("POST /v1/studies/{ref}/withdraw", exactly(func(id proposal.Digest) (any, error) {
		if err := a.Decisions.Withdraw(id); err != nil {
			return nil, err
		}
		return a.Views.View(id), nil
	}))
	mux.HandleFunc("GET /v1/chain", func(w http.ResponseWriter, _ *http.Request) {
		v, err := a.Chain.View()
		reply(w, v, err)
	})
	mux.HandleFunc("POST /v1/chain/accept/{head}", func(w http.ResponseWriter, r *http.Request) {
		head, err := parseHead(r.PathValue("head"))
		var v agent.ChainView
		if err == nil {
			v, err = a.Chain.Accept(head)
		}
		reply(w, v, err)
	})
	mux.HandleFunc("GET /v1/ledger", func(w http.ResponseWriter, _ *http.Request) { reply(w, a.Views.Ledger(), a.Err()) })
	mux.HandleFunc("GET /v1/egress", func(w http.ResponseWriter, _ *http.Request) { reply(w, a.Views.Egress(), nil) })
	return mux
}

func withStudy(a *agent.Agent, do func(proposal.Digest) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := a.Views.Find(r.PathValue("ref"))
		if err != nil {
			reply(w, nil, err)
			return
		}
		v, err := do(id)
		reply(w, v, err)
	}
}

// exactly takes a decision about one digest. Names and beginnings of digests are not looked up
// here: which study they mean, and whether the one that was read is still there, is up to the
// coordinator.
func exactly(do func(proposal.Digest) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := proposal.ParseDigest(r.PathValue("ref"))
		if err != nil {
			reply(w, nil, err)
			return
		}
		v, err := do(id)
		reply(w, v, err)
	}
}

func reply(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		e := ErrorReply{Error: err.Error(), Bad: badInput(err)}
		if e.Bad {
			w.WriteHeader(http.StatusBadRequest)
		} else {
			w.WriteHeader(http.StatusInternalServerError)
		}
		v = e
	}
	json.NewEncoder(w).Encode(v) // a client that hung up needs no reply
}

// result answers with the file's exact bytes, which a signature is over.
func result(a *agent.Agent, w http.ResponseWriter, r *http.Request) {
	id, err := proposal.ParseDigest(r.PathValue("ref"))
	if err != nil {
		reply(w, nil, err)
		return
	}
	file, err := a.Views.Result(r.Context(), id)
	if err != nil {
		reply(w, nil, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(file) // a client that hung up needs no reply
}

// parseHead reads the head that the operator names.
func parseHead(text string) (l chain.Link, err error) {
	if _, after, ok := bytes.Cut([]byte(text), []byte{':'}); ok { // as it is printed, with its number
		text = string(after)
	}
	if err := l.UnmarshalText([]byte(text)); err != nil {
		return l, &agent.ChainError{Reason: err.Error()}
	}
	return l, nil
}

// badInput reports whether an error is the request's fault.
func badInput(err error) bool {
	_, field := errors.AsType[*proposal.FieldError](err)
	_, unknown := errors.AsType[*proposal.UnknownError](err)
	_, budget := errors.AsType[*ledger.BudgetError](err)
	_, state := errors.AsType[*ledger.StateError](err)
	_, data := errors.AsType[*sitedata.DataError](err)
	_, late := errors.AsType[*agent.TooLateError](err)
	_, not := errors.AsType[*agent.NotApprovedError](err)
	_, config := errors.AsType[*siteconfig.Error](err)
	_, restart := errors.AsType[*agent.RestartError](err)
	_, anew := errors.AsType[*agent.AnewError](err)
	_, none := errors.AsType[*agent.NoResultError](err)
	_, head := errors.AsType[*agent.ChainError](err)
	data = data || none || late || not || config || restart || anew || head
	return field || unknown || budget || state || data
}

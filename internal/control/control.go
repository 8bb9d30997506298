// Package control carries the requests of a site's operator to its agent: HTTP with JSON bodies on
// a unix socket. Who can open its file, mode 0600 in a directory of mode 0700, is the operator.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"covey/internal/agent"
	"covey/internal/chain"
	"covey/internal/chainwatch"
	"covey/internal/ledger"
	"covey/internal/pki"
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
// directory, which the agent writes down in the data directory. The note outlives the agent, and
// the temporary directory may not: another user who made it again could answer in the agent's
// place. So the path is returned only if its directory is open to the note's owner alone.
func SocketPath(dir string) (string, error) {
	path, err := filepath.Abs(filepath.Join(dir, socketFile))
	if err != nil {
		return "", err
	}
	if len(path) <= maxSockPath {
		return path, nil
	}
	note := filepath.Join(dir, socketNote)
	text, err := os.ReadFile(note)
	if err != nil {
		return "", fmt.Errorf("%s: %s", note, siteconfig.Reason(err))
	}
	path = strings.TrimSpace(string(text))
	mine, err := os.Stat(note)
	if err != nil {
		return "", fmt.Errorf("%s: %s", note, siteconfig.Reason(err))
	}
	at, err := os.Lstat(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("%s: %s", filepath.Dir(path), siteconfig.Reason(err))
	}
	if !at.IsDir() || !sameOwner(at, mine) || runtime.GOOS != "windows" && at.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: is not a folder of the agent's alone, so whatever listens there may not be the agent", filepath.Dir(path))
	}
	return path, nil
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
		if err := pki.ReplaceFile(filepath.Join(dir, socketNote), []byte(path+"\n"), 0o600); err != nil {
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
	handle := func(pattern string, do func(*http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			v, err := do(r)
			reply(w, v, err)
		})
	}
	// exactly takes a request about one digest. Names and beginnings of digests are not looked up
	// here: which study they mean, and whether the one that was read is still there, is up to the
	// coordinator.
	exactly := func(pattern string, do func(*http.Request, proposal.Digest) (any, error)) {
		handle(pattern, func(r *http.Request) (any, error) {
			id, err := proposal.ParseDigest(r.PathValue("ref"))
			if err != nil {
				return nil, err
			}
			return do(r, id)
		})
	}
	handle("GET /v1/status", func(*http.Request) (any, error) { return a.Views.Status() })
	handle("GET /v1/status/hashed", func(*http.Request) (any, error) {
		s, err := a.Views.Status()
		s.Datasets = a.Views.Datasets(true)
		return s, err
	})
	for word, yes := range map[string]bool{"": false, "/yes": true} {
		handle("POST /v1/reload"+word, func(*http.Request) (any, error) { return a.Settings.Reload(yes) })
	}
	handle("GET /v1/studies", func(*http.Request) (any, error) { return a.Views.Studies() })
	handle("GET /v1/studies/{ref}", func(r *http.Request) (any, error) {
		id, err := a.Views.Find(r.PathValue("ref"))
		if err != nil {
			return nil, err
		}
		return a.Views.Study(id)
	})
	exactly("GET /v1/studies/{ref}/figures", func(_ *http.Request, id proposal.Digest) (any, error) { return a.Views.Figures(id) })
	exactly("GET /v1/studies/{ref}/result", func(r *http.Request, id proposal.Digest) (any, error) { return a.Views.Result(r.Context(), id) })
	exactly("GET /v1/studies/{ref}/held", func(_ *http.Request, id proposal.Digest) (any, error) { return a.Views.Holds(id), nil })
	handle("POST /v1/studies/{ref}/local/{bytes}/{sha256}", func(r *http.Request) (any, error) {
		of, err := proposal.ParseDigest(r.PathValue("ref"))
		bytes, wrong := strconv.Atoi(r.PathValue("bytes"))
		sha, odd := proposal.ParseDigest(r.PathValue("sha256"))
		if err = errors.Join(err, wrong, odd); err == nil {
			err = a.Local(of, max(0, bytes), sha.String())
		}
		return struct{}{}, err
	})
	exactly("POST /v1/studies/{ref}/approve", func(_ *http.Request, id proposal.Digest) (any, error) {
		if err := a.Decisions.Approve(id); err != nil {
			return nil, err
		}
		return a.Views.Study(id)
	})
	for word, no := range map[string]func(proposal.Digest) error{"reject": a.Decisions.Reject, "withdraw": a.Decisions.Withdraw} {
		exactly("POST /v1/studies/{ref}/"+word, func(_ *http.Request, id proposal.Digest) (any, error) {
			if err := no(id); err != nil {
				return nil, err
			}
			return a.Views.View(id), nil
		})
	}
	handle("GET /v1/chain", func(*http.Request) (any, error) { return a.Chain.View() })
	handle("POST /v1/chain/accept/{head}", func(r *http.Request) (any, error) {
		head, err := parseHead(r.PathValue("head"))
		if err != nil {
			return nil, err
		}
		return a.Chain.Accept(head)
	})
	handle("GET /v1/ledger", func(*http.Request) (any, error) { return a.Views.Ledger(), a.Err() })
	handle("GET /v1/egress", func(*http.Request) (any, error) { return a.Views.Egress(), nil })
	return mux
}

// reply answers with v, a file as it is, since a signature is over a result's bytes, and anything
// else in JSON, or with err in an ErrorReply. A client that hung up needs no reply.
func reply(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if file, ok := v.(*os.File); ok && err == nil {
		defer file.Close()
		if _, err := io.Copy(w, file); err != nil {
			panic(http.ErrAbortHandler) // else what came so far ends as a whole file does
		}
		return
	}
	if err != nil {
		e := ErrorReply{Error: err.Error(), Bad: badInput(err)}
		if e.Bad {
			w.WriteHeader(http.StatusBadRequest)
		} else {
			w.WriteHeader(http.StatusInternalServerError)
		}
		v = e
	}
	json.NewEncoder(w).Encode(v)
}

// parseHead reads the head that the operator names.
func parseHead(text string) (l chain.Link, err error) {
	if _, after, ok := bytes.Cut([]byte(text), []byte{':'}); ok { // as it is printed, with its number
		text = string(after)
	}
	if err := l.UnmarshalText([]byte(text)); err != nil {
		return l, &chainwatch.Error{Reason: err.Error()}
	}
	return l, nil
}

// badInput reports whether an error is the request's fault.
func badInput(err error) bool {
	return is[*proposal.FieldError](err) || is[*proposal.UnknownError](err) || is[*siteconfig.Error](err) || is[*sitedata.DataError](err) ||
		is[*ledger.BudgetError](err) || is[*ledger.StateError](err) || is[*chainwatch.Error](err) ||
		is[*agent.TooLateError](err) || is[*agent.NotApprovedError](err) || is[*agent.NoResultError](err) ||
		is[*agent.RestartError](err) || is[*agent.AnewError](err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

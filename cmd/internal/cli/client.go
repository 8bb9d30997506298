package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// Client calls the API that a running program serves on a unix socket.
type Client struct {
	server string // "agent" or "coordinator"
	path   string
	http   http.Client
}

// NewClient returns the client of the server that listens on path, or does not.
func NewClient(server, path string) *Client {
	return &Client{server: server, path: path, http: http.Client{Transport: &http.Transport{
		// nor is one kept that was made only after its caller had gone
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}}
}

// DialError is a program that does not answer on its socket.
type DialError struct {
	Server string
	Path   string
	Err    error
}

func (e *DialError) Error() string {
	why := e.Err
	if errno, ok := errors.AsType[syscall.Errno](e.Err); ok {
		why = errno // the socket is named before it
	}
	if errors.Is(e.Err, os.ErrPermission) {
		return fmt.Sprintf("%s: %v: run this as the user that runs the %s", e.Path, why, e.Server)
	}
	return fmt.Sprintf("no %s answers on %s: %v", e.Server, e.Path, why)
}
func (e *DialError) Unwrap() error { return e.Err }

// AgainError is a request that did nothing and may be made again.
type AgainError struct{ Err error }

func (e *AgainError) Error() string { return e.Err.Error() }
func (e *AgainError) Unwrap() error { return e.Err }

// maxErrorReply bounds what is read of an error, in bytes.
const maxErrorReply = 1 << 20

// Call makes one request and returns the body of its reply, which the caller closes. Errors:
// *[DialError]; *[InputError] and *[AgainError] where the reply says so.
func (c *Client) Call(ctx context.Context, method, path string, body []byte) (io.ReadCloser, error) {
	if strings.Contains(path+"/", "//") { // the server would not know such a path
		return nil, Bad("the name or digest is empty")
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	reply, err := c.http.Do(r)
	if err != nil {
		if at, ok := errors.AsType[*url.Error](err); ok {
			err = at.Err
		}
		return nil, &DialError{c.server, c.path, err}
	}
	if reply.StatusCode == http.StatusOK {
		return reply.Body, nil
	}
	defer reply.Body.Close()
	var e struct {
		Error string `json:"error"`
		Bad   bool   `json:"bad_input"`
		Again bool   `json:"again"`
	}
	if err := json.NewDecoder(io.LimitReader(reply.Body, maxErrorReply)).Decode(&e); err != nil || e.Error == "" {
		return nil, fmt.Errorf("the %s answers %s", c.server, reply.Status)
	}
	err = errors.New(e.Error)
	switch {
	case e.Bad:
		return nil, &InputError{err}
	case e.Again:
		return nil, &AgainError{err}
	}
	return nil, err
}

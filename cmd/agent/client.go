package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"

	"covey/internal/agent"
	"covey/internal/siteconfig"
)

// client talks to the running agent over its socket.
type client struct {
	http *http.Client
	path string
}

// notRunningError is an agent that does not answer on its socket.
type notRunningError struct {
	path string
	err  error
}

func (e *notRunningError) Error() string {
	why := e.err
	if errno, ok := errors.AsType[syscall.Errno](e.err); ok {
		why = errno // the socket is named before it
	}
	return fmt.Sprintf("no agent answers on %s (is \"agent run\" running?): %v", e.path, why)
}
func (e *notRunningError) Unwrap() error { return e.err }

// dial finds the socket of the configuration in dir.
func dial(t *terminal) (*client, error) {
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return nil, err
	}
	path, err := agent.SocketPath(config.DataDir())
	if err != nil {
		return nil, &notRunningError{config.DataDir(), err}
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
	return &client{&http.Client{Transport: transport}, path}, nil
}

// call asks the agent and reads its reply into v.
func (c *client) call(ctx context.Context, method string, v any, path ...string) error {
	u := "http://agent/v1"
	for _, p := range path {
		u += "/" + url.PathEscape(p)
	}
	request, err := http.NewRequestWithContext(ctx, method, u, nil)
	if err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		if at, ok := errors.AsType[*url.Error](err); ok {
			err = at.Err
		}
		return &notRunningError{c.path, err}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var e agent.ErrorReply
		if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&e); err != nil || e.Error == "" {
			return fmt.Errorf("the agent answers %s", response.Status)
		}
		if e.Bad {
			return &inputError{errors.New(e.Error)}
		}
		return errors.New(e.Error)
	}
	return json.NewDecoder(response.Body).Decode(v)
}

// ask is one call to the agent of the terminal's directory.
func ask[T any](t *terminal, method string, path ...string) (T, error) {
	var v T
	c, err := dial(t)
	if err == nil {
		err = c.call(t.ctx, method, &v, path...)
	}
	return v, err
}

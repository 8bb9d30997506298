package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"

	shared "covey/cmd/internal/cli"
	"covey/internal/control"
	"covey/internal/siteconfig"
)

// ask is one call to the agent of the terminal's folder.
func ask[T any](t *terminal, method string, path ...string) (T, error) {
	var v T
	body, err := call(t, method, path...)
	if err != nil {
		return v, err
	}
	defer body.Close()
	return v, json.NewDecoder(body).Decode(&v)
}

// call is ask for a reply as it comes, which the caller closes.
func call(t *terminal, method string, path ...string) (io.ReadCloser, error) {
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return nil, err
	}
	socket, err := control.SocketPath(config.DataDir())
	if err != nil {
		return nil, notRunning(&shared.DialError{Server: "agent", Path: config.DataDir(), Err: err})
	}
	u := "/v1"
	for _, p := range path {
		u += "/" + url.PathEscape(p)
	}
	body, err := shared.NewClient("agent", socket).Call(t.Ctx, method, u, nil)
	if err != nil {
		return nil, notRunning(err)
	}
	return body, nil
}

// notRunning adds to a DialError what may be missing.
func notRunning(err error) error {
	if e, ok := errors.AsType[*shared.DialError](err); ok {
		return fmt.Errorf("%w", &shared.DialError{Server: e.Server, Path: e.Path + ` (is "agent run" running?)`, Err: e.Err})
	}
	return err
}

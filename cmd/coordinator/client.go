package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"covey/internal/coordinator"
	"covey/internal/node"
)

// client speaks to the operator's socket of a running coordinator.
type client struct {
	http http.Client
	ctx  context.Context
	dir  string
}

func (d dataFlag) client(ctx context.Context) (*client, error) {
	path := filepath.Join(d.Data, node.SocketFile)
	if _, err := os.Stat(filepath.Join(d.Data, node.ConfigFile)); errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, bad("%s is no coordinator's data folder; give it with --data or COVEY_DATA", d.Data)
	}
	return &client{ctx: ctx, dir: d.Data, http: http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}}, nil
}

// handoverPatience bounds the wait for a coordinator that leads: an election takes about a second.
const handoverPatience = 8 * time.Second

// againError is a request that did nothing, since no coordinator leads just now.
type againError struct{ error }

// call gives the body of a reply, or the reply's error. A moment without a leader is waited out.
func (c *client) call(method, path string, body []byte) (io.ReadCloser, error) {
	for begun := time.Now(); ; {
		answer, err := c.once(method, path, body)
		if _, again := errors.AsType[*againError](err); !again || time.Since(begun) > handoverPatience {
			return answer, err
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-c.ctx.Done():
			return nil, c.ctx.Err()
		}
	}
}

func (c *client) once(method, path string, body []byte) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(c.ctx, method, "http://coordinator"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(r)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("no coordinator serves this data folder; start it with `coordinator serve --data %s`", c.dir)
	}
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("%s: permission denied: run this as the user that serves the folder", filepath.Join(c.dir, node.SocketFile))
	}
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	var e coordinator.ErrorReply
	if err := json.NewDecoder(answer.Body).Decode(&e); err != nil {
		return nil, fmt.Errorf("the coordinator answered %s", answer.Status)
	}
	switch {
	case e.Bad:
		return nil, bad("%s", e.Error)
	case e.Again:
		return nil, &againError{errors.New(e.Error)}
	}
	return nil, errors.New(e.Error)
}

// get decodes a reply's JSON.
func (c *client) do(method, path string, body []byte, into any) error {
	answer, err := c.call(method, path, body)
	if err != nil {
		return err
	}
	defer answer.Close()
	if into == nil {
		return nil
	}
	return json.NewDecoder(answer).Decode(into)
}

// written names where a join file went.
func written(out string) string {
	if out == "-" {
		return "the join file to stdout"
	}
	return out
}

// saveJoin asks for a join file, writes it with mode 0600 over nothing, and gives its text; "-" is stdout.
func (c *client) saveJoin(path string, request any, out string) (text []byte, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	f := os.Stdout
	if out != "-" {
		// Made before asking: a token that cannot be written is not given out.
		f, err = os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			return nil, bad("%s: file exists and is not overwritten: delete it if it is spent, or name another with --out", out)
		}
		if err != nil {
			return nil, bad("%w", err)
		}
		defer func() {
			if closed := f.Close(); err == nil {
				err = closed
			}
			if err != nil {
				os.Remove(out)
			}
		}()
	}
	answer, err := c.call("POST", path, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	if text, err = io.ReadAll(answer); err == nil {
		_, err = f.Write(text)
	}
	return text, err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/node"
)

// client calls a running coordinator.
type client struct {
	socket *shared.Client
	ctx    context.Context
	dir    string
}

func (s *terminal) client() (*client, error) {
	if _, err := os.Stat(filepath.Join(s.dir, node.ConfigFile)); errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, shared.Bad("%s: not a coordinator data folder; give it with --data or COVEY_DATA", s.dir)
	}
	return &client{shared.NewClient("coordinator", filepath.Join(s.dir, node.SocketFile)), s.Ctx, s.dir}, nil
}

// handoverPatience bounds the wait for a coordinator that leads: an election takes about a second.
const handoverPatience = 8 * time.Second

// call returns the body of a reply, or the reply's error. A moment without a leader is waited out.
func (c *client) call(method, path string, body []byte) (io.ReadCloser, error) {
	for begun := time.Now(); ; {
		answer, err := c.once(method, path, body)
		if !shared.Is[*shared.AgainError](err) || time.Since(begun) > handoverPatience {
			return answer, err
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-c.ctx.Done():
			return nil, c.ctx.Err()
		}
	}
}

// once is call that waits for nobody.
func (c *client) once(method, path string, body []byte) (io.ReadCloser, error) {
	answer, err := c.socket.Call(c.ctx, method, path, body)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("no coordinator serves this data folder; start it with `coordinator serve --data %s`", shared.Shell(c.dir))
	}
	return answer, err
}

// do decodes a reply's JSON. A request is sent as JSON, or as it is if it is bytes; nil sends none.
func (c *client) do(method, path string, request, into any) (err error) {
	body, raw := request.([]byte)
	if request != nil && !raw {
		if body, err = json.Marshal(request); err != nil {
			return err
		}
	}
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

// ask is one do of the coordinator of the terminal's folder.
func ask[T any](s *terminal, method, path string, request any) (reply T, err error) {
	client, err := s.client()
	if err == nil {
		err = client.do(method, path, request, &reply)
	}
	return reply, err
}

// list asks for something and prints it: its JSON, or a table's rows.
func list[T any](s *terminal, method, path string, rows func(w io.Writer, reply T)) error {
	reply, err := ask[T](s, method, path, nil)
	if err != nil {
		return err
	}
	return s.Print(reply, func(out io.Writer) {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		rows(w, reply)
		w.Flush()
	})
}

// copy prints the bytes of a reply as they come.
func (s *terminal) copy(path string) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	answer, err := client.call("GET", path, nil)
	if err != nil {
		return err
	}
	defer answer.Close()
	_, err = io.Copy(s.Out, answer)
	return err
}

// written names where a join file went.
func written(out string) string {
	if out == "-" {
		return "the join file to stdout"
	}
	return out
}

// oneStdout refuses to print a join file and JSON to one stdout.
func oneStdout(s *terminal, out string) error {
	if s.JSON && out == "-" {
		return shared.Bad("--out - and --json both take stdout: name a file with --out")
	}
	return nil
}

// printDone prints what was done, with --json; without it the prose is enough.
func printDone(s *terminal, v any) error { return s.Print(v, func(io.Writer) {}) }

// saveJoin asks for a join file, writes it to a new file with mode 0600, and returns its text; "-"
// is stdout.
func (c *client) saveJoin(path string, request any, out string) (text []byte, err error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	err = saveSecret(out, func() ([]byte, error) {
		answer, err := c.call("POST", path, body)
		if err != nil {
			return nil, err
		}
		defer answer.Close()
		text, err = io.ReadAll(answer)
		return text, err
	})
	return text, err
}

// roomForSecret is more than a secret takes: join files are under 64 KiB.
const roomForSecret = 64 << 10

// saveSecret writes what get returns to a new file with mode 0600; "-" is stdout. The file is made,
// and its blocks taken, before get asks: a secret that cannot be written is not given out, and
// voids no earlier one.
func saveSecret(out string, get func() ([]byte, error)) (err error) {
	f, wrote := os.Stdout, 0
	if out != "-" {
		f, err = os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			return shared.Bad("%s: file exists and is not overwritten: delete it if it is used up, or name another with --out", out)
		}
		if err != nil {
			return shared.Bad("%w", err)
		}
		defer func() {
			if closed := f.Close(); err == nil {
				err = closed
			}
			if err != nil {
				os.Remove(out)
			}
		}()
		if _, err := f.Write(make([]byte, roomForSecret)); err != nil {
			return fmt.Errorf("%s: nothing was made, and earlier files still work: %w", out, err)
		}
		defer func() {
			if err == nil {
				err = f.Truncate(int64(wrote))
			}
		}()
		f.Seek(0, io.SeekStart)
	}
	text, err := get()
	if err == nil {
		wrote, err = f.Write(text)
	}
	return err
}

package mariadb

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
)

const (
	maxGreeting      = 64 << 10
	localFiles  byte = 1 << 7 // of a greeting's first byte of capabilities
)

// dial connects. The driver tells a server that it could load files if the server says so first; of
// the server's greeting that word is left out here.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &greeted{Conn: c}, nil
}

// greeted is a connection whose first message is a greeting.
type greeted struct {
	net.Conn
	heard bool
	rest  []byte // of the greeting, not read yet
}

func (g *greeted) Read(p []byte) (int, error) {
	if !g.heard {
		g.heard = true
		if err := g.greeting(); err != nil {
			return 0, err
		}
	}
	if len(g.rest) > 0 {
		n := copy(p, g.rest)
		g.rest = g.rest[n:]
		return n, nil
	}
	return g.Conn.Read(p)
}

// greeting reads the greeting: behind the length in 24 bits and a number, a version, the server's
// name up to a zero, 4 bytes, 8, a zero, and the capabilities. Of an error's message nothing is
// changed.
func (g *greeted) greeting() error {
	head := make([]byte, 4)
	if _, err := io.ReadFull(g.Conn, head); err != nil {
		return err
	}
	n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if n > maxGreeting {
		return errors.New("a greeting that is too long")
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(g.Conn, body); err != nil {
		return err
	}
	if n > 1 && body[0] != 0xff {
		if zero := bytes.IndexByte(body[1:], 0); zero >= 0 && 1+zero+1+4+8+1 < n {
			body[1+zero+1+4+8+1] &^= localFiles
		}
	}
	g.rest = append(head, body...)
	return nil
}

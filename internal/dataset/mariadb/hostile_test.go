package mariadb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"covey/internal/dataset"
)

const canary = "canary-7f3a"

// fake is a server that does not keep to the protocol. It serves one connection and records all
// that it hears.
type fake struct {
	listener net.Listener
	// of a command, payloads behind their lengths; nil: as a server would
	replies func(seen []byte) (reply []byte)
	greeted []byte // in place of the answer to the login

	mu    sync.Mutex
	heard bytes.Buffer
	ended chan struct{} // the client hung up
}

func packet(seq byte, payload ...byte) []byte {
	n := len(payload)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), seq}, payload...)
}

func packets(payloads ...[]byte) (out []byte) {
	for i, p := range payloads {
		out = append(out, packet(byte(1+i), p...)...)
	}
	return out
}

func text(v string) []byte { return append([]byte{byte(len(v))}, v...) }

// definition is of a column named a, of a type.
func definition(kind byte) []byte {
	out := append([]byte{}, bytes.Join([][]byte{text("def"), text(""), text(""), text(""), text("a"), text("")}, nil)...)
	return append(out, 0x0c, 45, 0, 20, 0, 0, 0, kind, 0, 0, 0, 0, 0)
}

var (
	okay = []byte{0, 0, 0, 2, 0, 0, 0}
	eof  = []byte{0xfe, 0, 0, 2, 0}
	// said is an error whose text holds what no log may.
	said = append([]byte{0xff, 0x28, 0x04, '#', '4', '2', '0', '0', '0'}, "near '"+canary+"'"...)
)

const (
	comQuery, comPrepare, comExecute = 3, 0x16, 0x17
	capabilities                     = 1<<0 | 1<<2 | 1<<3 | 1<<7 | 1<<9 | 1<<13 | 1<<15 | 1<<19
)

// honest answers a command.
func honest(seen []byte) []byte {
	switch {
	case seen[0] == comPrepare:
		return packets([]byte{0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, definition(5), eof)
	case seen[0] == comExecute:
		return packets([]byte{1}, definition(5), eof, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, eof)
	case bytes.Contains(seen, []byte("version")):
		return packets([]byte{1}, definition(253), eof, text("10.11-MariaDB"), eof)
	case bytes.Contains(seen, []byte("count")):
		return packets([]byte{1}, definition(253), eof, text("0"), eof)
	}
	return packets(okay)
}

func (f *fake) serve() {
	defer close(f.ended)
	c, err := f.listener.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	caps := uint32(capabilities)
	hello := append([]byte{10}, "5.5.5-10.11-MariaDB\x00"...)
	hello = append(hello, 1, 0, 0, 0, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 0)
	hello = binary.LittleEndian.AppendUint16(hello, uint16(caps))
	hello = append(hello, 45, 2, 0)
	hello = binary.LittleEndian.AppendUint16(hello, uint16(caps>>16))
	hello = append(hello, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	hello = append(hello, "ijklmnopqrst\x00mysql_native_password\x00"...)
	c.Write(packet(0, hello...))
	login := packets(okay)
	if f.greeted != nil {
		login = packets(f.greeted)
	}
	login[3] = 2
	f.next(c)
	c.Write(login)
	for {
		seen := f.next(c)
		if seen == nil {
			return
		}
		reply := f.replies(seen)
		if reply == nil {
			reply = honest(seen)
		}
		c.Write(reply)
	}
}

// next is the client's next packet; nil at the end. An empty one is one byte of 0.
func (f *fake) next(c net.Conn) []byte {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		return nil
	}
	body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	if _, err := io.ReadFull(c, body); err != nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard.Write(body)
	if len(body) == 0 {
		return []byte{0}
	}
	return body
}

// start listens on a socket and returns a data set behind it.
func (f *fake) start(t testing.TB) dataset.Source {
	t.Helper()
	dir, err := os.MkdirTemp("", "covey-my-") // a short name: sockets want one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if f.listener, err = net.Listen("unix", filepath.Join(dir, "s")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.listener.Close() })
	f.ended = make(chan struct{})
	go f.serve()
	return source(t, "u:hunter2@unix("+filepath.Join(dir, "s")+")/clinic")
}

func source(t testing.TB, dsn string) dataset.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db.dsn")
	if err := os.WriteFile(path, []byte(dsn), 0o600); err != nil {
		t.Fatal(err)
	}
	return dataset.Source{Query: &dataset.Query{Server: dataset.MariaDB, SQL: "select a from t order by id", DSNFile: path, Timeout: time.Minute}}
}

var columnA = dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Missing: dataset.MissingError}

func silent([]byte) []byte { return nil }

// The stand-in is one whose answer is taken.
func TestHonestServer(t *testing.T) {
	f := &fake{replies: silent}
	rows, err := dataset.Read(f.start(t), columnA, dataset.ReadOptions{})
	if err != nil || len(rows.Values) != 1 || rows.Values[0] != 1 {
		t.Fatal(rows, err)
	}
	<-f.ended
	// The fake says that it loads files; the first byte of the answer's capabilities does not.
	if caps := f.heard.Bytes()[0]; caps&localFiles != 0 || caps&byte(1<<3) == 0 {
		t.Errorf("capabilities %08b", caps)
	}
	for _, want := range []string{"start transaction with consistent snapshot, read only", "isolation level repeatable read", "set names utf8mb4", "time_zone = '+00:00'", "sql_mode = ", "max_statement_time = 60", "engine"} {
		if !bytes.Contains(f.heard.Bytes(), []byte(want)) {
			t.Errorf("the session does not say %q", want)
		}
	}
}

// A server that asks for a file of this machine, at any point, gets nothing of it: the answer is an
// error without the server's text, and the connection ends.
func TestServerAsksForAFile(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "agent.toml")
	if err := os.WriteFile(secret, []byte(canary), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{secret, "Reader::data", "\"" + secret + "\"", ""} {
		for _, at := range []string{"version", "time_zone", "engine", "transaction", "prepare", "execute", "warnings"} {
			f := &fake{replies: func(seen []byte) []byte {
				switch {
				case at == "prepare" && seen[0] == comPrepare, at == "execute" && seen[0] == comExecute, bytes.Contains(seen, []byte(at)):
					return packets(append([]byte{0xfb}, path...))
				case seen[0] == 0: // the empty file
					return packet(3, okay...)
				}
				return nil
			}}
			s := f.start(t)
			rows, err := dataset.Read(s, columnA, dataset.ReadOptions{})
			e, ok := errors.AsType[*dataset.Error](err)
			if rows != nil || !ok || !strings.Contains(e.Reason, "sql_protocol") || strings.Contains(e.Reason, "agent.toml") || strings.Contains(e.Reason, canary) {
				t.Fatalf("%q at %s: %v, %v", path, at, rows, err)
			}
			<-f.ended // the client hung up
			if bytes.Contains(f.heard.Bytes(), []byte(canary)) {
				t.Fatalf("%q at %s: the server has the file", path, at)
			}
		}
	}
}

// What a server says is in no error, and a password leaves only in the ways that the connection
// string means.
func TestServerSays(t *testing.T) {
	for name, c := range map[string]struct {
		f    *fake
		want string
	}{
		"an error":         {&fake{replies: func(b []byte) []byte { return map[bool][]byte{true: packets(said)}[b[0] == comExecute] }}, "error 1064 (a syntax error, or several statements)"},
		"an unknown error": {&fake{replies: func([]byte) []byte { return packets(append([]byte{0xff, 0xff, 0xff, '#'}, canary...)) }}, "error 65535"},
		"cleartext":        {&fake{replies: silent, greeted: append([]byte{0xfe}, "mysql_clear_password\x00"...)}, "the server asks for the password in a form that the agent refuses"},
		"old password":     {&fake{replies: silent, greeted: append([]byte{0xfe}, "mysql_old_password\x00abcdefgh"...)}, "the server asks for the password in a form that the agent refuses"},
		"a plugin":         {&fake{replies: silent, greeted: append([]byte{0xfe}, canary+"\x00abc"...)}, "the server asks for the password in a form that the agent refuses"},
		"engines": {&fake{replies: func(b []byte) []byte {
			return map[bool][]byte{true: packets([]byte{1}, definition(253), eof, text("3"), eof)}[bytes.Contains(b, []byte("engine"))]
		}}, "is not of the engine InnoDB"},
		"warnings": {&fake{replies: func(b []byte) []byte {
			return map[bool][]byte{true: packets([]byte{1}, definition(253), eof, text("1"), eof)}[bytes.Contains(b, []byte("warnings"))]
		}}, "sql_protocol"},
		"nothing": {&fake{replies: func([]byte) []byte { return []byte{} }}, "no answer in time"},
		"cut off": {&fake{replies: func(b []byte) []byte {
			return map[bool][]byte{true: packets([]byte{1}, definition(5), eof, []byte{0, 0, 0, 0, 0, 0, 0, 0})}[b[0] == comExecute]
		}}, "sql_protocol"},
		"no type of column": {&fake{replies: func(b []byte) []byte {
			return map[bool][]byte{true: packets([]byte{1}, definition(0x77), eof, []byte{0, 0, 1}, eof)}[b[0] == comExecute]
		}}, "its type is not a number"},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.f
			s := f.start(t)
			if name == "nothing" {
				raw, _ := os.ReadFile(s.Query.DSNFile)
				s = source(t, string(raw)+"?timeout=1s") // for the login, which a busy machine is slow at
				s.Query.Timeout = time.Second / 10
			}
			rows, err := dataset.Read(s, columnA, dataset.ReadOptions{})
			e, ok := errors.AsType[*dataset.Error](err)
			if rows != nil || !ok || !strings.Contains(e.Reason, c.want) || strings.Contains(err.Error(), canary) {
				t.Errorf("%v", err)
			}
			f.listener.Close() // a client whose time was up may never have called
			<-f.ended
			if bytes.Contains(f.heard.Bytes(), []byte("hunter2")) {
				t.Error("the password left as it is")
			}
		})
	}
}

// Over TCP nothing but TLS will do.
func TestTCPNeedsTLS(t *testing.T) {
	f := &fake{replies: silent, ended: make(chan struct{})}
	var err error
	if f.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer f.listener.Close()
	go f.serve()
	_, err = dataset.Read(source(t, "u:hunter2@tcp("+f.listener.Addr().String()+")/clinic"), columnA, dataset.ReadOptions{})
	if err == nil || !strings.HasSuffix(err.Error(), "cannot connect: the server has no TLS, which TCP needs") {
		t.Error(err)
	}
	<-f.ended
	if f.heard.Len() > 0 {
		t.Errorf("%q left in the clear", f.heard.Bytes())
	}
}

// Whatever a server sends, the reader returns a typed error or rows, and does not panic.
func FuzzServer(f *testing.F) {
	f.Add(packets([]byte{1}, definition(5), eof, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, eof))
	f.Add(packets(append([]byte{0xfb}, "/etc/passwd"...)))
	f.Add(packets(said))
	f.Add([]byte{1, 0, 0, 1})
	f.Fuzz(func(t *testing.T, reply []byte) {
		server := &fake{replies: func(seen []byte) []byte {
			if seen[0] == comExecute {
				return reply
			}
			return nil
		}}
		s := server.start(t)
		raw, _ := os.ReadFile(s.Query.DSNFile)
		s = source(t, string(raw)+"?timeout=10ms")
		s.Query.Timeout = 20 * time.Millisecond
		rows, err := dataset.Read(s, columnA, dataset.ReadOptions{})
		if _, ok := errors.AsType[*dataset.Error](err); (rows == nil) == (err == nil) || err != nil && !ok {
			t.Fatal(rows, err)
		}
	})
}

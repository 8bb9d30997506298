package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/node"
	"covey/internal/replica"
	"covey/test/command"
)

// badFolders are faults of a coordinator's data folder that keep it from serving. In file, old
// becomes new; an empty old is the whole file.
var badFolders = []struct{ name, file, old, new, args, says string }{
	{"unknown key", "coordinator.toml", "listen", "lissten", "", "unknown key"},
	{"not TOML", "coordinator.toml", "", "listen", "", "coordinator.toml"},
	{"empty", "coordinator.toml", "", "", "", "address"},
	{"listen a number", "coordinator.toml", "'127.0.0.1:0'", "7443", "", "coordinator.toml"},
	{"listen without a port", "coordinator.toml", "'127.0.0.1:0'", "'127.0.0.1'", "", `listen "127.0.0.1": must be host:port`},
	{"no address", "coordinator.toml", "['localhost:7443']", "[]", "", "address"},
	{"address without a port", "coordinator.toml", "['localhost:7443']", "['localhost']", "", `address "localhost": must be host:port`},
	{"name", "coordinator.toml", "name = '1'", "name = 'One'", "", `"One"`},
	{"half a peer port", "coordinator.toml", "name = '1'", "name = '1'\npeer_listen = ':1'", "", "peer_listen and peer_address go together"},
	{"peer address", "coordinator.toml", "name = '1'", "name = '1'\npeer_listen = ':1'\npeer_address = 'h'", "", `peer_address "h"`},
	{"peers a word", "coordinator.toml", "name = '1'", "name = '1'\npeers = 'h:1'", "", "coordinator.toml"},
	{"page without a port", "coordinator.toml", "name = '1'", "name = '1'\n[dashboard]\nlisten = 'localhost'", "", `dashboard "localhost": must be host:port`},
	{"page in the clear", "coordinator.toml", "name = '1'", "name = '1'\n[dashboard]\nlisten = ':0'", "", "would send tokens in the clear"},
	{"page with half a pair", "coordinator.toml", "name = '1'", "name = '1'\n[dashboard]\nlisten = ':0'\ncertificate = 'a'", "", "certificate and key go together"},
	{"page's operators without TLS", "coordinator.toml", "name = '1'", "name = '1'\n[dashboard]\nlisten = '127.0.0.1:0'\nclient_ca = 'a'", "", "client_ca needs a certificate"},
	{"page's key unknown", "coordinator.toml", "name = '1'", "name = '1'\n[dashboard]\ntoken = 'a'", "", "unknown key"},
	{"page by flag in the clear", "coordinator.toml", "listen", "listen", "--dashboard :0", "in the clear"},
	{"page by flag without a port", "coordinator.toml", "listen", "listen", "--dashboard localhost", "host:port"},
	{"page's certificate absent", "coordinator.toml", "listen", "listen", "--dashboard :0 --dashboard-cert absent --dashboard-key absent", "the dashboard's certificate"},
	{"page's certificate no certificate", "coordinator.toml", "listen", "listen", "--dashboard :0 --dashboard-cert hub/ca.key --dashboard-key hub/ca.key", "the dashboard's certificate"},
	{"page's pair of two", "coordinator.toml", "listen", "listen", "--dashboard :0 --dashboard-cert hub/server.crt --dashboard-key hub/ca.key", "the dashboard's certificate"},
	{"page's operators absent", "coordinator.toml", "listen", "listen", "--dashboard :0 --dashboard-cert hub/server.crt --dashboard-key hub/server.key --dashboard-client-ca absent", "client_ca"},
	{"page's operators no CA", "coordinator.toml", "listen", "listen", "--dashboard :0 --dashboard-cert hub/server.crt --dashboard-key hub/server.key --dashboard-client-ca hub/ca.key", "holds no certificate"},
	{"page's operators every site", "coordinator.toml", "listen", "listen", "--dashboard :0 --dashboard-cert hub/server.crt --dashboard-key hub/server.key --dashboard-client-ca hub/ca.crt", "every site would have a certificate of it"},
	{"CA's key empty", "ca.key", "", "", "", "ca.key"},
	{"CA's key a certificate", "ca.key", "PRIVATE KEY", "CERTIFICATE", "", "ca.key"},
	{"CA's key changed", "ca.key", "MC4CAQAw", "MC4CAQBw", "", "ca.key"},
	{"CA's certificate text", "ca.crt", "", "hello", "", "ca.crt"},
	{"CA's certificate cut off", "ca.crt", "-----END", "", "", "ca.crt"},
	{"signing key text", "signing.key", "", "hello", "", "signing.key"},
	{"server's key text", "server.key", "", "hello", "", "server.key"},
	{"server's certificate text", "server.crt", "", "hello", "", "server.crt"},
	{"server's certificate cut off", "server.crt", "-----END", "", "", "server.crt"},
}

// TestBadFolder: a folder that is not in order is named by file and key before anything starts,
// with exit status 2, and nothing in it changes.
func TestBadFolder(t *testing.T) {
	made := filepath.Join(t.TempDir(), "hub")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"init", made, "--listen", "127.0.0.1:0", "--address", "localhost:7443"}, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	for _, c := range badFolders {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			if err := os.CopyFS("hub", os.DirFS(made)); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(made, c.file))
			if err != nil || !strings.Contains(string(text), c.old) {
				t.Fatalf("%s has no %q: %v", c.file, c.old, err)
			}
			changed := strings.Replace(string(text), c.old, c.new, 1)
			if c.old == "" {
				changed = c.new
			}
			path := filepath.Join("hub", c.file)
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			// CopyFS gives others a look
			for _, key := range []string{"ca.key", "signing.key", "server.key"} {
				if err := os.Chmod(filepath.Join("hub", key), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			command.Refused(t, dir, []string{c.says}, func(out, errs io.Writer) int {
				return run(t.Context(), append([]string{"serve", "--data", "hub"}, strings.Fields(c.args)...), out, errs)
			})
		})
	}
	t.Logf("figure: %d bad inputs: data folders of a coordinator", len(badFolders))
}

// TestLostLog: the exit status is 2 of a log that another start would find as it is: for that,
// systemd does not try again.
func TestLostLog(t *testing.T) {
	dir := t.TempDir()
	hub := filepath.Join(dir, "hub")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"init", hub, "--listen", "127.0.0.1:0", "--address", "localhost:7443"}, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	log := filepath.Join(hub, "raft", "raft.db")
	started := func(name string) []byte {
		n, err := node.Open(hub, node.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- n.Run(ctx) }()
		if _, err := n.Coordinator.Invite(name, nil, time.Hour); err != nil {
			t.Error(err)
		}
		end()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	older := started("north")
	newer := started("south")
	for _, c := range []struct {
		log  []byte
		says string
	}{
		{older, "an older copy is in its place"}, {newer[:len(newer)/16], "cut short"}, {[]byte(strings.Repeat("log", len(newer)/3)), "damaged"}, {nil, "the log was lost"},
	} {
		if err := os.WriteFile(log, c.log, 0o600); err != nil {
			t.Fatal(err)
		}
		errs.Reset()
		if code := run(t.Context(), []string{"serve", "--data", hub}, &out, &errs); code != 2 || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%d, want 2 and %q:\n%s", code, c.says, errs.String())
		}
	}
}

// TestFolderOfAnother: an error of a file that may not be used says what to do about it, and is bad
// input, which systemd does not try again. One of a port that may not be used does not.
func TestFolderOfAnother(t *testing.T) {
	owned := &fs.PathError{Op: "chmod", Path: "hub/raft", Err: syscall.EPERM}
	for _, c := range []struct {
		err  error
		says bool
	}{
		{&replica.StoreError{Op: "narrowed its directory's mode", Err: owned}, true},
		{&fs.PathError{Op: "open", Path: "hub/.shelf-1", Err: syscall.EACCES}, true},
		{&fs.PathError{Op: "write", Path: "hub/server.crt", Err: syscall.EROFS}, true},
		{&net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EACCES)}, false},
		{&fs.PathError{Op: "write", Path: "hub/raft/raft.db", Err: syscall.ENOSPC}, false},
	} {
		err := notOwned(c.err, "the hub")
		if !errors.Is(err, c.err) || strings.HasSuffix(err.Error(), ": serve as the user who owns 'the hub'; let all in it be that user's (chown -R USER 'the hub'), on a file system that can be written") != c.says || shared.Is[*shared.InputError](err) != c.says {
			t.Error(err)
		}
	}
}

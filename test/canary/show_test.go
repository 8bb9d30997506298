//go:build linux

package canary

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// collect takes the traces of all coordinators, as they come over the wire, and gives where.
func (f *fleet) collect() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.T.Fatal(err)
	}
	var mu sync.Mutex
	var all bytes.Buffer
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			if z, err := gzip.NewReader(r.Body); err == nil {
				body = z
			}
		}
		mu.Lock()
		defer mu.Unlock()
		io.Copy(&all, body)
	})}
	go server.Serve(l) // ends with Close
	f.T.Cleanup(func() { server.Close() })
	f.traces = func() []byte {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Clone(all.Bytes())
	}
	return l.Addr().String()
}

// follow reads a coordinator's page's events until stop is closed.
func (f *fleet) follow(p *proc) (stop func() []byte) {
	client := f.login(p)
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan []byte)
	go func() {
		var got bytes.Buffer
		defer func() { out <- got.Bytes() }()
		r, err := http.NewRequestWithContext(ctx, "GET", "http://"+p.Watch+"/events", nil)
		if err != nil {
			return
		}
		answer, err := client.Do(r)
		if err != nil {
			return
		}
		defer answer.Body.Close()
		io.Copy(&got, bufio.NewReader(answer.Body)) // ends with ctx, or with the process
	}()
	return func() []byte {
		cancel()
		return <-out
	}
}

// token is the file of an operator's token at the pages.
func (f *fleet) token() string { return filepath.Join(filepath.Dir(f.Nodes[0].Dir), "ana.token") }

// login returns a client that has logged in at a page, once the coordinator knows the token.
func (f *fleet) login(p *proc) *http.Client {
	f.T.Helper()
	token, err := os.ReadFile(f.token())
	if err != nil {
		f.T.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		f.T.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	f.Until("a login at "+p.Name, func() error {
		r, err := http.NewRequest("POST", "http://"+p.Watch+"/login", strings.NewReader(url.Values{"token": {strings.TrimSpace(string(token))}}.Encode()))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+p.Watch)
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			err = errors.New(answer.Status)
		}
		return errors.Join(err, answer.Body.Close())
	})
	return client
}

// look keeps what every page, metric and socket says of a study.
func (f *fleet) look(digest string) {
	f.T.Helper()
	get := func(where string, client *http.Client, url string) {
		answer, err := client.Get(url)
		if err != nil {
			f.T.Errorf("%s: %v", where, err)
			return
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK || len(body) == 0 {
			f.T.Errorf("%s: %s, %d bytes, %v", where, answer.Status, len(body), err)
		}
		f.said[where] = append(f.said[where], body...)
	}
	unix := func(socket string) *http.Client {
		return &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}}
	}
	for _, p := range f.Nodes {
		client := f.login(p)
		for _, path := range []string{"/", "/login", "/metrics", "/studies/" + digest, "/studies/" + digest + "/report", "/studies/" + digest + "/result.json"} {
			get(p.Name+" page "+path, client, "http://"+p.Watch+path)
		}
		for _, path := range []string{"/v1/raft/peers", "/v1/sites", "/v1/studies", "/v1/studies/" + digest, "/v1/studies/" + digest + "/decisions",
			"/v1/studies/" + digest + "/proposal", "/v1/studies/" + digest + "/result", "/v1/studies/" + digest + "/watch", "/v1/ca", "/v1/page/people"} {
			get(p.Name+" socket "+path, unix(filepath.Join(p.Dir, "operator.sock")), "http://hub"+path)
		}
	}
	for _, p := range f.Sites {
		get(p.Name+" metrics", http.DefaultClient, "http://"+p.Watch+"/metrics")
		for _, path := range []string{"/v1/status", "/v1/studies", "/v1/studies/" + digest, "/v1/ledger", "/v1/egress"} {
			get(p.Name+" socket "+path, unix(filepath.Join(p.Dir, "agent.sock")), "http://agent"+path)
		}
		for _, args := range [][]string{{"status"}, {"study", "list"}, {"study", "show", digest}, {"ledger", "show"}, {"ledger", "export"}, {"egress"}, {"egress", "--verify"}, {"check"}} {
			f.Must(p.Operate(args...))
		}
	}
}

// memory returns everything that a process has in memory to see, in pieces that overlap: what a
// core holds. Mappings that nobody may read are Go's reserve. Pages of the program's own file that
// were never written are left out: nothing of a study can be there, but the compiler's tables can
// have two numbers like those of an exact sum of two values.
func memory(t *testing.T, p *proc, see func(piece []byte)) (size int) {
	t.Helper()
	pid := p.Pid()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	pages, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		t.Fatal(err)
	}
	const page, overlap, most = 4096, 4096, 1 << 22
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "[v") { // the kernel's
			continue
		}
		var from, to int64
		var mode string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); err != nil {
			t.Fatal(err)
		}
		if mode[0] != 'r' {
			continue
		}
		// Runs of pages that are there; the rest was never written.
		entries := make([]byte, (to-from)/page*8)
		if _, err := pages.ReadAt(entries, from/page*8); err != nil {
			t.Fatal(err)
		}
		image := strings.HasSuffix(strings.TrimSpace(line), " "+program)
		there := func(i int64) bool {
			entry := binary.LittleEndian.Uint64(entries[8*i:])
			written := entry>>61&1 == 0                  // a written page of a private mapping is no longer the file's
			return entry>>62 != 0 && (written || !image) // present or swapped
		}
		for i := int64(0); i < (to-from)/page; i++ {
			if !there(i) {
				continue
			}
			j := i
			for j < (to-from)/page && there(j) && (j-i)*page < most {
				j++
			}
			begin := from + i*page
			if i > 0 && there(i-1) {
				begin -= overlap
			}
			piece := make([]byte, from+j*page-begin)
			if _, err := mem.ReadAt(piece, begin); err != nil {
				t.Fatalf("%s: %v", strings.TrimSpace(line), err)
			}
			size += len(piece)
			see(piece)
			i = j - 1
		}
	}
	return size
}

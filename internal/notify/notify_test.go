package notify

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// bench is a notifier whose clock stands still, and what its webhook was told.
type bench struct {
	t       *testing.T
	dir     string
	now     time.Time
	facts   []Fact
	follows bool // somebody else tells
	targets []Target
	log     bytes.Buffer
	sent    []string
	*Notifier
}

func newBench(t *testing.T, targets ...Target) *bench {
	b := &bench{t: t, dir: t.TempDir(), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), targets: targets}
	b.open()
	return b
}

// open is what a start of the program does.
func (b *bench) open() {
	b.t.Helper()
	n, err := New(Options{
		Dir: b.dir, Targets: func() []Target { return b.targets }, Facts: func() ([]Fact, bool) { return b.facts, !b.follows },
		Sent:   func(study string, body []byte) error { b.sent = append(b.sent, study); return nil },
		Logger: slog.New(slog.NewTextHandler(&b.log, nil)), Now: func() time.Time { return b.now },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.Notifier = n
}

func (b *bench) after(d time.Duration) {
	b.now = b.now.Add(d)
	b.Step(b.t.Context())
}

// receiver is a webhook that answers status and keeps what it got.
type receiver struct {
	*httptest.Server
	status int
	got    []Notice
	bodies []string
}

func receive(t *testing.T, key []byte) *receiver {
	r := &receiver{status: http.StatusNoContent}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		var n Notice
		if err = errors.Join(err, json.Unmarshal(body, &n)); err != nil {
			t.Error(err)
		}
		at, mac, _ := strings.Cut(q.Header.Get(signatureHeader), ".")
		seconds, _ := strconv.ParseInt(at, 10, 64)
		if want := hex.EncodeToString(signature(key, seconds, n.ID, body)); mac != want {
			t.Errorf("signed %s, want %s", mac, want)
		}
		r.got, r.bodies = append(r.got, n), append(r.bodies, string(body))
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func keyFile(t *testing.T, mode os.FileMode) (string, []byte) {
	t.Helper()
	key := bytes.Repeat([]byte{7}, minKey)
	path := filepath.Join(t.TempDir(), "key")
	if err := errors.Join(os.WriteFile(path, key, mode), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	return path, key
}

// The signature is RFC 2104's, by another program: printf '1.a.b' | openssl dgst -sha256 -hmac k.
func TestSignature(t *testing.T) {
	if got := hex.EncodeToString(signature([]byte("k"), 1, "a", []byte("b"))); got != "3a291a6ef707d00430135e613ee22385a140c627f418cc26d716d44b467630b0" {
		t.Error(got)
	}
}

// A fact is one notice, of the digest's first digits, without the name unless it is asked for; one
// that is not taken is tried again with its id, over restarts, eight times in a day.
func TestNoticeIsTriedForADay(t *testing.T) {
	path, key := keyFile(t, 0o600)
	r := receive(t, key)
	b := newBench(t, Target{Webhook: r.URL + "/secret-path", KeyFile: path})
	b.facts = []Fact{{Awaiting, digest, "heart-attacks"}}
	r.status = http.StatusServiceUnavailable
	b.after(0)
	for _, wait := range tries {
		b.after(wait - time.Second) // not yet
		b.open()
		b.after(time.Second)
	}
	b.after(24 * time.Hour)
	if len(r.got) != 8 || len(b.state.Waiting) != 0 || !strings.Contains(b.log.String(), "is given up") {
		t.Fatalf("%d tries, %d wait", len(r.got), len(b.state.Waiting))
	}
	for i, n := range r.got {
		if n != r.got[0] || n.Event != Awaiting || n.Study != digest[:12] || n.Name != "" || strings.Contains(r.bodies[i], digest[:13]) {
			t.Errorf("try %d: %+v", i, n)
		}
	}
	for _, word := range []string{"secret-path", "heart", digest[:12]} {
		if strings.Contains(b.log.String(), word) {
			t.Errorf("the log has %q", word)
		}
	}
	if len(b.sent) != 8 || b.sent[0] != digest {
		t.Errorf("sent %q", b.sent)
	}
	r.status, b.targets[0].Names = http.StatusOK, true
	b.facts = append(b.facts, Fact{Completed, digest, "heart-attacks"}, Fact{Expiring, "", ""})
	b.after(time.Minute)
	b.after(time.Minute)
	if len(r.got) != 10 || r.got[8].Event != Completed || r.got[8].Name != "heart-attacks" || r.got[9].Event != Expiring || r.got[8].ID == r.got[0].ID {
		t.Errorf("%+v", r.got[8:])
	}
}

// A fact that comes and goes is one notice; a day after it was last so, it is news again.
func TestFlappingFactIsOneNotice(t *testing.T) {
	path, key := keyFile(t, 0o600)
	r := receive(t, key)
	b := newBench(t, Target{Webhook: r.URL, KeyFile: path})
	for range 10 {
		b.facts = []Fact{{Overdue, digest, ""}}
		b.after(time.Minute)
		b.facts = nil
		b.after(time.Minute)
	}
	if len(r.got) != 1 {
		t.Fatalf("%d notices", len(r.got))
	}
	b.after(25 * time.Hour)
	b.facts = []Fact{{Overdue, digest, ""}}
	b.after(time.Minute)
	if len(r.got) != 2 {
		t.Errorf("%d notices", len(r.got))
	}
}

// What is long over when notices begin is no news; what waits is.
func TestFirstFacts(t *testing.T) {
	path, key := keyFile(t, 0o600)
	r := receive(t, key)
	b := newBench(t, Target{Webhook: r.URL, KeyFile: path})
	b.facts = []Fact{{Completed, digest, ""}, {Ended, digest[1:], ""}, {Proposed, digest[2:], ""}, {Awaiting, digest[2:], ""}}
	b.after(0)
	if len(r.got) != 1 || r.got[0].Event != Awaiting {
		t.Errorf("%+v", r.got)
	}
}

// A coordinator that follows tells of its own certificate only, and nothing anew once it leads.
func TestFollowerTellsNothing(t *testing.T) {
	path, key := keyFile(t, 0o600)
	r := receive(t, key)
	b := newBench(t, Target{Webhook: r.URL, KeyFile: path})
	b.follows = true
	b.after(0)
	b.facts = []Fact{{Completed, digest, ""}, {Expiring, "", ""}}
	b.after(time.Minute)
	b.follows = false
	b.after(time.Minute)
	if len(r.got) != 1 || r.got[0].Event != Expiring {
		t.Errorf("%+v", r.got)
	}
}

// A target is told of the events that it asks for, and what waits for one that left the
// configuration goes.
func TestEventsAndTargets(t *testing.T) {
	path, key := keyFile(t, 0o600)
	r := receive(t, key)
	b := newBench(t, Target{Webhook: r.URL, KeyFile: path, Events: []Event{Completed}})
	b.after(0)
	b.facts = []Fact{{Awaiting, digest, ""}}
	b.after(time.Minute)
	if len(r.got) != 0 {
		t.Fatalf("%+v", r.got)
	}
	r.status = http.StatusServiceUnavailable
	b.facts = []Fact{{Completed, digest, ""}}
	b.after(time.Minute)
	b.targets = []Target{{Webhook: r.URL + "/other", KeyFile: path}}
	b.after(24 * time.Hour)
	if len(r.got) != 1 || len(b.state.Waiting) != 0 {
		t.Errorf("%+v, %d wait", r.got, len(b.state.Waiting))
	}
}

// A redirect is a failure and leads nowhere.
func TestRedirectIsNotFollowed(t *testing.T) {
	path, key := keyFile(t, 0o600)
	other := receive(t, key)
	from := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer from.Close()
	b := newBench(t, Target{Webhook: from.URL, KeyFile: path})
	b.facts = []Fact{{Awaiting, digest, ""}}
	b.after(0)
	if len(other.got) != 0 || len(b.state.Waiting) != 1 || !strings.Contains(b.log.String(), "redirects are not followed") {
		t.Errorf("%+v, %s", other.got, b.log.String())
	}
}

// No name leads a webhook to the machinery of the network, whatever it resolves to.
func TestReachable(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "10.1.2.3:443": true, "192.0.2.1:443": true, "[2001:db8::1]:443": true,
		"169.254.169.254:80": false, "[fe80::1]:443": false, "[::ffff:169.254.169.254]:80": false, "224.0.0.1:80": false,
		"0.0.0.0:80": false, "[::ffff:0.0.0.0]:80": false, "[::]:80": false, "[ff02::1]:80": false, "x:80": false,
	} {
		if err := reachable("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	path, _ := keyFile(t, 0o600)
	b := newBench(t, Target{Webhook: "https://169.254.169.254/latest", KeyFile: path})
	b.facts = []Fact{{Awaiting, digest, ""}}
	b.after(0)
	if !strings.Contains(b.log.String(), errPlace.Error()) {
		t.Error(b.log.String())
	}
}

// A command gets its arguments as they stand, and the notice on its standard input.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	script, out := filepath.Join(dir, "tell"), filepath.Join(dir, "out")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n{ printf '%s|' \"$@\"; cat; env; } > "+out+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COVEY_SECRET", "s3cret")
	b := newBench(t, Target{Command: []string{script, "$(touch " + dir + "/x)", "; true"}})
	b.facts = []Fact{{Awaiting, digest, "a'; rm"}}
	b.after(0)
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err, b.log.String())
	}
	if got := string(raw); !strings.HasPrefix(got, "$(touch "+dir+"/x)|; true|{\"id\":") || strings.Contains(got, "s3cret") || strings.Contains(got, "rm") {
		t.Error(got)
	}
	if len(b.state.Waiting) != 0 {
		t.Error("it waits still")
	}
	if err := b.targets[0].Ready(); err != nil {
		t.Error(err)
	}
	if err := (Target{Command: []string{out}}).Ready(); err == nil {
		t.Error("a file that nobody may run is ready")
	}
	for name, c := range map[string]struct {
		command []string
		want    string
	}{
		"absent": {[]string{filepath.Join(dir, "none")}, "cannot be started"},
		"fails":  {[]string{"/bin/sh", "-c", "echo s3cret >&2; exit 3"}, "ended with status 3"},
	} {
		err := Target{Command: c.command}.run(t.Context(), []byte("{}"))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (Target{Command: []string{script}}).run(ended, nil); err == nil {
		t.Error("a command outlives its context")
	}
}

// A full queue drops what is new, and says so.
func TestQueueIsBounded(t *testing.T) {
	b := newBench(t, Target{Command: []string{"/nonexistent"}})
	b.after(0)
	for i := range maxQueued + 5 {
		b.facts = append(b.facts, Fact{Awaiting, fmt.Sprintf("%064d", i), ""})
	}
	b.after(time.Minute)
	if len(b.state.Waiting) != maxQueued || strings.Count(b.log.String(), "is dropped") != 5 {
		t.Errorf("%d wait", len(b.state.Waiting))
	}
}

// A target that takes nothing fills its own part of the queue: another is told all, also one that
// joins when the queue is full, and the file can be read again.
func TestDeadTargetCostsOthersNothing(t *testing.T) {
	path, key := keyFile(t, 0o600)
	r := receive(t, key)
	b := newBench(t, Target{Command: []string{"/nonexistent"}})
	b.after(0)
	more := func(of Event) {
		for i := range maxQueued {
			b.facts = append(b.facts, Fact{of, fmt.Sprintf("%064d", i), ""})
		}
	}
	more(Awaiting)
	b.after(time.Second)
	b.targets = append(b.targets, Target{Webhook: r.URL, KeyFile: path})
	more(Overdue)
	b.after(time.Second)
	b.open()
	if told := maxQueued / 2; len(r.got) != told || len(b.state.Waiting) != told || r.got[told-1].Event != Overdue {
		t.Fatalf("%d told, %d wait", len(r.got), len(b.state.Waiting))
	}
	b.facts = append(b.facts, Fact{Completed, digest, ""})
	b.after(time.Second)
	if last := r.got[len(r.got)-1]; last.Event != Completed || len(b.state.Waiting) != maxQueued/2 {
		t.Errorf("last told %+v, %d wait", last, len(b.state.Waiting))
	}
}

// Nothing leaves before it is on disk: a restart would send it again as something else.
func TestNothingLeavesUnsaved(t *testing.T) {
	path, key := keyFile(t, 0o600)
	r := receive(t, key)
	b := newBench(t, Target{Webhook: r.URL, KeyFile: path})
	b.facts = []Fact{{Awaiting, digest, ""}}
	b.o.Dir = filepath.Join(b.dir, "gone")
	b.after(0)
	if len(r.got) != 0 {
		t.Error("a notice left")
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		target Target
		want   string
	}{
		"webhook":        {Target{Webhook: "https://hooks.example.org/a?b", KeyFile: "k", Events: []Event{Overdue}}, ""},
		"loopback":       {Target{Webhook: "http://127.0.0.1:8000/", KeyFile: "k"}, ""},
		"command":        {Target{Command: []string{"/usr/bin/logger", "-t", "covey"}}, ""},
		"neither":        {Target{}, "needs either webhook or command"},
		"both":           {Target{Webhook: "https://a", KeyFile: "k", Command: []string{"/b"}}, "needs either webhook or command"},
		"no key":         {Target{Webhook: "https://a"}, "a webhook needs a key"},
		"key of command": {Target{Command: []string{"/b"}, KeyFile: "k"}, "a command has none"},
		"plain http":     {Target{Webhook: "http://hooks.example.org", KeyFile: "k"}, "use https"},
		"user":           {Target{Webhook: "https://u:p@a", KeyFile: "k"}, "holds a user or password"},
		"file":           {Target{Webhook: "file:///etc/passwd", KeyFile: "k"}, "is no URL"},
		"other scheme":   {Target{Webhook: "gopher://a/b", KeyFile: "k"}, "must begin with https://"},
		"event":          {Target{Command: []string{"/b"}, Events: []Event{"result"}}, "must be one of proposed"},
		"relative":       {Target{Command: []string{"logger"}}, "absolute path"},
		"zero":           {Target{Command: []string{"/b", "a\x00b"}}, "with a zero in it"},
		"long":           {Target{Command: []string{"/b", strings.Repeat("a", maxArgument+1)}}, "more than 4096 bytes"},
	} {
		err := Check([]Target{c.target})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Check(slices.Repeat([]Target{{Command: []string{"/b"}}}, maxTargets+1)); err == nil {
		t.Error("any number of targets")
	}
}

// A key that others may read, or that is short, proves nothing.
func TestKeyFile(t *testing.T) {
	path, key := keyFile(t, 0o600)
	open, _ := keyFile(t, 0o644)
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, key[1:], 0o600); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{path: true, open: false, short: false, path + ".none": false} {
		if err := (Target{Webhook: "https://a", KeyFile: at}).Ready(); (err == nil) != want {
			t.Errorf("%s: %v", at, err)
		}
		if got, err := (Target{KeyFile: at}).key(); (err == nil) != want || want && !bytes.Equal(got, key) {
			t.Errorf("%s: %v", at, err)
		}
	}
	if at := Under("/etc/covey", []Target{{KeyFile: "k"}, {KeyFile: "/a/k"}}); at[0].KeyFile != filepath.Join("/etc/covey", "k") || at[1].KeyFile != "/a/k" {
		t.Errorf("%+v", at)
	}
}

// A file that no version wrote is refused, by its name.
func TestDamagedQueue(t *testing.T) {
	for _, text := range []string{"", "{", "{}", `{"told":{},"other":1}`, `{"told":{},"waiting":[{"failed":-1}]}`, `{"told":{},"waiting":[{"failed":8}]}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, queueFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), queueFile) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Whatever a queue's file holds: an error, or a state that can be worked on.
func FuzzQueue(f *testing.F) {
	f.Add([]byte(`{"told":{"awaiting 01":"2026-03-01T12:00:00Z"},"waiting":[{"id":"A","event":"awaiting","study":"01","time":"2026-03-01T12:00:00Z","target":"t","failed":7,"next":"2026-03-01T12:00:00Z"}]}`))
	f.Add([]byte(`{"told":{},"waiting":[{"failed":-99,"target":"48099f260975d163"}]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, queueFile), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := New(Options{Dir: dir, Targets: func() []Target { return []Target{{Command: []string{"/nonexistent"}}} },
			Facts: func() ([]Fact, bool) { return []Fact{{Awaiting, digest, ""}}, true }, Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			n.Step(t.Context())
		}
	})
}

// TestClockThatRanAhead: a notice that was made, or put off, by a clock that ran ahead is delivered
// once it is set right, and what was told then is told again when it is so.
func TestClockThatRanAhead(t *testing.T) {
	path, key := keyFile(t, 0o600)
	r := receive(t, key)
	b := newBench(t, Target{Webhook: r.URL, KeyFile: path})
	b.after(0)
	const year = 365 * 24 * time.Hour
	b.facts = []Fact{{Event: Expiring}}
	b.after(year)
	b.facts = []Fact{{Event: Expiring}, {Overdue, digest, ""}}
	r.status = http.StatusServiceUnavailable
	b.after(0)
	b.facts = nil
	r.status = http.StatusNoContent
	b.after(-year)
	b.open()
	b.after(30 * time.Second)
	if len(r.got) != 3 || r.got[0].Event != Expiring || r.got[1] != r.got[2] || len(b.state.Waiting) != 0 {
		t.Fatalf("delivered %+v, %d wait", r.got, len(b.state.Waiting))
	}
	b.after(25 * time.Hour)
	b.facts = []Fact{{Event: Expiring}}
	b.after(time.Hour)
	if len(r.got) != 4 || r.got[3].Event != Expiring {
		t.Fatalf("delivered %+v", r.got)
	}
}

package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/people"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/site"
)

// recorded is a federation's log through a whole study, and what its sites sent.
func recorded(f *testing.F) (lines [][]byte, messages [][]byte) {
	f.Helper()
	f.Cleanup(func() {})
	ran := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "recorded", F: func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			fed := newFederation(t, 3, nil)
			for i, s := range fed.sites {
				s.corrupt = func(m *covey.SiteMessage) { // it changes nothing
					raw, err := proto.Marshal(m)
					if err != nil {
						t.Error(err)
					}
					if i == 0 {
						messages = append(messages, raw)
					}
				}
			}
			fed.pump(nil)
			lines = fed.log.all()
			fed.c.Close()
		})
	}}})
	if !ran || len(lines) == 0 {
		f.Fatal("nothing was recorded")
	}
	return lines, messages
}

// whole holds a machine to its snapshot: what it says is what a machine restored from it says, and
// every page of it is shown.
func whole(t *testing.T, m *Machine) {
	t.Helper()
	written, err := encoded(m)
	if err != nil {
		t.Fatal(err)
	}
	again := NewMachine()
	if err := restored(again, written); err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	if twice, err := encoded(again); err != nil || !bytes.Equal(twice, written) {
		t.Fatalf("%s\nis written again as\n%s (%v)", written, twice, err)
	}
}

// FuzzEntries commits a study's first entries and then lines of the fuzzer's: each is carried out
// or answered with an error, and the state survives its snapshot.
func FuzzEntries(f *testing.F) {
	lines, _ := recorded(f)
	for i, line := range lines {
		f.Add(byte(i), line)
	}
	key := proposal.Key(bytes.Repeat([]byte{1}, ed25519.PublicKeySize))
	for _, e := range []entry{
		{Spend: &membership.SpendEntry{Token: "x", Node: "2"}}, {Node: &membership.Node{ID: "2", Addresses: []string{"a:1"}}}, {Forget: &membership.ForgetEntry{Node: "2"}}, {Withdraw: &membership.ClientEntry{Role: pki.RoleSite, Name: "site-1"}}, {Node: &membership.Node{ID: "2", Key: key}},
		{Join: &membership.JoinEntry{Token: "t", Name: "s", Key: key}}, {Revoke: &membership.ClientEntry{Role: pki.RoleSite, Name: "site-1"}}, {CA: &membership.CAEntry{}},
		{Invite: &membership.InviteEntry{Token: "a", Invite: membership.Invite{Analyst: "ada"}}}, {Invite: &membership.InviteEntry{Token: "b", Invite: membership.Invite{Analyst: "site-1"}}},
		{Revoke: &membership.ClientEntry{Role: pki.RoleAnalyst, Name: "ada"}}, {Revoke: &membership.ClientEntry{Role: "node", Name: "x"}}, {Withdraw: &membership.ClientEntry{Role: pki.RoleAnalyst, Name: "ada"}},
		{Tell: &tellEntry{"rows", map[string]int{"site-0": 5}}}, {Tell: &tellEntry{}},
		{Person: &people.Entry{Person: people.Person{Name: "ana", Role: people.Viewer, Studies: []proposal.Digest{{1}}}, Hash: people.Hash("t")}}, {Person: &people.Entry{Person: people.Person{Name: "ana", Role: people.Operator, Certificate: true}}}, {Dismiss: new(string)},
		{Round: &round.Entry{Kind: round.EntrySurvivors, Query: -1, Slot: -1, Survivors: []int{-1, 99}}},
	} {
		raw, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(len(lines)), raw)
	}
	f.Fuzz(func(t *testing.T, first byte, text []byte) {
		m := NewMachine()
		for _, line := range lines[:min(int(first), len(lines))] {
			m.Apply(line)
		}
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			m.Apply(line)
		}
		whole(t, m)
	})
}

// FuzzSnapshot restores whatever a snapshot holds, or refuses it and is as it was.
func FuzzSnapshot(f *testing.F) {
	lines, _ := recorded(f)
	for n := 0; n <= len(lines); n += 4 {
		m := NewMachine()
		for _, line := range lines[:n] {
			m.Apply(line)
		}
		raw, err := encoded(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := NewMachine()
		m.Apply(lines[0])
		before, err := encoded(m)
		if err != nil {
			t.Fatal(err)
		}
		if restored(m, raw) != nil {
			if after, err := encoded(m); err != nil || !bytes.Equal(after, before) {
				t.Fatalf("a snapshot that was refused left %s (%v)", after, err)
			}
			return
		}
		whole(t, m)
	})
}

// FuzzMessage is a site's message at any moment of a study: it is taken or dropped, or its link
// ends.
func FuzzMessage(f *testing.F) {
	lines, messages := recorded(f)
	for i, raw := range messages {
		for _, n := range []int{0, len(lines) / 2, len(lines)} {
			f.Add(byte(n), raw)
		}
		f.Add(byte(i), raw[:len(raw)/2])
	}
	units := &covey.SiteMessage{Body: &covey.SiteMessage_Hello{Hello: &covey.Hello{Software: "x", Datasets: []*covey.Dataset{{Name: "rows", Units: 1 << 63}}}}}
	raw, err := proto.Marshal(units)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(1), raw)
	auth := site.Authority(f, f.TempDir(), time.Now(), "localhost")
	f.Fuzz(func(t *testing.T, n byte, raw []byte) {
		sent, err := wire.DecodeSite(raw)
		if err != nil {
			return
		}
		m := NewMachine()
		for _, line := range lines[:min(int(n), len(lines))] {
			m.Apply(line)
		}
		c := New(Options{Authority: auth, Machine: m, Logger: slog.New(slog.DiscardHandler)})
		defer c.Close()
		if err := c.Lead(&memoryLog{machine: m}); err != nil {
			t.Fatal(err)
		}
		l := newLink("site-0")
		c.linked(l, map[string]int{"rows": 1000}, chain.Head{})
		if err := c.receive(l, sent); err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatal(err)
		}
		// again: once more is not another
		if err := c.receive(l, sent); err != nil && err.Error() == "" {
			t.Fatal(err)
		}
	})
}

// FuzzOperator is a request at the operator's socket, whatever its path and body.
func FuzzOperator(f *testing.F) {
	lines, _ := recorded(f)
	for _, path := range []string{"/v1/sites/invite", "/v1/sites/site-0/revoke", "/v1/studies", "/v1/plan", "/v1/studies/0/abort", "/v1/studies/0/start"} {
		for _, body := range []string{"", "{}", `{"site":"new","valid":"1h"}`, "name = \"n\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\n[[columns]]\nname = \"a\"\nscale = 1\n[[columns]]\nname = \"b\"\nscale = 1\n"} {
			f.Add(path, body)
		}
	}
	auth := site.Authority(f, f.TempDir(), time.Now(), "localhost")
	f.Fuzz(func(t *testing.T, path, body string) {
		// a stream does not end
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " \x00\r\n#?%\x7f") || strings.Contains(path, "watch") {
			return
		}
		for _, r := range path {
			if r < ' ' || r > '~' {
				return
			}
		}
		m := NewMachine()
		for _, line := range lines {
			m.Apply(line)
		}
		c := New(Options{Authority: auth, Machine: m, Logger: slog.New(slog.DiscardHandler)})
		defer c.Close()
		if err := c.Lead(&memoryLog{machine: m}); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		Operator(c, func() []string { return []string{"hub.example:7443"} }).ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
		if w.Code == 500 {
			t.Fatal(fmt.Sprint(path, " ", w.Body))
		}
		whole(t, m)
	})
}

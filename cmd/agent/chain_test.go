package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"covey/internal/agent"
	"covey/internal/chain"
	"covey/internal/chainwatch"
	"covey/internal/control"
	"covey/internal/holding"
)

// TestChainCommands: what the site kept and was shown is printed, and nothing is accepted that is
// not to be.
func TestChainCommands(t *testing.T) {
	dir, _ := serving(t)
	said := func(code int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if got := run(t.Context(), append([]string{"-C", dir, "chain"}, args...), &out, &out); got != code {
			t.Fatalf("agent chain %q: exit status %d, want %d\n%s", args, got, code, out.String())
		}
		return out.String()
	}
	if text := said(0, "show"); text != "kept:  none yet\nshown: none yet\n" {
		t.Errorf("%q", text)
	}
	if text := said(0, "show", "--json"); strings.TrimSpace(text) != "{}" {
		t.Errorf("%q", text)
	}
	for head, why := range map[string]string{
		strings.Repeat("ab", 32):          "nothing to accept",
		"7:" + strings.Repeat("ab", 32):   "nothing to accept",
		"ab":                              "64 hexadecimal digits",
		strings.Repeat("ab", 32) + "\x1b": "64 hexadecimal digits",
	} {
		if text := said(2, "accept", head); !strings.Contains(text, why) || strings.Contains(text, "\x1b") {
			t.Errorf("%q: %q", head, text)
		}
	}
	var out bytes.Buffer
	kept, shown := chain.Head{Number: 3, Link: chain.Link{1}}, chain.Head{Number: 2, Link: chain.Link{2}}
	printChain(&out, chainwatch.View{Kept: &chain.Signed{Head: kept}, Shown: &chain.Signed{Head: shown}, Broken: "why"})
	if want := "kept:  " + kept.String() + "\nshown: " + shown.String() + "\nBROKEN: why; no query is answered\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
	broken := offering(t, chainwatch.View{Broken: "why"})
	out.Reset()
	if got := run(t.Context(), []string{"-C", broken, "chain", "show"}, &out, &out); got != 1 || !strings.Contains(out.String(), "BROKEN: why") || !strings.Contains(out.String(), "chain accept HEAD") {
		t.Errorf("a broken chain: exit status %d\n%s", got, out.String())
	}
	out.Reset()
	printStatus(&out, agent.Status{Chain: chainwatch.View{Broken: "why"}})
	if !strings.Contains(out.String(), "BROKEN: why") || !strings.Contains(out.String(), `"agent chain show"`) {
		t.Errorf("%q", out.String())
	}
}

// TestCheckAsksTheRunningAgent: what only that knows is in the list.
func TestCheckAsksTheRunningAgent(t *testing.T) {
	for _, c := range []struct {
		status agent.Status
		want   []string
	}{
		{agent.Status{Linked: true, Coordinator: "hub:1", Datasets: []holding.Status{{Name: "rows", Studies: 1, Data: holding.DataSame}, {Name: "labs", Fault: "of no study"}}}, []string{`ok +running agent +linked to hub:1`}},
		{agent.Status{LinkError: "x\x1b", Chain: chainwatch.View{Broken: "why"}, Datasets: []holding.Status{{Name: "rows", Studies: 1, Data: holding.DataChanged}, {Name: "people", Studies: 1, Data: holding.DataMaybe}, {Name: "icu", Studies: 1, Data: holding.DataUnknown, Fault: "its table"}}},
			[]string{`WARN +data set icu +its table\n.*do: put the approved file or table`, `WARN +data set rows +changed: it is not what`, `WARN +data set people +looks changed: it is not what`, `WARN +running agent +answers no query: why\n.*do: call the coordinator's operator: .*chain accept HEAD`, `WARN +running agent +no link: x`}},
	} {
		var out bytes.Buffer
		run(t.Context(), []string{"-C", offering(t, c.status), "check"}, &out, &out)
		for _, want := range c.want {
			if !regexp.MustCompile(want).MatchString(out.String()) {
				t.Errorf("no %s in\n%s", want, out.String())
			}
		}
		if strings.Contains(out.String(), "WARN") == c.status.Linked || strings.Contains(out.String(), "\x1b") {
			t.Errorf("warned:\n%s", out.String())
		}
	}
}

// offering returns a site's folder on whose operator's socket every request is answered with one
// value.
func offering(t *testing.T, answer any) (dir string) {
	t.Helper()
	dir, _ = joinedSite(t)
	in(t, dir, "cap_rho = 0.5", "cap_rho = 0.1")
	socket, err := control.SocketPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(answer) })}
	go server.Serve(l) // ends with Close
	t.Cleanup(func() { server.Close() })
	return dir
}

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/study"
)

// TestSitesWithABrokenChain: `site list` says which site answers no query because of the chain, and
// prints the head that its operator is told by phone; whose program is refused, and why; and whose
// certificate ended.
func TestSitesWithABrokenChain(t *testing.T) {
	head, key := chain.Head{Number: 7, Link: chain.Link{1, 2}}, make(proposal.Key, 32)
	dir := serveSocket(t, func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(outline.SitesReply{Chain: head, Sites: []outline.ListedSite{
			{Holder: membership.Holder{Name: "north", Identity: key, TLS: key}, Connected: true, Expires: time.Unix(0, 0)},
			{Holder: membership.Holder{Name: "away", Identity: key, TLS: key}, Expires: time.Now().Add(time.Hour)},
			{Holder: membership.Holder{Name: "late", Identity: key, TLS: key}, Expires: time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)},
			{Holder: membership.Holder{Name: "south", Identity: key, TLS: key}, Connected: true, BrokenChain: true},
			{Holder: membership.Holder{Name: "west", Identity: key, TLS: key}, Refused: "upgrade the agent"},
			{Holder: membership.Holder{Name: "east", Identity: key, TLS: key, Revoked: true}, Refused: "upgrade the agent"},
		}})
	})
	var out bytes.Buffer
	if err := (&sitesCmd{}).Run(&terminal{&shared.Terminal{Ctx: t.Context(), Out: &out, Err: io.Discard}, dir}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"north  connected", "south  BROKEN CHAIN: see operations.md", "west   refused ", "east   revoked ", "\nwest is refused: upgrade the agent\n", "away   joined ", "late   certificate ended ", "\nlate cannot connect: its certificate ended 2026-02-03. Make it a join file: coordinator site invite late --again\n", "head of the chain  " + head.String() + "\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// TestLinksOfAStudy: `study show` says which sites cannot take part, and why.
func TestLinksOfAStudy(t *testing.T) {
	var out bytes.Buffer
	printView(&out, outline.View{Sites: []outline.SiteView{
		{Name: "north", Connected: true}, {Name: "south"}, {Name: "east", Connected: true, Refused: study.CodeData}, {Name: "west", Barred: "other key"},
	}})
	rows := map[string]string{}
	for line := range strings.Lines(out.String()) {
		name, rest, _ := strings.Cut(line, " ")
		rows[name] = strings.TrimSpace(rest)
	}
	for name, want := range map[string]string{"north": "0      connected  ", "south": "0      away  ", "east": "0      connected, refuses: data  ", "west": "0      other key  "} {
		if !strings.HasPrefix(rows[name]+"  ", want) {
			t.Errorf("%s: %q, want %q", name, rows[name], want)
		}
	}
}

// TestSitesNamesAreQuoted: LIM-9. What could pass for another column, or another row, of `site
// list` is quoted.
func TestSitesNamesAreQuoted(t *testing.T) {
	for name, want := range map[string]string{
		"weights-2026.a_b":        `weights-2026.a_b (5)`,
		"a (5) north connected":   `"a (5) north connected" (5)`,
		"a\x1b[2K\rb":             `"a\x1b[2K\rb" (5)`,
		`a" north`:                `"a' north" (5)`,
		"größen":                  `größen (5)`,
		"with\u00a0hidden\u200bs": `"with\u00a0hidden\u200bs" (5)`,
	} {
		if got := datasets(outline.ListedSite{Datasets: map[string]int{name: 5}}); got != want {
			t.Errorf("%q is printed as %s, want %s", name, got, want)
		}
	}
}

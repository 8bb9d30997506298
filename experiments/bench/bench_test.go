package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"covey/experiments/bench/federation"
	"covey/internal/coordinator"
	"covey/internal/round"
)

// TestSecagg: every cell's sum is opened and compared in it, with and without dropouts, on both graphs; all
// parts take time.
func TestSecagg(t *testing.T) {
	runs := []string{"-sites 4 -dims 50 -slots 1 -repeat 1"}
	if !testing.Short() { // some seconds of processor time, many with the race detector
		runs = append(runs, "-sites 129 -corrupt 0.01 -dims 50 -slots 0 -repeat 1")
	}
	for _, args := range runs {
		r, _, err := find("secagg").measure(strings.Fields(args))
		if err != nil {
			t.Fatal(err)
		}
		rounds := r.Tables[0]
		if len(rounds.Rows) != 2 {
			t.Fatalf("%+v", r)
		}
		for _, row := range rounds.Rows {
			for i, cell := range row {
				if v, ok := cell.(float64); ok && !(v >= 0) {
					t.Errorf("%s is %v", rounds.Head[i], v)
				}
			}
		}
		n, up := rounds.Rows[0][0].(int), rounds.Rows[0][len(rounds.Head)-1].(int)
		if n == 4 && (len(r.Tables) != 2 || up < 50*6+64+4*32 || up > 50*6+64+4*32+1500) {
			t.Errorf("%d tables, %d bytes up", len(r.Tables), up)
		}
	}
}

// TestWrongSum: an opened sum that is not the true one fails the measurement.
func TestWrongSum(t *testing.T) {
	g, err := newGroup(4, 1, 0)
	if err == nil {
		err = g.holdShares()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.aggregate(10, 0, 48)
	if err != nil {
		t.Fatal(err)
	}
	r.uploads[2][0]++
	if err := r.run(&agentTimes{}, &coordinatorTimes{}); err == nil {
		t.Error("a changed upload goes unseen")
	}
}

// TestLinks: a longer link costs trips, in whole studies through the proxy.
func TestLinks(t *testing.T) {
	r, asJSON, err := find("links").measure(strings.Fields("-sites 3 -rows 50 -d 4 -rounds 1 -repeat 1 -delays 0s,30ms -json"))
	if err != nil || !asJSON {
		t.Fatal(err)
	}
	rows := r.Tables[0].Rows
	if len(rows) != 8 {
		t.Fatalf("%d modes", len(rows))
	}
	// However slow the machine is, a query cannot be quicker than its answer's trip, there and back.
	for _, row := range rows[4:] {
		if took := row[5].(float64); took < 60 {
			t.Errorf("%v ms a query over links of 30 ms", took)
		}
	}
	var b bytes.Buffer
	if err := r.write(&b, true); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("%v: %s", err, b.Bytes())
	}
}

// TestTrace: every moment of a study goes to one part.
func TestTrace(t *testing.T) {
	start := time.Unix(0, 0)
	trace := federation.Trace{Quorum: 2}
	sites := func(uploaded ...bool) (out []coordinator.SiteView) {
		for _, u := range uploaded {
			out = append(out, coordinator.SiteView{Uploaded: u})
		}
		return out
	}
	none, every := sites(false, false, false), sites(true, true, true)
	all := []string{"a", "b", "c"}
	for i, v := range []coordinator.View{
		{Status: round.StatusSetup},
		{Status: round.StatusRunning, Phase: "upload", Sites: none, Waiting: all},
		{Status: round.StatusRunning, Phase: "sign", Sites: none, Waiting: all},
		{Status: round.StatusRunning, Phase: "sign", Sites: every, Waiting: all},
		{Status: round.StatusRunning, Phase: "sign", Sites: every, Waiting: all[:1]},
		{Status: round.StatusRunning, Phase: "open", Sites: every, Waiting: all},
		{Status: round.StatusRunning, Phase: "open", Sites: every},
		{Status: round.StatusRunning, Phase: "upload", Sites: every, Query: 1},
		{Status: round.StatusCompleted, Query: 2},
	} {
		trace.See(start.Add(time.Second<<i), v)
	}
	if trace.Setup != time.Second || len(trace.Queries) != 2 || trace.Queries[0] != 126*time.Second || trace.Queries[1] != 128*time.Second {
		t.Errorf("%+v", trace)
	}
	for part, want := range map[string]time.Duration{
		federation.Answers: 2 + 4, federation.Signatures: 8, federation.Certificate: 16, federation.Shares: 32, federation.Opening: 64, federation.Survivors: 128,
	} {
		if got := trace.Parts[part]; got != want*time.Second {
			t.Errorf("%s: %v, not %d s", part, got, want)
		}
	}
}

func TestMedianAndSlope(t *testing.T) {
	if m := (times{5, 1, 9, 3}).median(); m != 4 {
		t.Errorf("the median of four is %d", m)
	}
	if m := (times{5, 1, 9}).median(); m != 5 {
		t.Errorf("the median of three is %d", m)
	}
	if s := slope([]float64{1, 2, 4, 8}, []float64{3, 12, 48, 192}); math.Abs(s-2) > 1e-9 {
		t.Errorf("a square has slope %v", s)
	}
}

func TestMarkdown(t *testing.T) {
	r := report{Tables: []table{{Title: "T", Head: []string{"a", "b", "c"}, Rows: [][]any{{"x", 0.01234, nil}, {"y", 1234.5, 7}}, Notes: []string{"n"}}}}
	var b bytes.Buffer
	if err := r.write(&b, false); err != nil {
		t.Fatal(err)
	}
	const want = "T\n\n| a | b | c |\n| --- | --: | --: |\n| x | 0.012 |  |\n| y | 1234 | 7 |\n\nn\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}

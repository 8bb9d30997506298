package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/cmd/internal/cli"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/port"
)

const studyText = `name = "weights"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
standardize = "private"
columns = ["height", "weight"]
`

// desk is an analyst at a terminal that is none, in a folder of its own with study.toml, who has
// joined.
type desk struct {
	t         *testing.T
	hub       *port.Hub
	out, errs bytes.Buffer
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("COVEY_ANALYST_DIR", "")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(t.TempDir(), "config"))
	t.Setenv("HOME", t.TempDir())
	d := &desk{t: t, hub: port.NewHub(t)}
	for name, text := range map[string][]byte{"ada.join": d.hub.Invite(t), "study.toml": []byte(studyText)} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.run(cli.ExitOK, "join ada.join")
	return d
}

// run runs a command that must end with a status.
func (d *desk) run(want int, args string) {
	d.t.Helper()
	d.out.Reset()
	d.errs.Reset()
	if code := run(d.t.Context(), strings.Fields(args), strings.NewReader("yes\n"), &d.out, &d.errs); code != want {
		d.t.Fatalf("analyst %s: exit status %d, want %d\n%s", args, code, want, d.errs.String())
	}
}

// says wants texts on stderr.
func (d *desk) says(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if !strings.Contains(d.errs.String(), text) {
			d.t.Errorf("lacks %q:\n%s", text, d.errs.String())
		}
	}
}

// shows wants texts on stdout.
func (d *desk) shows(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if !strings.Contains(d.out.String(), text) {
			d.t.Errorf("lacks %q:\n%s", text, d.out.String())
		}
	}
}

// TestDefaultFolder: without --dir the keys are in the user's configuration folder, a second
// federation needs a folder of its own, and nothing else writes anywhere.
func TestDefaultFolder(t *testing.T) {
	d := newDesk(t)
	home := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "covey", "analyst")
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	d.says("Analyst ada has joined", "Tell the sites your key's fingerprint")
	d.run(cli.ExitBad, "join ada.join")
	d.says("this analyst has joined already", "--dir names a folder for another federation")
	other := port.NewHub(t)
	if err := os.WriteFile("other.join", other.Invite(t), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run(cli.ExitOK, "join other.join --dir second")
	d.run(cli.ExitOK, "list --dir second")
	d.run(cli.ExitBad, "list -C third")
	d.says("third: nobody has joined", "analyst join FILE")
	d.run(cli.ExitBad, "join ada.join --dir third")
	d.says("refused the join file")
}

// TestProposing: nothing leaves without a yes, and what leaves is what was shown.
func TestProposing(t *testing.T) {
	d := newDesk(t)
	d.run(cli.ExitBad, "propose study.toml")
	d.says("stdin is not a terminal: --yes proposes without asking", "9000 units × 2 columns at 3 sites", "north", "shown for the first time", "coordinator", "warning: 3 sites")
	d.run(cli.ExitOK, "propose study.toml --dry-run")
	if p, err := proposal.Parse(d.out.Bytes()); err != nil || p.Proposer.Name != "ada" {
		t.Errorf("--dry-run prints no proposal: %v", err)
	}
	if len(d.hub.Proposed) != 0 {
		t.Fatal("proposed without a yes")
	}
	d.run(cli.ExitBad, "propose study.toml")
	d.says("shown for the first time")
	d.run(cli.ExitOK, "propose study.toml --yes")
	d.says("shown for the first time")
	if len(d.hub.Proposed) != 1 {
		t.Fatalf("%d proposals", len(d.hub.Proposed))
	}
	id := proposal.DigestOf(d.hub.Proposed[0].Body)
	d.shows(id.String())
	d.says("proposed to 3 sites; it starts when all have approved")
	d.run(cli.ExitOK, "show "+id.String()+" --proposal")
	if !bytes.Equal(d.out.Bytes(), d.hub.Proposed[0].Body) {
		t.Error("show --proposal prints other bytes than were proposed")
	}
	d.run(cli.ExitOK, "propose study.toml --yes --json")
	d.says("has the same name and is not over")
	var reply proposed
	if err := json.Unmarshal(d.out.Bytes(), &reply); err != nil || reply.Digest != proposal.DigestOf(d.hub.Proposed[1].Body) || len(reply.Sites) != 3 || reply.Sites[0].New {
		t.Errorf("%+v, %v", reply, err)
	}
	d.hub.Set(func() { d.hub.Told[0].Phase, d.hub.Told[1].Phase = wire.PhaseCompleted, wire.PhaseEnded })
	d.run(cli.ExitOK, "propose study.toml --yes")
	d.says("(\"weights\") asked the same and is completed")
	if err := os.WriteFile("renamed.toml", []byte(strings.Replace(studyText, "weights", "renamed", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run(cli.ExitBad, "propose renamed.toml")
	d.says("(\"weights\") asked the same and is completed")
	if strings.Contains(d.errs.String(), "does not tell of it") {
		t.Errorf("all are told of:\n%s", d.errs.String())
	}
	// As after a restore: what was completed is gone from the coordinator, not from this folder.
	d.hub.Set(func() { d.hub.Told = d.hub.Told[1:] })
	d.run(cli.ExitBad, "propose renamed.toml")
	d.says("warning: this folder has signed what asks the same (" + id.String()[:12] + "), and the coordinator does not tell of it")

	d.hub.Set(func() { d.hub.Offered.Coordinator = port.Public(port.Seeded(77)) })
	d.run(cli.ExitBad, "propose study.toml --yes")
	d.says("the coordinator had the key", "Nothing was proposed", "--trust ")
	text := strings.TrimSpace(d.errs.String())
	d.run(cli.ExitOK, "propose study.toml --yes --trust "+strings.ToUpper(text[strings.LastIndex(text, " ")+1:]))
	d.run(cli.ExitBad, "propose study.toml --yes --trust abcd")
	d.says("--trust must be a fingerprint")
	d.hub.Set(func() { d.hub.Fails = status.Error(codes.ResourceExhausted, "20 proposals a day") })
	d.run(cli.ExitBad, "propose study.toml --yes")
	d.says("20 proposals a day")
}

// told is a study of ada's, under a name that would write on a terminal.
func told(phase wire.Phase) wire.Told {
	return wire.Told{Study: proposal.Digest{0xab, 0xcd}, Name: "weights", Own: true, Proposer: "ada", Phase: phase, Queries: 21, Answers: []wire.Answer{
		{Site: "north", Verdict: study.VerdictApproved}, {Site: "south", Verdict: study.VerdictRejected},
		{Site: "w\x1b[2Jest", Verdict: study.VerdictPending, Fault: study.CodeColumns, Awaited: true},
	}}
}

func TestStudiesInWords(t *testing.T) {
	d := newDesk(t)
	d.hub.Told = []wire.Told{told(wire.PhaseProposed), {Study: proposal.Digest{1}, Name: "theirs", Proposer: "grace", Phase: wire.PhaseEnded, Code: study.CodeExpired}, {Study: proposal.Digest{2}, Name: "house", Phase: wire.PhaseRunning, Done: 3, Queries: 21}}
	d.run(cli.ExitOK, "list")
	d.shows("weights  you", `"w\x1b[2Jest"`, "grace", "ended: expired", "the coordinator", "running, 3/21 queries")
	d.run(cli.ExitOK, "show abcd")
	d.shows("waiting for approval by", "with no deadline", "north", "approved", "declined", "columns: it does not have one column of each name")
	if strings.ContainsRune(d.out.String(), 0x1b) {
		t.Errorf("%q", d.out.String())
	}
	d.run(cli.ExitOK, "show abcd --json")
	var v view
	if err := json.Unmarshal(d.out.Bytes(), &v); err != nil || v.Sites[1].Decision != study.VerdictRejected || len(v.Waiting) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	d.hub.Set(func() { d.hub.Told[0].Answers[2].Gone = true })
	d.run(cli.ExitOK, "list")
	d.shows(`in vain for "w\x1b[2Jest"`)
	d.run(cli.ExitOK, "show abcd")
	d.shows(`cannot go on without "w\x1b[2Jest", gone from the federation or back with another key: withdraw it and propose anew`, "gone")
	d.run(cli.ExitBad, "show nothing")
	d.says(`no study "nothing"`)
	d.run(cli.ExitBad, "show theirs --proposal")
	d.says("no copy of its proposal")

	d.run(cli.ExitFailure, "watch theirs")
	d.says("the study ended without a result: expired")
	d.hub.Set(func() { d.hub.Told[2].Phase = wire.PhaseCompleted })
	d.run(cli.ExitOK, "watch house --json")
	d.shows(`"status":"completed"`)

	d.run(cli.ExitBad, "withdraw theirs --yes")
	d.says("is not yours: grace proposed it")
	d.run(cli.ExitBad, "withdraw weights --yes")
	d.says("give its whole digest")
	d.run(cli.ExitBad, "withdraw weights")
	d.says("stdin is not a terminal")
	if len(d.hub.Withdrawn) != 0 {
		t.Fatal("withdrawn without a yes")
	}
	d.run(cli.ExitOK, "withdraw "+proposal.Digest{0xab, 0xcd}.String()+" --yes")
	if len(d.hub.Withdrawn) != 1 || d.hub.Withdrawn[0] != (proposal.Digest{0xab, 0xcd}) {
		t.Errorf("%v", d.hub.Withdrawn)
	}
	d.hub.Set(func() { d.hub.Told[0].Phase = wire.PhaseEnded })
	d.run(cli.ExitBad, "withdraw weights")
	d.says("is over")
}

// TestResultIsCheckedFirst: a file is made of a result that verifies and of no other, and none is
// replaced.
func TestResultIsCheckedFirst(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("..", "..", "internal", "result", "testdata", "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := result.Verify(file)
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t)
	command := "result " + v.Digest.String() + " --out result.json"
	absent := func() {
		t.Helper()
		if _, err := os.Lstat("result.json"); err == nil {
			t.Error("a result that was refused is written")
		}
		if d.out.Len() > 0 {
			t.Errorf("printed: %.80s", d.out.String())
		}
	}
	d.run(cli.ExitBad, command)
	d.says("no result of study")
	d.hub.Set(func() {
		d.hub.Told = []wire.Told{{Study: v.Digest, Name: "over", Phase: wire.PhaseEnded, Code: study.CodeRejected}}
	})
	for _, ref := range []string{v.Digest.String(), "over"} {
		d.run(cli.ExitFailure, "result "+ref)
		d.says("has no result: it ended (rejected)")
	}
	d.hub.Set(func() { d.hub.Told = nil })
	d.hub.File = bytes.Replace(file, []byte(`"name": "`), []byte(`"name": "x`), 1)
	d.run(cli.ExitFailure, command)
	absent()
	d.run(cli.ExitFailure, "result "+v.Digest.String()+" --json")
	absent()
	d.hub.Set(func() { d.hub.File = file })
	d.run(cli.ExitFailure, "result "+proposal.Digest{1}.String()+" --out result.json")
	d.says("the result of another study")
	absent()
	d.run(cli.ExitOK, command)
	d.says("with which nothing was proposed from this folder")
	if got, err := os.ReadFile("result.json"); err != nil || !bytes.Equal(got, file) {
		t.Errorf("written: %v", err)
	}
	d.run(cli.ExitBad, command)
	d.says("result.json")
	d.run(cli.ExitOK, "result "+v.Digest.String()+" --json")
	if !bytes.Equal(d.out.Bytes(), file) {
		t.Error("--json prints other bytes")
	}
	d.run(cli.ExitOK, "verify result.json")
}

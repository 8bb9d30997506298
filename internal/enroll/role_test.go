package enroll

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/pki"
	"covey/internal/wire"
	"covey/test/must"
	"covey/test/port"
)

// TestJoinOfAnotherRole: a join file is for the program of its role alone, and no other one shows
// its token to anybody.
func TestJoinOfAnotherRole(t *testing.T) {
	s, ctx := port.New(t), port.Bounded(t)
	analyst := Newcomer{Role: pki.RoleAnalyst, File: "analyst.toml", Sample: func(pki.Join) ([]byte, error) { return []byte("name = 1\n"), nil }}
	for _, c := range []struct {
		as   Newcomer
		file func(*pki.Join)
		says string
	}{
		{analyst, nil, "`agent join`"},
		{Site, func(j *pki.Join) { j.Site, j.Analyst = "", "ada" }, "`analyst join`"},
		{Site, func(j *pki.Join) { j.Site, j.Node = "", "two" }, "`coordinator init --join`"},
		{analyst, func(j *pki.Join) { j.Site, j.Node = "", "two" }, "`coordinator init --join`"},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		spent := len(s.Tokens)
		bad := must.As[*pki.JoinError](t, c.as.Join(ctx, s.Invite(t, c.file), dir, time.Now()))
		if !strings.Contains(bad.Error(), c.says) {
			t.Errorf("%v, want %s", bad, c.says)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("a folder was made")
		}
		if len(s.Tokens) != spent+1 {
			t.Error("the token was shown")
		}
	}
}

// TestRefusedProgram: who must upgrade is named by its own program's name.
func TestRefusedProgram(t *testing.T) {
	for role, want := range map[pki.Role]string{pki.RoleSite: "upgrade the agent", pki.RoleAnalyst: "upgrade the analyst"} {
		ours := wire.This("covey-" + programs[role])
		newer := wire.Version{Protocol: 1000, Oldest: 1000, Software: "covey-coordinator/9"}
		if err := wire.Agree(ours, newer); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", role, err)
		}
	}
}

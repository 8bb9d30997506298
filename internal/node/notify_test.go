package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/notify"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// What is told of a study follows from its state; a deadline that passed, or an expiry within a
// day, makes it overdue.
func TestStudyFacts(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		view outline.View
		want string
	}{
		"proposed":      {outline.View{Status: round.StatusProposed}, "proposed"},
		"expires late":  {outline.View{Status: round.StatusProposed, Expires: now.Add(25 * time.Hour)}, "proposed"},
		"expires soon":  {outline.View{Status: round.StatusProposed, Expires: now.Add(23 * time.Hour)}, "proposed overdue"},
		"running":       {outline.View{Status: round.StatusRunning}, "proposed"},
		"late":          {outline.View{Status: round.StatusRunning, Overdue: true}, "proposed overdue"},
		"completed":     {outline.View{Status: round.StatusCompleted}, "proposed completed"},
		"ended in time": {outline.View{Status: round.StatusEnded, Expires: now, Code: study.CodeAborted}, "proposed ended"},
	} {
		c.view.Name, c.view.Digest = "heart", proposal.Digest{1}
		var got []string
		for _, f := range studyFacts([]outline.View{c.view}, now) {
			if f.Name != "heart" || f.Study != c.view.Digest.String() {
				t.Errorf("%s: %+v", name, f)
			}
			got = append(got, string(f.Event))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A certificate that nobody renewed is told of, by the clock; and a [[notify]] that cannot be is an
// error of the configuration that names its key.
func TestCertificateIsAFact(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	if err := Init(dir, Config{Listen: "127.0.0.1:0", Addresses: []string{"localhost:1"}}, time.Now()); err != nil {
		t.Fatal(err)
	}
	later := time.Duration(0)
	n, err := Open(dir, Options{Now: func() time.Time { return time.Now().Add(later) }})
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	if got := n.facts(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	later = 5 * 365 * 24 * time.Hour
	if got := n.facts(); len(got) != 1 || got[0].Event != notify.Expiring || got[0].Study != "" {
		t.Errorf("%+v", got)
	}
	path := filepath.Join(dir, ConfigFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, "\n[[notify]]\nwebhook = \"http://example.org\"\nkey_file = \"k\"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadConfig(dir); err == nil || !strings.Contains(err.Error(), "notify.webhook: http is for this machine alone") {
		t.Error(err)
	}
}

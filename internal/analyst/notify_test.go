package analyst

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/notify"
	"covey/internal/proposal"
	"covey/internal/wire"
	"covey/test/port"
)

// TestNotices: people hear once of what became of a study, of one that expires undecided, and of
// nothing while the coordinator does not answer. What was over before anybody was told is no news.
func TestNotices(t *testing.T) {
	var told []string
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var n struct{ Event, Study, Name string }
		if err := json.Unmarshal(body, &n); err != nil || n.Name != "" || r.Header.Get("Covey-Signature") == "" {
			t.Errorf("%s, %v", body, err)
		}
		told = append(told, n.Event+" "+n.Study)
	}))
	defer receiver.Close()
	h, ctx := port.NewHub(t), port.Bounded(t)
	old, one, two := proposal.Digest{1}, proposal.Digest{2}, proposal.Digest{3}
	h.Told = []wire.Told{{Study: old, Name: "old", Phase: wire.PhaseCompleted}}
	c := join(t, h)
	if err := os.WriteFile(filepath.Join(c.dir, "notify.key"), make([]byte, 32), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if _, err := c.Notices(log); err == nil {
		t.Error("without a receiver there is somebody to tell")
	}
	c.config.Notify = []notify.Target{{Webhook: receiver.URL, KeyFile: "notify.key"}}
	n, err := c.Notices(log)
	if err != nil {
		t.Fatal(err)
	}
	step := func(n *Notices, want ...string) {
		t.Helper()
		told = nil
		if err := n.Step(ctx); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(told); !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	}
	step(n)
	now := c.now()
	h.Told = append(h.Told, wire.Told{Study: one, Name: "one", Phase: wire.PhaseProposed, Expires: now.Add(23 * time.Hour)},
		wire.Told{Study: two, Name: "two", Phase: wire.PhaseProposed, Expires: now.Add(48 * time.Hour)})
	step(n, "overdue "+one.String()[:12], "proposed "+one.String()[:12], "proposed "+two.String()[:12])
	step(n)
	// A restart repeats nothing.
	if n, err = c.Notices(log); err != nil {
		t.Fatal(err)
	}
	h.Told[1].Phase, h.Told[2].Phase = wire.PhaseEnded, wire.PhaseCompleted
	step(n, "completed "+two.String()[:12], "ended "+one.String()[:12])
	step(n)
	h.Fails = status.Error(codes.Internal, "no")
	if err := n.Step(ctx); err == nil {
		t.Error("a coordinator that cannot be asked is no error")
	}
}

package fed

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"covey/internal/agent"
	"covey/internal/chain"
	"covey/internal/outline"
	"covey/internal/round"
	"covey/test/lines"
	"covey/test/network"
)

// TestRestoredCoordinator: CH-3, CH-7. A coordinator that was put back to a backup from before a
// study has no answer from the sites that took part in it, which say so, until each site's operator
// accepts its chain; then the next study goes on to its end. Sites that did not know of that study
// would not have noticed.
func TestRestoredCoordinator(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o, log := small(), &lines.Log{}
		o.Network, o.Agent = &network.Pipes{}, func(_ *Part, a *agent.Options) { a.Logger = slog.New(slog.NewTextHandler(log, nil)) }
		f := Start(t, dir, o)
		if v := f.Finish(f.Propose(spec("first"))); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		c := f.Nodes[0]
		backup := c.Dir + ".backup"
		f.Must(c.Stop())
		f.Must(errors.Join(os.Rename(c.Dir, backup), os.CopyFS(c.Dir, os.DirFS(backup)), closed(c.Dir)))
		f.Must(c.Start())
		if v := f.Finish(f.Propose(spec("lost"))); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		f.Must(c.Stop())
		f.Must(errors.Join(os.RemoveAll(c.Dir), os.Rename(backup, c.Dir)))
		f.Must(c.Start())
		f.Await("sites are shown the chain with no study under way", func() bool {
			return !slices.ContainsFunc(f.Sites, func(s *Part) bool {
				v, err := s.Agent().Chain.View()
				return err != nil || v.Shown == nil || v.Broken == ""
			})
		})
		next := f.Propose(spec("next"))
		f.Await("the sites find the chain broken", func() bool { return log.Count("DOES NOT EXTEND") >= 3 })
		if v := f.When(next, func(v outline.View) bool { return len(v.Waiting) == 3 }); v.Status != round.StatusRunning || v.Released != 0 {
			t.Fatalf("%+v", v)
		}
		var shown []chain.Head
		for _, s := range f.Sites {
			v, err := s.Agent().Chain.View()
			f.Must(err)
			if v.Broken == "" || v.Kept.Head == v.Shown.Head {
				t.Errorf("%s: %+v", s.Name, v)
			}
			shown = append(shown, v.Shown.Head)
			_, err = s.Agent().Chain.Accept(v.Shown.Link)
			f.Must(err)
		}
		if len(slices.Compact(shown)) != 1 {
			t.Errorf("the sites are shown %v", shown)
		}
		if v := f.Finish(next); v.Status != round.StatusCompleted {
			t.Errorf("%+v", v)
		}
		if n := log.Count("DOES NOT EXTEND"); n != 3 || log.Count("the operator accepts") != 3 {
			t.Errorf("%d times the chain was broken", n)
		}
	})
}

// closed takes a copied folder from everybody else.
func closed(dir string) error {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		if !e.IsDir() {
			err = errors.Join(err, os.Chmod(filepath.Join(dir, e.Name()), 0o600))
		}
	}
	return errors.Join(err, os.Chmod(dir, 0o700))
}

//go:build failpoint

package sim

import (
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"covey/internal/failpoint"
	"covey/internal/proposal"
	"covey/internal/round"
)

// entryTrap kills a coordinator at an entry of a query.
func entryTrap(kind round.EntryKind, query int, phase failpoint.Phase, do func(p *process) error) *trap {
	return &trap{point: failpoint.Log, phase: phase, do: do, match: func(e failpoint.Event) bool {
		var line struct{ Round *round.Entry }
		return json.Unmarshal(e.Data, &line) == nil && line.Round != nil && line.Round.Kind == kind && line.Round.Query == query
	}}
}

// restart starts a killed process after its last goroutine and before, if given.
func (w *faults) restart(t *testing.T, p *process, before func() error) {
	w.work.Go(func() {
		p.gone()
		if before != nil {
			if err := before(); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Second)
		if err := p.start(); err != nil {
			t.Error(err)
		}
	})
}

// steps at which a backup is taken: each entry of the second query, before and after. In a study
// that waits none commits survivors by itself.
func backups(onDropout string) []cell {
	var out []cell
	for _, kind := range []round.EntryKind{round.EntryPrepared, round.EntrySurvivors, round.EntryOpening, round.EntryReleased} {
		if kind == round.EntrySurvivors && onDropout == proposal.DropoutWait {
			continue
		}
		for _, phase := range []failpoint.Phase{failpoint.Before, failpoint.After} {
			out = append(out, cell{"leader", string(kind), "restore", phase})
		}
	}
	return out
}

// TestO6RestoredBackup: the coordinator is stopped at a step of a query, its folder copied, and
// started; it goes on to a later step, is stopped again, and the copy put back: a
// machine restored from its backup. In between one site was cut off, where the study goes on
// without it, so that what the restored coordinator would choose by itself is another U. No second
// value, no second opening, and the study goes on to its end (docs/protocol.md).
func TestO6RestoredBackup(t *testing.T) {
	for _, onDropout := range []string{proposal.DropoutContinue, proposal.DropoutWait} {
		t.Run(onDropout, func(t *testing.T) { restoredBackups(t, onDropout) })
	}
}

func restoredBackups(t *testing.T, onDropout string) {
	for i, taken := range backups(onDropout) {
		for j, lost := range backups(onDropout) {
			// The same write is met again only if it was not durable.
			// setup needs every site
			if j < i || j == i && taken.phase == failpoint.After || i == 0 {
				continue
			}
			name := taken.step + "-" + string(taken.phase) + "/" + lost.step + "-" + string(lost.phase)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				restored := false
				r := Run{
					Options: Options{Seed: uint64(i*10 + j), Dir: dir, Coordinators: 1, Sites: 4}, Studies: 1, Quiet: true,
					Spec: func(_ int, s *proposal.Spec) {
						s.OnDropout, s.Rounds, s.Radius = onDropout, 3, "3"
						// Shorter than some sites take to come back.
						s.Deadlines.Round = proposal.Duration(2 * time.Second)
					},
				}
				query := func(c cell) int {
					if c.step == string(round.EntryPrepared) {
						return 0
					}
					return 1
				}
				r.before = func(f *Federation, w *faults, _ int) {
					p := f.nodes[0]
					backup := p.Dir + ".backup"
					second := entryTrap(round.EntryKind(lost.step), query(lost), lost.phase, func(p *process) error {
						f.net.Heal()
						p.kill()
						w.restart(t, p, func() error {
							restored = true
							return errors.Join(os.RemoveAll(p.Dir), os.Rename(backup, p.Dir))
						})
						return errKilled
					})
					first := entryTrap(round.EntryKind(taken.step), query(taken), taken.phase, func(p *process) error {
						p.kill()
						if i < 4 && onDropout == proposal.DropoutContinue { // else a committed opening waits for the site
							f.net.Block(f.agents[3].Host, p.Host)
							f.net.Block(p.Host, f.agents[3].Host)
						}
						w.restart(t, p, func() error {
							if err := os.CopyFS(backup, os.DirFS(p.Dir)); err != nil {
								return err
							}
							p.arm(second)
							return chmodKeys(backup)
						})
						return errKilled
					})
					p.arm(first)
				}
				out := do(t, r)
				if !restored {
					t.Error("the backup was never restored")
				}
				if out.Completed != 1 {
					t.Errorf("the study did not complete: ended %v", out.Ended)
				}
			})
		}
	}
}

// chmodKeys makes a copied folder's files 0600, as a copy by hand would keep them.
func chmodKeys(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			if err := os.Chmod(dir+"/"+e.Name(), 0o600); err != nil {
				return err
			}
		}
	}
	return os.Chmod(dir, 0o700)
}

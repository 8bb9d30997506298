package secagg

import (
	"crypto/sha256"
	"errors"
	"slices"
	"testing"
)

func (g *group) confirmations() [][]byte {
	var out [][]byte
	for i, key := range g.keys {
		out = append(out, g.setup.Confirm(key, i))
	}
	return out
}

// TestRestore: confirmed announcements give the same setup as checked ones, and any other
// bytes, or a confirmation less, none.
func TestRestore(t *testing.T) {
	g := sharedGroup(t, 5)
	all := g.confirmations()
	s, err := Restore(g.cfg, g.sent, nil, all)
	if err != nil {
		t.Fatal(err)
	}
	if s.Transcript() != g.setup.Transcript() {
		t.Error("another transcript")
	}
	for i := range s.sites {
		for slot := range g.cfg.Slots {
			for k := range g.cfg.Quorum {
				if s.sites[i].m[slot][k].Equal(&g.setup.sites[i].m[slot][k]) != 1 || s.sites[i].b[slot][k].Equal(&g.setup.sites[i].b[slot][k]) != 1 {
					t.Fatalf("point %d of slot %d of site %d is another", k, slot, i)
				}
			}
		}
	}
	for name, confirmations := range map[string][][]byte{
		"none":          nil,
		"one less":      all[:4],
		"an empty one":  replace(all, 2, nil),
		"another's":     replace(all, 2, all[3]),
		"a flipped one": replace(all, 4, flip(all[4], 3)),
	} {
		if _, err := Restore(g.cfg, g.sent, nil, confirmations); err == nil {
			t.Errorf("%s: restored", name)
		}
	}
	// A point that every site would have refused, signed by its own site: nobody has
	// confirmed that transcript.
	points := len(g.cfg.header(0)) + 32
	bad := g.resign(1, func(b []byte) { copy(b[points:], torsion(t).Bytes()) })
	_, err = Restore(g.cfg, bad, nil, all)
	if e, ok := errors.AsType[*SiteError](err); !ok || e.Site != 0 {
		t.Errorf("announcements that nobody confirmed: %v", err)
	}
	if _, err := Restore(g.cfg, replace(g.sent, 3, flip(g.sent[3], 200)), nil, all); err == nil {
		t.Error("a changed announcement was restored")
	}
	other := g.cfg
	other.Study = sha256.Sum256([]byte("another"))
	if _, err := Restore(other, slices.Clone(g.sent), nil, all); err == nil {
		t.Error("another study's announcements were restored")
	}
}

func BenchmarkRestore(b *testing.B) {
	g := newGroup(b, 16, 20)
	all := g.confirmations()
	b.Run("Verify", func(b *testing.B) {
		for b.Loop() {
			if _, err := Verify(g.cfg, g.sent); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Restore", func(b *testing.B) {
		for b.Loop() {
			if _, err := Restore(g.cfg, g.sent, nil, all); err != nil {
				b.Fatal(err)
			}
		}
	})
}

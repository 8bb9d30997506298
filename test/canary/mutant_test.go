//go:build linux

package canary

import (
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/overlay"
)

type edit = overlay.Edit

// mutants are builds that let something out; each must be found where it says, as what it says.
var mutants = []struct {
	name        string
	noise       string
	edits       []edit
	where, what string
}{
	{"a slot's secret in an agent's log", proposal.NoiseCentral, []edit{
		{"internal/responder/upload.go", "	sum, err := q.added(ask)\n", "	q.s.log.Info(\"slot\", \"secret\", own[:])\n	sum, err := q.added(ask)\n"},
	}, "file site-", "'s secret of slot "},
	{"a site's exact sum in its log", proposal.NoiseCentral, []edit{
		{"internal/responder/upload.go", "	sum, err := q.added(ask)\n", "	sum, err := q.added(ask)\n	q.s.log.Info(\"added\", \"sum\", sum)\n"},
	}, "file site-", string(sum)},
	{"the opened sum on stderr", proposal.NoiseCentral, []edit{
		{"internal/aggregate/release.go", "	began()\n	values", "	began()\n	for _, v := range sum {\n		print(v, \" \")\n	}\n	values"},
	}, "file coordinator-", string(total)},
	{"the noise's key on stderr", proposal.NoiseCentral, []edit{
		{"internal/aggregate/release.go", "	noised, err := Privatize(p, ask, sum[:values]", "	print(string(key[:]))\n	noised, err := Privatize(p, ask, sum[:values]"},
	}, "file coordinator-", "the key of the noise"},
	{"an identity key in the hello", proposal.NoiseDistributed, []edit{
		{"internal/agent/hello.go", "import (\n", "import (\n	\"fmt\"\n"},
		{"internal/agent/hello.go", "	h := wire.Hello{Software: enroll.Software}\n", "	h := wire.Hello{Software: enroll.Software + fmt.Sprintf(\"%x\", a.identity.Seed())}\n"},
	}, "memory of coordinator-", "'s identity.key"},
	{"wrap keys that stay", proposal.NoiseCentral, []edit{
		{"internal/ledger/keys.go", "		if _, err := k.f.WriteAt(none[:], k.offset(i)); err != nil {", "		if _, err := k.f.ReadAt(none[:], k.offset(i)); err != nil {"},
	}, "", "wrap keys"},
}

// TestMutants builds each and runs a study on it, with -long. Without it, TestSearcherFinds plants
// what they let out, and here their edits must only fit the sources.
func TestMutants(t *testing.T) {
	found := 0
	for _, m := range mutants {
		if !*long {
			if _, err := overlay.Write(t.TempDir(), m.edits); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			_, k, leaks := canary(t, m.edits, m.noise)
			if m.where == "" {
				if k.seen[wrap] > 0 {
					found++
				} else {
					t.Error("not found")
				}
				return
			}
			for _, l := range leaks {
				if strings.HasPrefix(l.where, m.where) && strings.Contains(l.what, m.what) {
					t.Logf("%s holds %s, and %d more", l.where, l.what, len(leaks)-1)
					found++
					return
				}
			}
			t.Errorf("not found: %v", leaks)
		})
	}
	if *long {
		t.Logf("figure: %d planted leaks found", found)
	}
}

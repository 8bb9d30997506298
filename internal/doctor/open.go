package doctor

import (
	"fmt"
	"path/filepath"
	"slices"

	"covey/internal/pki"
	"covey/internal/siteconfig"
)

// open warns of a configuration, and of folders around it and the ledger, that other users of the
// machine may change. One who does decides what this site approves from the next start on.
func open(c *siteconfig.Config) (out []Finding) {
	var seen []string
	for _, path := range []string{c.File(), filepath.Dir(c.File()), c.DataDir(), c.LedgerDir()} {
		mode, others := pki.OpenToOthers(path)
		if !others || slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		out = append(out, Finding{Code: CheckFolder, Check: "the agent's folder", OK: true, Warning: true,
			Result: fmt.Sprintf("other users of this machine may change %s (mode %04o), and so what this site approves", path, mode), Do: "chmod o-w it"})
	}
	return out
}

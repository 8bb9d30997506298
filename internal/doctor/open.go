package doctor

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"covey/internal/pki"
	"covey/internal/siteconfig"
)

// open warns of a configuration, and of folders around it and the ledger, that other users of the
// machine may change: they could decide what this site approves from the next start on. A running
// agent does not read a configuration again that its group may change, either.
func open(c *siteconfig.Config) (out []Finding) {
	warn := func(format, path string, mode fs.FileMode, do string) {
		out = append(out, Finding{Code: CheckFolder, Check: "the agent's folder", OK: true, Warning: true, Result: fmt.Sprintf(format, path, mode), Do: do})
	}
	var seen []string
	for _, path := range []string{c.File(), filepath.Dir(c.File()), c.DataDir(), c.LedgerDir()} {
		mode, others := pki.OpenToOthers(path)
		switch {
		case slices.Contains(seen, path):
		case others:
			warn("other users of this machine may change %s (mode %04o), and so what this site approves", path, mode, "chmod o-w it")
		case path == c.File() && mode&0o022 != 0:
			warn("agent reload refuses %s, since its mode lets others write to it (%04o)", path, mode, "chmod go-w it")
		}
		seen = append(seen, path)
	}
	return out
}

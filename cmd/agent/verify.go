package main

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	shared "covey/cmd/internal/cli"
	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

type verifyCmd struct{ shared.Verify }

func (c *verifyCmd) Run(t *terminal) error {
	return c.Check(t.Terminal, func(v *study.Verified) (string, bool, error) { return onLedger(t, v) })
}

// onLedger compares with the ledger of the agent in t.dir, if one is there and at
// rest: the digest is of the proposal's exact bytes, so a study that was approved
// under it is the one in the file. A result that lists this site's key for a study
// that it never approved is refused.
func onLedger(t *terminal, v *study.Verified) (string, bool, error) {
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return "", false, nil // no agent's folder
	}
	dir := filepath.Join(config.DataDir(), "ledger")
	site, err := pki.LoadSite(config.DataDir())
	if _, stat := os.Stat(dir); err != nil || stat != nil {
		return "", false, nil // never ran; Open would make a ledger
	}
	l, err := ledger.Open(dir)
	if err != nil {
		t.Say("Not compared with this site's ledger (%v): see whether \"agent study list\" has the digest.", err)
		return "", false, nil
	}
	defer l.Close()
	here := ledger.Unknown
	for _, s := range l.Studies() {
		if s.Study == v.Digest {
			here = s.State
		}
	}
	approved := here == ledger.Approved || here == ledger.Finished
	mine := site.Identity().Public().(ed25519.PublicKey)
	listed := slices.ContainsFunc(v.Roster, func(m study.Member) bool { return mine.Equal(ed25519.PublicKey(m.Identity)) })
	if listed && !approved {
		return "", false, &study.VerifyError{What: "sites", Query: -1, Reason: fmt.Sprintf("this site is listed, and on its ledger the study is %q", here)}
	}
	return string(here), approved, nil
}

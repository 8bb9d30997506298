package main

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	shared "covey/cmd/internal/cli"
	"covey/internal/memory"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/siteconfig"
)

type verifyCmd struct{ shared.Verify }

func (c *verifyCmd) Run(t *terminal) error {
	memory.Pace() // a wide result is long
	return c.Check(t.Terminal, func(v *result.Verified) (string, string, error) { return onLedger(t, v) })
}

// onLedger compares with what the site of t.dir has on record, if that folder was named or is a
// site's. The digest covers the proposal's exact bytes, so a study that was approved under it is
// the one in the file, and its releases are those that the site was told. A result that lists this
// site's key for a study that it never approved is refused.
func onLedger(t *terminal, v *result.Verified) (string, string, error) {
	if _, err := os.Stat(filepath.Join(t.dir, siteconfig.File)); (t.dir == "." || t.dir == "") && err != nil {
		return "", "", nil // nobody named an agent's folder
	}
	config, err := siteconfig.Read(t.dir)
	if err != nil {
		return "", "", err
	}
	site, err := pki.LoadHolder(pki.RoleSite, config.DataDir())
	if err != nil {
		return "", "", err
	}
	h, why := held(t, v.Digest)
	if h == nil {
		t.Say("Not compared with this site's ledger: %s.", why)
		return "", "", nil
	}
	if h.Approved() {
		return string(h.State), "the proposal that this site approved", h.Check(v)
	}
	mine := site.Identity().Public().(ed25519.PublicKey)
	if slices.ContainsFunc(v.Roster, func(m proposal.Member) bool { return mine.Equal(ed25519.PublicKey(m.Identity)) }) {
		return "", "", &result.VerifyError{What: "sites", Query: -1, Reason: fmt.Sprintf("this site is listed, and on its ledger the study is %q", h.State)}
	}
	return string(h.State), "", nil
}

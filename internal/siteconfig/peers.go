package siteconfig

import (
	"crypto/ed25519"
	"path/filepath"

	"covey/internal/pki"
)

// FingerprintOf returns the form of a site's key that people compare.
func FingerprintOf(site *pki.Holder) string {
	return pki.Fingerprint(site.Identity().Public().(ed25519.PublicKey))
}

// PeersIn returns a policy's peers for sites whose data directories, root/NAME, are all on this
// machine, as in a demonstration. Keys that are not there are made; joining keeps them.
func PeersIn(root string, names ...string) (map[string]string, error) {
	peers := make(map[string]string, len(names))
	for _, name := range names {
		dir := filepath.Join(root, name)
		if err := pki.NewKeys(dir); err != nil {
			return nil, err
		}
		site, err := pki.LoadHolder(pki.RoleSite, dir)
		if err != nil {
			return nil, err
		}
		peers[name] = FingerprintOf(site)
	}
	return peers, nil
}

package runs

import (
	"crypto/ed25519"
	"crypto/sha256"
	"testing"

	"covey/internal/secagg"
	"covey/internal/study"
)

// Transcript is that of the setup of every made-up study.
var Transcript = sha256.Sum256([]byte("a made-up transcript"))

// Attest returns what sites with those keys sign of a study's setup and releases: confirmations by
// roster index, and a packed certificate of each release. One that no site would sign has none.
func Attest(t testing.TB, p *study.Plan, keys []ed25519.PrivateKey, releases []study.Release) (confirmations, certificates [][]byte) {
	t.Helper()
	setup, err := secagg.NewWitness(p.Setup(), Transcript)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		confirmations = append(confirmations, setup.Confirm(i, key))
	}
	for _, r := range releases {
		signed := make([][]byte, len(keys))
		if q := r.Query; q >= 0 && q < len(p.Queries) {
			for i, key := range keys {
				signed[i], _ = setup.SignRelease(i, key, p.Summed(Transcript, r.Ask()), r.Survivors)
			}
		}
		certificates = append(certificates, setup.Pack(signed))
	}
	return confirmations, certificates
}

package hostile

import (
	"crypto/ed25519"

	"covey/internal/pki"
	"covey/internal/study"
)

// colluding is a certificate of a release by all sites but the one that is told: what more than η
// corrupt sites can sign of a result that nobody opened.
func (w *world) colluding(told int, released []byte) []byte {
	r, err := study.ParseRelease(released)
	if err != nil || r.Query < 0 || r.Query >= len(w.plan.Queries) || w.Setup == nil {
		return nil
	}
	message := releaseBytes(w.Setup.Transcript(), w.plan.Summed(w.Setup.Transcript(), r.Ask()), r.Survivors)
	list := make([][]byte, w.n())
	for i := range list {
		if i != told {
			list[i] = ed25519.Sign(w.identity(i), message)
		}
	}
	return w.Setup.Pack(list)
}

// identity is a site's key, a real one's too: the checker's alone.
func (w *world) identity(i int) ed25519.PrivateKey {
	w.t.Helper()
	if p := w.party[i]; p != nil {
		return p.identity
	}
	holder, err := pki.LoadHolder(pki.RoleSite, w.agent(i).dir)
	if err != nil {
		w.t.Fatal(err)
	}
	return holder.Identity()
}

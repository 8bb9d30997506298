package corrupt

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"slices"
	"testing"

	"filippo.io/edwards25519"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestLyingDealer: the corrupt site commits to other secrets than it shares, and proves its shares
// all the same. No setup shows it. At the opening all helpers prove what they hold, nothing is
// opened, and the study ends with the site's name (A7).
func TestLyingDealer(t *testing.T) {
	inBubble(t, func(f *bubble) {
		d := f.played("another secret than is shared", nil, func(d proposal.Digest, plan *study.Plan) func(*covey.CoordinatorMessage) bool {
			cfg, key := plan.Setup(), f.proxy.site.Identity()
			secrets, err := secagg.NewSecrets(cfg)
			f.Must(err)
			var setup *secagg.Setup
			return func(m *covey.CoordinatorMessage) bool {
				switch b := m.GetBody().(type) {
				case *covey.CoordinatorMessage_Announce:
					said, err := secagg.Announce(cfg, mallory, secrets, key)
					f.Must(err)
					f.proxy.say(siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Announcement{Announcement: &covey.Announcement{
						Study: d[:], Signed: otherSecrets(cfg, secrets, said, key)}}}))
				case *covey.CoordinatorMessage_Deal:
					setup, err = secagg.Verify(cfg, b.Deal.GetAnnouncements())
					f.Must(err)
					boxes, err := setup.Deal(mallory, secrets, key, nil)
					f.Must(err)
					f.proxy.say(siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Boxes{Boxes: &covey.Boxes{Study: d[:], Boxes: boxes}}}))
				case *covey.CoordinatorMessage_Confirm:
					r, err := setup.Receive(mallory, secrets, key, b.Confirm.GetBoxes(), nil)
					f.Must(err)
					f.proxy.say(siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Confirmation{Confirmation: &covey.Confirmation{
						Study: d[:], Signature: r.Confirmation, Deposits: r.Deposits, Statement: r.Statement}}}))
				case *covey.CoordinatorMessage_Query:
					q := b.Query
					f.proxy.say(siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{
						Study: d[:], Query: q.GetQuery(), Slot: q.GetSlot(), Masked: make([]byte, plan.Queries[q.GetQuery()].Lanes*int(plan.Bits)/8)}}}))
				case *covey.CoordinatorMessage_Proposal:
					return true
				}
				return false
			}
		})
		f.ended(d, study.CodeBadDealer)
		if v := f.node.Coordinator.View(d); v.Released != 0 {
			t.Errorf("%d releases", v.Released)
		}
		f.proxy.act(nil)
		f.proxy.tell(truth)
		f.completed(f.study("honest", nil))
	})
}

// otherSecrets makes an announcement commit to other values of b than its site shares, and to the
// same shares, so that these still prove: its combination is made for the new challenge.
func otherSecrets(cfg secagg.Config, sec secagg.Secrets, said []byte, key ed25519.PrivateKey) []byte {
	out := bytes.Clone(said[:len(said)-ed25519.SignatureSize])
	header, seal := sha256.Sum256(out[:transportAt]), sha256.Sum256(out[transportAt+32:][:1184])
	secrets := out[transportAt+32+1184:][:64*cfg.Slots]
	places := out[transportAt+32+1184+64*cfg.Slots:][:32*len(cfg.Identity)]
	p := out[len(out)-32*cfg.Quorum:]
	scalar := func(wide []byte, err error) *edwards25519.Scalar {
		s, no := edwards25519.NewScalar().SetUniformBytes(wide)
		if err != nil || no != nil {
			panic("64 bytes are reduced")
		}
		return s
	}
	u16 := func(v int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(v)) }
	u32 := func(v int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }
	challenge := func() *edwards25519.Scalar {
		h := sha512.Sum512(slices.Concat([]byte("covey secagg challenge v2\x00"), header[:], out[transportAt:][:32], seal[:], secrets, u16(len(cfg.Identity)), places))
		return scalar(h[:], nil)
	}
	before := challenge()
	for slot := range cfg.Slots {
		secrets[64*slot] ^= 1 // the hash of another number, or of none
	}
	after := challenge()
	for k := range cfg.Quorum {
		c, err := edwards25519.NewScalar().SetCanonicalBytes(p[32*k:][:32])
		if err != nil {
			panic(err) // it was announced
		}
		old, now := before, after
		for slot, z := range sec.Slots {
			for _, kind := range []string{"b", "e"} {
				info := slices.Concat([]byte("covey secagg v2 "+kind+"\x00"), u32(slot), u16(mallory), u16(k))
				f := scalar(hkdf.Key(sha256.New, z[:], nil, string(info), 64))
				c.Add(c, edwards25519.NewScalar().Multiply(f, edwards25519.NewScalar().Subtract(now, old)))
				old, now = edwards25519.NewScalar().Multiply(old, before), edwards25519.NewScalar().Multiply(now, after)
			}
		}
		copy(p[32*k:], c.Bytes())
	}
	return append(out, ed25519.Sign(key, out)...)
}

package corrupt

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestDeposits: the corrupt site deposits other keys than it checked, under a right signature, and
// drops out of every sum. Each is opened with the keys of the survivors, is right, and the site is
// named (A60).
func TestDeposits(t *testing.T) {
	inBubble(t, func(f *bubble) {
		d := f.played("deposits", nil, func(_ proposal.Digest, plan *study.Plan) func(*covey.CoordinatorMessage) bool {
			var setup *secagg.Setup
			var boxes [][]byte
			f.proxy.tell(func(m *covey.SiteMessage) []*covey.SiteMessage {
				if m.GetUpload() != nil {
					return nil
				}
				if c := m.GetConfirmation(); c != nil {
					for i := 0; i < len(c.Deposits); i += 32 {
						c.Deposits[i] ^= 1
					}
					c.Statement = statement(f.proxy.site.Identity(), setup, plan.Slots, boxes, c.GetDeposits())
				}
				return truth(m)
			})
			return func(m *covey.CoordinatorMessage) bool {
				var err error
				switch b := m.GetBody().(type) {
				case *covey.CoordinatorMessage_Deal:
					setup, err = secagg.Verify(plan.Setup(), b.Deal.GetAnnouncements())
					f.Must(err)
				case *covey.CoordinatorMessage_Confirm:
					boxes = b.Confirm.GetBoxes()
				}
				return true
			}
		})
		v, releases := f.completed(d)
		for _, r := range releases {
			if slices.Contains(r.Survivors, mallory) {
				t.Errorf("query %d is over %v", r.Query, r.Survivors)
			}
		}
		got := f.faults(v)
		if got = slices.Compact(got); !slices.Equal(got, []study.Code{study.CodeWrongDeposit}) {
			t.Errorf("caught at %v", got)
		}
	})
}

// statement is what the corrupt site signs of its deposits, over the tags that it was sent.
func statement(key ed25519.PrivateKey, s *secagg.Setup, slots int, boxes [][]byte, deposits []byte) []byte {
	senders, transcript := s.Graph().Senders(mallory), s.Transcript()
	tags, of := sha256.New(), sha256.Sum256(deposits)
	for _, o := range s.Graph().Owners(mallory) {
		box := boxes[slices.Index(senders, o)]
		end := len(box) - ed25519.SignatureSize
		h := sha256.Sum256(box[end-32*slots : end])
		tags.Write(h[:])
	}
	return ed25519.Sign(key, slices.Concat([]byte("covey secagg deposits v2\x00"), transcript[:], binary.BigEndian.AppendUint16(nil, mallory), tags.Sum(nil), of[:]))
}

package corrupt

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestSetup: a site that spoils a study's setup, in each way that there is. Where it can be told
// from an honest one the study ends and names it (A1, A2, R20), also where an honest site alone
// could open what it sent; where it only says nothing, or nothing of the right form, the status
// names whom everybody waits for, and an operator ends the study. Nothing is charged: a setup opens
// nothing.
func TestSetup(t *testing.T) {
	if testing.Short() {
		t.Skip("several fleets of processes")
	}
	inBubble(t, func(f *bubble) {
		key := f.proxy.site.Identity()
		announcement := func(change func([]byte) []byte) lie {
			return func(m *covey.SiteMessage) []*covey.SiteMessage {
				if a := m.GetAnnouncement(); a != nil {
					a.Signed = change(a.GetSigned())
				}
				return truth(m)
			}
		}
		boxes := func(change func([][]byte) [][]byte) lie {
			return func(m *covey.SiteMessage) []*covey.SiteMessage {
				if b := m.GetBoxes(); b != nil {
					b.Boxes = change(b.GetBoxes())
				}
				return truth(m)
			}
		}
		// signed puts a right signature under what the site made of its announcement.
		signed := func(change func(body []byte)) lie {
			return announcement(func(a []byte) []byte {
				body := bytes.Clone(a[:len(a)-ed25519.SignatureSize])
				change(body)
				return append(body, ed25519.Sign(key, body)...)
			})
		}
		for _, c := range []struct {
			name string
			lie  lie
			code study.Code // of the end; "" where the study waits
			// fault is what the site is caught at where the study waits.
			fault study.Code
		}{
			{"an announcement with one bit changed", announcement(func(a []byte) []byte { a[len(a)-100] ^= 1; return a }), study.CodeBadAnnouncement, ""},
			{"an announcement cut short", announcement(func(a []byte) []byte { return a[:len(a)-1] }), study.CodeBadAnnouncement, ""},
			{"an empty announcement", announcement(func([]byte) []byte { return []byte{1} }), study.CodeBadAnnouncement, ""},
			{"a combination that is no number, signed", signed(func(b []byte) { fill(b[len(b)-32:], 0xff) }), study.CodeBadAnnouncement, ""},
			{"a transport key of small order, signed", signed(func(b []byte) { fill(b[transportAt:][:32], 0) }), study.CodeBadAnnouncement, ""},
			{"an ML-KEM key that is none, signed", signed(func(b []byte) { fill(b[transportAt+32:][:64], 0xff) }), study.CodeBadAnnouncement, ""},
			{"another study's header, signed", signed(func(b []byte) { b[60] ^= 1 }), study.CodeBadAnnouncement, ""},
			{"a box with one bit changed", boxes(func(b [][]byte) [][]byte { b[1][20] ^= 1; return b }), "", study.CodeBadBox},
			{"two boxes exchanged", boxes(func(b [][]byte) [][]byte { b[0], b[1] = b[1], b[0]; return b }), "", study.CodeBadBox},
			{"an empty box", boxes(func(b [][]byte) [][]byte { b[2] = nil; return b }), "", study.CodeBadBox},
			{"too few boxes", boxes(func(b [][]byte) [][]byte { return b[:2] }), "", study.CodeBadBox},
			{"thousands of boxes", boxes(func(b [][]byte) [][]byte { return make([][]byte, 9000) }), "", study.CodeBadBox},
			{"a confirmation of something else", func(m *covey.SiteMessage) []*covey.SiteMessage {
				if c := m.GetConfirmation(); c != nil {
					c.Signature[0] ^= 1
				}
				return truth(m)
			}, "", study.CodeBadConfirmation},
			{"other deposits than it stated", func(m *covey.SiteMessage) []*covey.SiteMessage {
				if c := m.GetConfirmation(); c != nil {
					c.Deposits[0] ^= 1
				}
				return truth(m)
			}, "", study.CodeWrongDeposit},
			{"no announcement", quiet(func(m *covey.SiteMessage) bool { return m.GetAnnouncement() != nil }), "", ""},
			{"no boxes", quiet(func(m *covey.SiteMessage) bool { return m.GetBoxes() != nil }), "", ""},
			{"no confirmation", quiet(func(m *covey.SiteMessage) bool { return m.GetConfirmation() != nil }), "", ""},
			{"a refusal", func(m *covey.SiteMessage) []*covey.SiteMessage {
				if a := m.GetAnnouncement(); a != nil {
					m.Body = &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: a.GetStudy(), Code: covey.Code_CODE_DATA, Culprit: 1 << 30}}
				}
				return truth(m)
			}, study.CodeData, ""},
		} {
			f.proxy.tell(c.lie)
			d := f.study(c.name, nil)
			switch c.code {
			case "":
				f.When(d, func(v outline.View) bool { return v.Status == round.StatusSetup })
				time.Sleep(time.Minute) // of deadlines.round = 2 s
				v := f.node.Coordinator.View(d)
				if v.Status != round.StatusSetup || !slices.Equal(v.Waiting, f.sites[mallory:]) {
					t.Errorf("%s: %s %s, waiting for %v", c.name, v.Status, v.Code, v.Waiting)
				}
				if got := f.faults(v); c.fault != "" && !slices.Equal(got, []study.Code{c.fault}) || c.fault == "" && len(got) > 0 {
					t.Errorf("%s: caught at %v, want %q", c.name, got, c.fault)
				}
				f.Must(f.node.Coordinator.Abort(d))
				f.Finish(d)
			default:
				f.ended(d, c.code)
			}
			if v := f.node.Coordinator.View(d); v.Rho != 0 || v.Released != 0 {
				t.Errorf("%s: ρ = %g was charged", c.name, v.Rho)
			}
		}
		// What its receiver alone sees, and proves.
		for _, c := range []struct {
			name     string
			announce func(body []byte)
			deal     func(*secagg.SlotSecret)
		}{
			{"another combination than of what it deals", func(b []byte) { fill(b[len(b)-32:], 0) }, nil},
			{"a commitment to no site's shares", func(b []byte) { b[len(b)-32*(quorum+2)] ^= 1 }, nil},
			{"shares of other polynomials than were committed", nil, func(s *secagg.SlotSecret) { s[0] ^= 1 }},
		} {
			f.ended(f.played(c.name, nil, f.dealing(c.announce, c.deal)), study.CodeBadShare)
			f.proxy.act(nil)
		}
		// Its honest word still counts.
		f.proxy.tell(truth)
		f.completed(f.study("honest", nil))
	})
}

// dealing announces and deals in the agent's place, with right signatures, after a change of what
// it signs of its announcement, or of the first slot's secret in between.
func (f *bubble) dealing(announce func([]byte), deal func(*secagg.SlotSecret)) func(proposal.Digest, *study.Plan) func(*covey.CoordinatorMessage) bool {
	return func(d proposal.Digest, plan *study.Plan) func(*covey.CoordinatorMessage) bool {
		cfg := plan.Setup()
		secrets, err := secagg.NewSecrets(cfg)
		f.Must(err)
		key := f.proxy.site.Identity()
		return func(m *covey.CoordinatorMessage) bool {
			switch b := m.GetBody().(type) {
			case *covey.CoordinatorMessage_Announce:
				said, err := secagg.Announce(cfg, mallory, secrets, key)
				f.Must(err)
				if body := said[:len(said)-ed25519.SignatureSize]; announce != nil {
					announce(body)
					said = append(body, ed25519.Sign(key, body)...)
				}
				f.proxy.say(siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Announcement{Announcement: &covey.Announcement{Study: d[:], Signed: said}}}))
				return false
			case *covey.CoordinatorMessage_Deal:
				setup, err := secagg.Verify(cfg, b.Deal.GetAnnouncements())
				f.Must(err)
				if deal != nil {
					deal(&secrets.Slots[0])
				}
				boxes, err := setup.Deal(mallory, secrets, key, nil)
				f.Must(err)
				f.proxy.say(siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Boxes{Boxes: &covey.Boxes{Study: d[:], Boxes: boxes}}}))
				return false
			case *covey.CoordinatorMessage_Confirm:
				// the agent behind the proxy dealt nothing, and would say so before the others can
				// complain
				return false
			}
			return true
		}
	}
}

// transportAt is where the transport key is in an announcement: in front of all that is committed
// to.
const transportAt = len("covey secagg announcement v3") + 1 + len("complete") + 1 + 32 + 32 + 5*2 + 2

// quorum is q of five sites.
const quorum = 4

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// quiet says all but what is picked.
func quiet(pick func(*covey.SiteMessage) bool) lie {
	return func(m *covey.SiteMessage) []*covey.SiteMessage {
		if pick(m) {
			return nil
		}
		return truth(m)
	}
}

package hostile

import (
	"bytes"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// signed names what a release signature is on.
type signed struct {
	slot int
	ctx  [32]byte
	u    string
}

type uploaded struct {
	site   int
	ask    study.Ask
	masked []byte
}

// view is all that the coordinator was told by honest sites and can use.
type view struct {
	uploads    []uploaded
	shares     [][]byte
	keys       [][]byte // of pairs
	heard      [][]byte // all other messages
	signatures map[signed]map[int][]byte
	refusals   map[covey.Code]int
}

func (v *view) note(w *world, i int, m *covey.CoordinatorMessage, said []*covey.SiteMessage) {
	if v.signatures == nil {
		v.signatures, v.refusals = map[signed]map[int][]byte{}, map[covey.Code]int{}
	}
	for _, s := range said {
		switch b := s.GetBody().(type) {
		case *covey.SiteMessage_Upload:
			w.latest[i] = w.sending[i]
			v.upload(uploaded{i, w.latest[i], b.Upload.GetMasked()})
		case *covey.SiteMessage_Shares:
			v.shares = append(v.shares, b.Shares.GetShares())
			continue
		case *covey.SiteMessage_PairKeys:
			v.keys = append(v.keys, b.PairKeys.GetKeys())
			continue
		case *covey.SiteMessage_ReleaseSignature:
			if r := m.GetRelease(); r != nil {
				v.sign(signed{int(r.GetSlot()), w.secagg(w.latest[i]).Context, fmt.Sprint(ints(r.GetSurvivors()))}, i, b.ReleaseSignature.GetSignature())
			}
		case *covey.SiteMessage_Refusal:
			v.refusals[b.Refusal.GetCode()]++
			if r := b.Refusal; len(r.GetSignature()) > 0 && len(r.GetContext()) == 32 {
				v.sign(signed{int(r.GetSlot()), [32]byte(r.GetContext()), fmt.Sprint(ints(r.GetSurvivors()))}, i, r.GetSignature())
			}
		}
		raw, err := proto.Marshal(s)
		if err != nil {
			w.t.Fatal(err)
		}
		v.heard = append(v.heard, raw)
	}
}

// has reports whether a site's upload was seen before.
func (v *view) has(site int, a study.Ask, masked []byte) bool {
	return slices.ContainsFunc(v.uploads, func(u uploaded) bool {
		return u.site == site && u.ask.Slot == a.Slot && u.ask.Query == a.Query && bytes.Equal(u.masked, masked)
	})
}

func (v *view) upload(u uploaded) {
	if !v.has(u.site, u.ask, u.masked) {
		v.uploads = append(v.uploads, u)
	}
}

func (v *view) sign(s signed, site int, signature []byte) {
	if v.signatures[s] == nil {
		v.signatures[s] = map[int][]byte{}
	}
	v.signatures[s][site] = signature
}

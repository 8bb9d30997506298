package hostile

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"slices"
	"testing"

	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
	"covey/test/must"
)

// party is all that one site has: its identity key and its secrets of a study. The
// hostile coordinator holds those of the corrupt sites.
type party struct {
	index    int
	name     string
	identity ed25519.PrivateKey

	config  secagg.Config
	secrets secagg.Secrets
	whole   []byte   // announcement
	dealt   [][]byte // boxes, and in which setup
	dealtIn [32]byte
	held    secagg.Held
	stored  []byte // that it holds besides, and is not secret
}

func newParty(t testing.TB, name string) *party {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	return &party{name: name, identity: key}
}

func (p *party) public() ed25519.PublicKey { return p.identity.Public().(ed25519.PublicKey) }

// announce returns the party's announcement for a study.
func (p *party) announce(t testing.TB, config secagg.Config, index int) []byte {
	t.Helper()
	if p.whole != nil && p.config.Study == config.Study {
		return p.whole
	}
	p.config, p.index = config, index
	p.secrets = must.Get(secagg.NewSecrets(config))(t)
	p.whole = must.Get(secagg.Announce(config, index, p.secrets, p.identity))(t)
	return p.whole
}

// deal returns the party's boxes, always the same in one setup.
func (p *party) deal(t testing.TB, setup *secagg.Setup, seals [][]byte) [][]byte {
	t.Helper()
	if p.dealt != nil && p.dealtIn == setup.Transcript() {
		return p.dealt
	}
	p.dealt = must.Get(setup.Deal(p.index, p.secrets, p.identity, seals))(t)
	p.dealtIn = setup.Transcript()
	return p.dealt
}

// rules are what a site may be made to forget: with all of them false it keeps to the
// protocol.
type rules struct {
	signTwice    bool // signs every U of a slot (L6)
	fewSurvivors bool // signs and opens a U below U_min (A5)
	uncertified  bool // sends shares without a certificate (A6)
	openTwice    bool // sends shares for every (slot, U) of a query (L8)
	olderSlot    bool // sends shares for a slot before the latest it signed (L9)
	reuse        bool // masks every vector it is asked for, whatever the slot has masked (L4)
	bothKinds    bool // sends both kinds of every dealer (A6)
	keysAlways   bool // sends keys of pairs for any U, whatever its shares went out for (L8)
	keysInside   bool // and those of its pairs with survivors
}

// book is a site that keeps to the protocol by the letter of secagg, without a ledger: for
// rosters that are too large for agents, and, with a rule left out, for histories that the
// checker must see through.
type book struct {
	t     testing.TB
	w     *world
	p     *party
	rules rules

	setup   *secagg.Setup
	asks    map[int]study.Ask // by slot
	masked  map[int][]byte    // by slot
	signed  map[int][]int     // U by slot
	latest  int               // slot signed, -1
	shared  map[int]opened    // by query
	current study.Ask
}

type opened struct {
	slot int
	u    []int
	raw  []byte
}

func newBook(t testing.TB, w *world, p *party, r rules) *book {
	return &book{t: t, w: w, p: p, rules: r, latest: -1,
		asks: map[int]study.Ask{}, masked: map[int][]byte{}, signed: map[int][]int{}, shared: map[int]opened{}}
}

func (b *book) refuse(code covey.Code) []*covey.SiteMessage {
	id := b.w.plan.Digest
	return []*covey.SiteMessage{{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: id[:], Code: code}}}}
}

func (b *book) ask(m *covey.CoordinatorMessage) []*covey.SiteMessage {
	id := b.w.plan.Digest
	switch m := m.GetBody().(type) {
	case *covey.CoordinatorMessage_Query:
		return b.upload(b.w.sending[b.p.index])
	case *covey.CoordinatorMessage_Release:
		return b.sign(int(m.Release.GetSlot()), ints(m.Release.GetSurvivors()))
	case *covey.CoordinatorMessage_Open:
		return b.open(int(m.Open.GetSlot()), ints(m.Open.GetSurvivors()), m.Open.GetCertificate())
	case *covey.CoordinatorMessage_Keys:
		return b.keys(int(m.Keys.GetSlot()), ints(m.Keys.GetSurvivors()))
	case *covey.CoordinatorMessage_Announce:
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_Announcement{Announcement: &covey.Announcement{
			Study: id[:], Signed: b.p.announce(b.t, b.w.Config, b.p.index)}}}}
	}
	return nil
}

func ints(u []uint32) []int {
	out := make([]int, len(u))
	for i, v := range u {
		out[i] = int(v)
	}
	return out
}

func (b *book) upload(a study.Ask) []*covey.SiteMessage {
	if old, ok := b.asks[a.Slot]; ok && !sameAsk(old, a) && !b.rules.reuse {
		return b.refuse(covey.Code_CODE_PLAN_MISMATCH)
	}
	if b.masked[a.Slot] == nil || b.rules.reuse {
		q := b.w.secagg(a)
		v := b.w.vector(b.p.index, a)
		under := q
		if old, ok := b.asks[a.Slot]; ok { // the break: another vector under the first's masks
			under = b.w.secagg(old)
		} else {
			b.asks[a.Slot] = a
		}
		must.Do(b.t, b.setup.Mask(b.p.index, b.p.secrets.Slots[a.Slot], b.p.held[a.Slot], under, v))
		b.masked[a.Slot] = secagg.Pack(v, q.Bits)
	}
	b.current = a
	id := b.w.plan.Digest
	return []*covey.SiteMessage{{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{
		Study: id[:], Query: uint32(a.Query), Slot: uint32(a.Slot), Masked: b.masked[a.Slot]}}}}
}

func sameAsk(a, b study.Ask) bool {
	return a.Query == b.Query && a.Slot == b.Slot && slices.Equal(a.X, b.X) && slices.Equal(a.Center, b.Center) && a.Radius == b.Radius
}

func (b *book) sign(slot int, u []int) []*covey.SiteMessage {
	if held, ok := b.signed[slot]; ok && !slices.Equal(held, u) && !b.rules.signTwice {
		return b.refuse(covey.Code_CODE_HELD)
	}
	if s, ok := b.shared[b.current.Query]; ok && (s.slot != slot || !slices.Equal(s.u, u)) && !b.rules.openTwice {
		return b.refuse(covey.Code_CODE_HELD)
	}
	if b.current.Slot != slot || slot < b.latest && !b.rules.olderSlot {
		return b.refuse(covey.Code_CODE_OUT_OF_ORDER)
	}
	var signature []byte
	var err error
	if b.rules.fewSurvivors {
		signature = ed25519.Sign(b.p.identity, releaseBytes(b.setup.Transcript(), b.w.secagg(b.current), u))
	} else if signature, err = b.setup.SignRelease(b.p.index, b.p.identity, b.w.secagg(b.current), u); err != nil {
		return b.refuse(covey.Code_CODE_TOO_FEW_SURVIVORS)
	}
	b.signed[slot], b.latest = u, max(slot, b.latest)
	id := b.w.plan.Digest
	return []*covey.SiteMessage{{Body: &covey.SiteMessage_ReleaseSignature{ReleaseSignature: &covey.ReleaseSignature{
		Study: id[:], Query: uint32(b.current.Query), Slot: uint32(slot), Signature: signature}}}}
}

func (b *book) open(slot int, u []int, certificate [][]byte) []*covey.SiteMessage {
	if s, ok := b.shared[b.current.Query]; ok && (s.slot != slot || !slices.Equal(s.u, u)) && !b.rules.openTwice {
		return b.refuse(covey.Code_CODE_HELD)
	}
	if b.current.Slot != slot || slot < b.latest && !b.rules.olderSlot {
		return b.refuse(covey.Code_CODE_OUT_OF_ORDER)
	}
	q := b.w.secagg(b.current)
	if !b.rules.uncertified && b.setup.CheckCertificate(q, u, certificate) != nil {
		return b.refuse(covey.Code_CODE_BAD_CERTIFICATE)
	}
	raw := b.shares(q, u, false)
	out := [][]byte{raw}
	if b.rules.bothKinds {
		out = append(out, b.shares(q, u, true))
	}
	b.shared[b.current.Query] = opened{slot, u, raw}
	id := b.w.plan.Digest
	var said []*covey.SiteMessage
	for _, raw := range out {
		said = append(said, &covey.SiteMessage{Body: &covey.SiteMessage_Shares{Shares: &covey.Shares{
			Study: id[:], Query: uint32(b.current.Query), Slot: uint32(slot), Shares: raw}}})
	}
	return said
}

// shares are the shares for U, or those of the other kind.
func (b *book) shares(q secagg.Query, u []int, other bool) []byte {
	held, _ := b.holds(q.Slot)
	out := append([]byte(sharesLabel), releaseBytes(b.setup.Transcript(), q, u)...)
	out = append(out, u16(b.p.index)...)
	for k, at := range b.setup.Graph().Held(b.p.index) {
		kind := kindE
		if slices.Contains(u, at.Dealer) != other {
			kind = kindB
		}
		out = append(out, held[kind][32*k:][:32]...)
	}
	return out
}

// holds returns what it holds of a slot: shares by kind, and keys of pairs.
func (b *book) holds(slot int) (shares [2][]byte, keys []byte) {
	raw := must.Get(b.p.held[slot].MarshalBinary())(b.t)
	n := 32 * len(b.setup.Graph().Held(b.p.index))
	raw = raw[6:]
	shares[kindB], raw = raw[:n], raw[n:]
	if !b.w.Config.Whole() {
		shares[kindE], raw = raw[:n], raw[n:]
	}
	return shares, raw
}

// keys answers with the keys of its pairs with sites outside of U.
func (b *book) keys(slot int, u []int) []*covey.SiteMessage {
	s, ok := b.shared[b.current.Query]
	if !b.rules.keysAlways && (!ok || s.slot != slot || !slices.Equal(s.u, u) || slot < b.latest || !slices.Contains(u, b.p.index)) {
		return b.refuse(covey.Code_CODE_OUT_OF_ORDER)
	}
	if b.current.Slot != slot {
		return b.refuse(covey.Code_CODE_OUT_OF_ORDER)
	}
	_, held := b.holds(slot)
	g, self := b.setup.Graph(), b.p.index
	e := polynomial(b.p.secrets.Slots[slot], "e", slot, self, 1)[0]
	out := append([]byte(keysLabel), releaseBytes(b.setup.Transcript(), b.w.secagg(b.current), u)...)
	out = append(out, u16(self)...)
	for _, i := range g.Neighbors(self) {
		if slices.Contains(u, i) && !b.rules.keysInside {
			continue
		}
		if at := slices.Index(g.Owners(self), i); at >= 0 {
			out = append(out, held[32*at:][:32]...)
		} else {
			k := pairKey(e, b.setup.Transcript(), slot, self, i)
			out = append(out, k[:]...)
		}
	}
	id := b.w.plan.Digest
	return []*covey.SiteMessage{{Body: &covey.SiteMessage_PairKeys{PairKeys: &covey.PairKeys{
		Study: id[:], Query: uint32(b.current.Query), Slot: uint32(slot), Keys: out}}}}
}

// TestBookIsSecagg ties the shares and signatures that are made here by hand to secagg's.
func TestBookIsSecagg(t *testing.T) {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}, book: map[int]rules{0: {}, 1: {}, 2: {}}})
	w.begin()
	a, u := w.asking(0, 0, 1), []int{0, 1, 3}
	b := w.site[0].(*book)
	q := w.secagg(a)
	want, err := b.setup.CertifiedShares(0, b.p.secrets.Slots[0], b.p.held[0], q, u)
	if err != nil || !bytes.Equal(want, b.shares(q, u, false)) {
		t.Errorf("shares by hand are not secagg's: %v", err)
	}
	w.upload(0, a)
	w.shares(0, a, u, w.forgeAll(a, u))
	want, err = b.setup.Keys(0, b.p.secrets.Slots[0], b.p.held[0], q, u)
	if err != nil || !bytes.Equal(want, w.keys(0, a, u)) {
		t.Errorf("keys by hand are not secagg's: %v", err)
	}
	signature := ed25519.Sign(b.p.identity, releaseBytes(b.setup.Transcript(), q, u))
	if err := b.setup.CheckRelease(0, q, u, signature); err != nil {
		t.Error(err)
	}
}

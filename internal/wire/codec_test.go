package wire

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"covey/internal/chain"
	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

var id = proposal.Digest{1, 2, 3}

// messages holds one message of each kind, and what is on the wire.
func messages() []struct {
	m    Message
	wire proto.Message
} {
	d, list, u := id[:], [][]byte{{1}, {2, 3}}, []uint32{0, 2}
	setup, slot := Header{Study: id}, Header{Study: id, Query: 4, Slot: 5}
	type row = struct {
		m    Message
		wire proto.Message
	}
	tags := append(append([]byte{}, make([]byte, TagBytes)...), d[:TagBytes]...)
	return []row{
		{Hello{"a", []Dataset{{"rows", 1 << 63}}, []Tag{{}, TagOf(id)}, true, []Tag{TagOf(id)}, chain.Head{Number: 7, Link: chain.Link(id)}},
			&covey.Hello{Chain: 7, ChainHead: d, Software: "a", Datasets: []*covey.Dataset{{Name: "rows", Units: 1 << 63}}, Open: tags, AllOpen: true, Over: d[:TagBytes]}},
		{Decision{Header{Study: id}, study.VerdictRejected, study.CodeBudget, []byte{7}},
			&covey.Decision{Study: d, Verdict: covey.Verdict_VERDICT_REJECTED, Code: covey.Code_CODE_BUDGET, Signature: []byte{7}}},
		{Announcement{setup, []byte{7}}, &covey.Announcement{Study: d, Signed: []byte{7}}},
		{Nonce{setup, []byte{7}}, &covey.Nonce{Study: d, Nonce: []byte{7}}},
		{Boxes{setup, list}, &covey.Boxes{Study: d, Boxes: list}},
		{Confirmation{setup, []byte{7}, []byte{8}, []byte{9}}, &covey.Confirmation{Study: d, Signature: []byte{7}, Deposits: []byte{8}, Statement: []byte{9}}},
		{Recalled{setup, []byte{7}, []byte{8}}, &covey.Recalled{Study: d, Tags: []byte{7}, Deposits: []byte{8}}},
		{Upload{slot, []byte{7}}, &covey.Upload{Study: d, Query: 4, Slot: 5, Masked: []byte{7}}},
		{Signature{slot, []byte{7}}, &covey.ReleaseSignature{Study: d, Query: 4, Slot: 5, Signature: []byte{7}}},
		{Attestation{Header{Study: id}, []byte{7}}, &covey.Attestation{Study: d, Signature: []byte{7}}},
		{Attest{Header{Study: id}, []byte{7}, list, []byte{8}}, &covey.Attest{Study: d, Draft: []byte{7}, Approvals: list, Proposer: []byte{8}}},
		{Shares{slot, []byte{7}}, &covey.Shares{Study: d, Query: 4, Slot: 5, Shares: []byte{7}}},
		{Proof{slot, 3, []byte{7}}, &covey.Proof{Study: d, Query: 4, Slot: 5, Dealer: 3, Proof: []byte{7}}},
		{PairKeys{slot, []byte{7}}, &covey.PairKeys{Study: d, Query: 4, Slot: 5, Keys: []byte{7}}},
		{Refusal{slot, study.CodeHeld, 4, []byte{5}, []int{0, 2}, []byte{7}, &Final{Encoded: []byte{8}, Signature: []byte{9}, Certificate: []byte{10}}, true, []byte{6}, 7, []byte{5, 6}},
			&covey.Refusal{Study: d, Query: 4, Slot: 5, Code: covey.Code_CODE_HELD, Culprit: 4, Context: []byte{5}, Survivors: u,
				Signature: []byte{7}, Final: &covey.Final{Released: []byte{8}, Signature: []byte{9}, Certificate: []byte{10}}, Shared: true, Announcement: []byte{6}, Lacks: 7, Evidence: []byte{5, 6}}},
		{Proposal{[]byte("x"), []byte("y")}, &covey.Proposal{Body: []byte("x"), Signature: []byte("y")}},
		{Announce{setup}, &covey.Announce{Study: d}},
		{Reveal{setup, list}, &covey.Reveal{Study: d, Announcements: list}},
		{Deal{setup, list, list[1:], list[:1]}, &covey.Deal{Study: d, Announcements: list, Nonces: list[1:], Keys: list[:1]}},
		{Confirm{setup, list, list[1:]}, &covey.Confirm{Study: d, Boxes: list, Bodies: list[1:]}},
		{Confirmed{setup, list}, &covey.Confirmed{Study: d, Signatures: list}},
		{Recall{setup}, &covey.Recall{Study: d}},
		{Query{id, study.Ask{Query: 4, Slot: 5, History: id, X: []float64{1, 0}, Center: []float64{3}, Found: []float64{4}, Scale: []float64{5, 0}, Fill: []float64{6}, Deviations: []float64{7}, Radius: 0.5, Grid: 0.25, Sigma: 9}},
			&covey.Query{Study: d, Query: 4, Slot: 5, History: d, X: []float64{1, 0}, Center: []float64{3}, Found: []float64{4}, Scale: []float64{5, 0}, Fill: []float64{6}, Deviations: []float64{7}, Radius: 0.5, Grid: 0.25, Sigma: 9}},
		{Release{slot, []int{0, 2}}, &covey.Release{Study: d, Query: 4, Slot: 5, Survivors: u}},
		{Open{slot, []int{0, 2}, list}, &covey.Open{Study: d, Query: 4, Slot: 5, Survivors: u, Certificate: list}},
		{Prove{slot, []int{0, 2}, 4}, &covey.Prove{Study: d, Query: 4, Slot: 5, Survivors: u, Dealer: 4}},
		{Keys{slot, []int{0, 2}}, &covey.Keys{Study: d, Query: 4, Slot: 5, Survivors: u}},
		{Final{slot, []byte{7}, []byte{8}, []byte{9}}, &covey.Final{Study: d, Query: 4, Slot: 5, Released: []byte{7}, Signature: []byte{8}, Certificate: []byte{9}}},
		{Head{chain.Shown{Base: chain.Head{Number: 7, Link: chain.Link(id)}, Steps: []chain.Step{{1}, {2}}, Signature: []byte{8}}},
			&covey.Head{Base: 7, BaseHead: d, Steps: chain.Join([]chain.Step{{1}, {2}}), Signature: []byte{8}}},
		{Ended{Header{Study: id}, study.CodeRetriesSpent}, &covey.Ended{Study: d, Code: covey.Code_CODE_RETRIES_SPENT}},
	}
}

// outer serializes a generated body in its side's message.
func outer(t testing.TB, body proto.Message) []byte {
	t.Helper()
	for _, m := range []proto.Message{&covey.SiteMessage{}, &covey.CoordinatorMessage{}} {
		for _, f := range bodies(m) {
			if f.Message() == body.ProtoReflect().Descriptor() {
				m.ProtoReflect().Set(f, protoreflect.ValueOfMessage(body.ProtoReflect()))
				raw, err := proto.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				return raw
			}
		}
	}
	t.Fatalf("%T is of neither side", body)
	return nil
}

// bodies are the members of a message's body.
func bodies(m proto.Message) map[protoreflect.Name]protoreflect.FieldDescriptor {
	out := map[protoreflect.Name]protoreflect.FieldDescriptor{}
	fields := m.ProtoReflect().Descriptor().Oneofs().ByName("body").Fields()
	for i := range fields.Len() {
		out[fields.Get(i).Name()] = fields.Get(i)
	}
	return out
}

// ofSite tells a site's message from a coordinator's.
func ofSite(m Message) bool {
	for _, f := range bodies(&covey.SiteMessage{}) {
		if f.Message() == m.body().ProtoReflect().Descriptor() {
			return true
		}
	}
	return false
}

// TestMessages: every message of the proto file, and no other, is written as its text there has it
// and read back the same; the other end's decoder takes none of them for its own.
func TestMessages(t *testing.T) {
	missing := map[protoreflect.FullName]bool{}
	for _, side := range []proto.Message{&covey.SiteMessage{}, &covey.CoordinatorMessage{}} {
		for _, f := range bodies(side) {
			missing[f.Message().FullName()] = true
		}
	}
	for _, c := range messages() {
		delete(missing, c.wire.ProtoReflect().Descriptor().FullName())
		raw, err := Encode(c.m)
		if err != nil || !bytes.Equal(raw, outer(t, c.wire)) {
			t.Errorf("%T is written as %x (%v), want %x", c.m, raw, err, outer(t, c.wire))
		}
		mine, other := DecodeCoordinator, DecodeSite
		if ofSite(c.m) {
			mine, other = other, mine
		}
		if got, err := mine(raw); err != nil || !reflect.DeepEqual(got, c.m) {
			t.Errorf("%T: got %+v, %v, want %+v", c.m, got, err, c.m)
		}
		if got, err := other(raw); err == nil && reflect.DeepEqual(got, c.m) {
			t.Errorf("%T is read from the other side", c.m)
		}
	}
	for name := range missing {
		t.Errorf("no message here is a %s", name)
	}
}

func TestDecodeRefuses(t *testing.T) {
	big := uint32(math.MaxInt32) + 1
	for name, c := range map[string]struct {
		body proto.Message
		want error
	}{
		"short digest":            {&covey.Announce{Study: id[:31]}, ErrNoStudy},
		"head of a long link":     {&covey.Head{Base: 7, BaseHead: append(id[:], 0), Steps: chain.Join([]chain.Step{{1}})}, ErrHead},
		"head of torn steps":      {&covey.Head{Base: 7, BaseHead: id[:], Steps: chain.Join([]chain.Step{{1}})[1:]}, ErrHead},
		"head of too many steps":  {&covey.Head{Base: 7, BaseHead: id[:], Steps: chain.Join(make([]chain.Step, chain.MaxSteps+1))}, ErrHead},
		"no digest":               {&covey.Ended{}, ErrNoStudy},
		"big query":               {&covey.Query{Study: id[:], Query: big}, ErrNumber},
		"short history":           {&covey.Query{Study: id[:], History: id[:31]}, ErrHistory},
		"site's big lack":         {&covey.Refusal{Study: id[:], Lacks: big}, ErrNumber},
		"big survivor":            {&covey.Release{Study: id[:], Survivors: []uint32{big}}, ErrNumber},
		"big helper's survivor":   {&covey.Prove{Study: id[:], Survivors: []uint32{big}}, ErrNumber},
		"big dealer":              {&covey.Prove{Study: id[:], Dealer: big}, ErrNumber},
		"big survivor of keys":    {&covey.Keys{Study: id[:], Survivors: []uint32{big}}, ErrNumber},
		"site's short digest":     {&covey.Upload{Study: id[:31]}, ErrNoStudy},
		"site's no digest":        {&covey.Decision{}, ErrNoStudy},
		"site's big slot":         {&covey.Shares{Study: id[:], Slot: big}, ErrNumber},
		"site's big dealer":       {&covey.Proof{Study: id[:], Dealer: big}, ErrNumber},
		"site's big culprit":      {&covey.Refusal{Study: id[:], Culprit: big}, ErrNumber},
		"site's big survivor":     {&covey.Refusal{Study: id[:], Survivors: []uint32{big}}, ErrNumber},
		"site's half a tag":       {&covey.Hello{Open: make([]byte, TagBytes+1)}, ErrTags},
		"site's half a tag, over": {&covey.Hello{Over: make([]byte, TagBytes-1)}, ErrTags},
		"site's many tags":        {&covey.Hello{Open: make([]byte, maxTags+TagBytes)}, ErrTags},
	} {
		decode := DecodeCoordinator
		if name[:4] == "site" {
			decode = DecodeSite
		}
		if got, err := decode(outer(t, c.body)); !errors.Is(err, c.want) || got != nil {
			t.Errorf("%s: %T, %v", name, got, err)
		}
	}
	later := []byte{0xfa, 0x07, 0} // a body of a later version
	if _, err := DecodeCoordinator(later); err != ErrNoStudy {
		t.Errorf("a coordinator's message of a later version: %v", err)
	}
	if _, err := DecodeSite(later); err != ErrNoStudy {
		t.Errorf("a site's message of a later version: %v", err)
	}
	for _, raw := range [][]byte{nil, {0xff, 0xff}, {0xf8, 0x07, 1}} {
		if _, err := DecodeCoordinator(raw); err != ErrNotCoordinator {
			t.Errorf("%x: %v", raw, err)
		}
		if _, err := DecodeSite(raw); err != ErrNotSite {
			t.Errorf("%x: %v", raw, err)
		}
	}
}

// TestCodesHaveWireNames checks the mapping by name both ways, over all of the
// wire's codes: a code without a counterpart would reach the other side as another.
func TestCodesHaveWireNames(t *testing.T) {
	for number := range covey.Code_name {
		c := covey.Code(number)
		if c == covey.Code_CODE_UNSPECIFIED {
			continue
		}
		if back := wireCode(codeOf(c)); back != c {
			t.Errorf("%v comes back as %v", c, back)
		}
	}
	for _, c := range []study.Code{
		study.CodeNotApproved, study.CodeBudget, study.CodeData, study.CodeDataChanged, study.CodeUnknownStudy, study.CodePlanMismatch,
		study.CodeOutOfOrder, study.CodeHeld, study.CodeFinal, study.CodeBadAnnouncement, study.CodeBadShare, study.CodeBadConfirmation,
		study.CodeBadCertificate, study.CodeTooFewSurvivors, study.CodeStore, study.CodeInternal, study.CodeLeft, study.CodeRejected,
		study.CodeWithdrawn, study.CodeExpired, study.CodeUnit, study.CodeColumns, study.CodeFormat, study.CodeBadSignature, study.CodeTooMany, study.CodeBadBox, study.CodeBadDealer, study.CodeWrongDeposit,
	} {
		if wireCode(c) == covey.Code_CODE_UNSPECIFIED {
			t.Errorf("%q has no number", c)
		}
	}
	if codeOf(9999) != study.CodeInternal {
		t.Error("an unknown number is not internal")
	}
	for _, v := range []study.Verdict{study.VerdictPending, study.VerdictApproved, study.VerdictRejected} {
		if back := verdictOf(wireVerdict(v)); back != v || wireVerdict(v) == covey.Verdict_VERDICT_UNSPECIFIED {
			t.Errorf("%s comes back as %s", v, back)
		}
	}
	if verdictOf(9999) != study.VerdictPending {
		t.Error("what is no verdict is not pending")
	}
}

// TestEveryMessageNamesItsStudy: each message of either side but a hello, a proposal and a head has
// a field "study", and what it states is all that its fields state: a message whose study, query,
// slot and code are not on record could leave a site unseen.
func TestEveryMessageNamesItsStudy(t *testing.T) {
	for _, c := range messages() {
		fields := c.wire.ProtoReflect().Descriptor().Fields()
		_, hello := c.m.(Hello)
		_, proposal := c.m.(Proposal)
		_, head := c.m.(Head)
		if (fields.ByName("study") == nil) != (hello || proposal || head) {
			t.Errorf("a %s names no study", Name(c.m))
		}
		if c.m.About().Study != id && !hello && !proposal && !head {
			t.Errorf("a %s is about study %s", Name(c.m), c.m.About().Study)
		}
		s := StatedIn(c.m)
		if (fields.ByName("study") != nil) != (s.Study != nil) || s.Study != nil && *s.Study != id {
			t.Errorf("%s: study %v", Name(c.m), s.Study)
		}
		for name, got := range map[protoreflect.Name]*int{"query": s.Query, "slot": s.Slot} {
			if (fields.ByName(name) != nil) != (got != nil) || got != nil && *got != map[protoreflect.Name]int{"query": 4, "slot": 5}[name] {
				t.Errorf("%s: %s %v", Name(c.m), name, got)
			}
		}
		if (fields.ByName("code") != nil) != (s.Code != "") {
			t.Errorf("%s: code %q", Name(c.m), s.Code)
		}
	}
	if s := StatedIn(Decision{Verdict: study.VerdictPending}); s.Code != "" {
		t.Errorf("a decision without a code states %q", s.Code)
	}
}

// FuzzDecodeSite: what is read of a site's message is what is read again when it is written.
func FuzzDecodeSite(f *testing.F) { fuzzDecode(f, DecodeSite) }

// FuzzDecodeCoordinator is FuzzDecodeSite for the other end.
func FuzzDecodeCoordinator(f *testing.F) { fuzzDecode(f, DecodeCoordinator) }

func fuzzDecode(f *testing.F, decode func([]byte) (Message, error)) {
	for _, c := range messages() {
		raw := outer(f, c.wire)
		f.Add(raw)
		f.Add(append(bytes.Clone(raw), 0xf8, 0x07, 1)) // a field of a later version
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := decode(raw)
		if (m == nil) == (err == nil) {
			t.Fatalf("message %v, error %v", m, err)
		}
		if err != nil {
			return
		}
		written, err := Encode(m)
		if err != nil {
			return // a name that is not UTF-8 is not read, and so not here
		}
		again, err := decode(written)
		if err != nil {
			t.Fatalf("%+v is not read again: %v", m, err)
		}
		if twice, err := Encode(again); err != nil || !bytes.Equal(twice, written) || Name(again) != Name(m) || again.About() != m.About() {
			t.Fatalf("%+v is read again as %+v (%v)", m, again, err)
		}
	})
}

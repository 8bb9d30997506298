package agent

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

var wireID = study.Digest{1, 2, 3}

// requests holds one message of each kind and what it is read as.
func requests() []struct {
	wire *covey.CoordinatorMessage
	want request
} {
	id := wireID[:]
	list, u := [][]byte{{1}, {2, 3}}, []uint32{0, 2}
	type row = struct {
		wire *covey.CoordinatorMessage
		want request
	}
	return []row{
		{&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: []byte("x")}}}, askDecision{[]byte("x")}},
		{&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: id, Attempt: 3}}}, askAnnouncement{wireID, 3}},
		{&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Deal{Deal: &covey.Deal{Study: id, Attempt: 3, Announcements: list}}}, askBoxes{wireID, 3, list, nil}},
		{&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Confirm{Confirm: &covey.Confirm{Study: id, Attempt: 3, Boxes: list}}}, askConfirmation{wireID, 3, list, nil}},
		{&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Confirmed{Confirmed: &covey.Confirmed{Study: id, Attempt: 3, Signatures: list}}}, tellConfirmed{wireID, 3, list}},
		{&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Query{Query: &covey.Query{Study: id, Attempt: 3, Query: 4, Slot: 5,
			History: id, X: []float64{1, 0}, Radius: 0.5, Grid: 0.25, Sigma: 9}}},
			askUpload{wireID, study.Ask{Attempt: 3, Query: 4, Slot: 5, History: wireID, X: []float64{1, 0}, Radius: 0.5, Grid: 0.25, Sigma: 9}}},
		{&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Release{Release: &covey.Release{Study: id, Query: 4, Slot: 5, Survivors: u}}}, askSignature{wireID, 4, 5, []int{0, 2}}},
		{&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Open{Open: &covey.Open{Study: id, Query: 4, Slot: 5, Survivors: u, Certificate: list}}}, askShares{wireID, 4, 5, []int{0, 2}, list}},
		{&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Final{Final: &covey.Final{Study: id, Query: 4, Slot: 5, Released: []byte{7}, Signature: []byte{8}}}},
			tellFinal{wireID, 4, 5, final{[]byte{7}, []byte{8}}}},
		{&covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Ended{Ended: &covey.Ended{Study: id, Code: covey.Code_CODE_RETRIES_SPENT}}}, tellEnded{wireID, study.CodeRetriesSpent}},
	}
}

func TestDecode(t *testing.T) {
	for _, r := range requests() {
		raw, err := proto.Marshal(r.wire)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(raw)
		if err != nil || !reflect.DeepEqual(got, r.want) {
			t.Errorf("%T: got %+v, %v, want %+v", r.want, got, err, r.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	big := uint32(math.MaxInt32) + 1
	for name, m := range map[string]*covey.CoordinatorMessage{
		"no body":      {},
		"short digest": {Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: wireID[:31]}}},
		"empty field":  {Body: &covey.CoordinatorMessage_Ended{}},
		"big query":    {Body: &covey.CoordinatorMessage_Query{Query: &covey.Query{Study: wireID[:], Query: big}}},
		"big survivor": {Body: &covey.CoordinatorMessage_Release{Release: &covey.Release{Study: wireID[:], Survivors: []uint32{big}}}},
	} {
		raw, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decode(raw); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
	if _, err := decode([]byte{0xff, 0xff}); err != errNotMessage {
		t.Errorf("garbage: %v", err)
	}
}

func TestEncodeRefusal(t *testing.T) {
	raw, err := encode(refusal{Study: wireID, Attempt: 1, Query: 2, Slot: 3, Code: study.CodeHeld, Culprit: 4,
		Context: []byte{5}, Survivors: []int{0, 6}, Signature: []byte{7}, Final: &final{[]byte{8}, []byte{9}}, Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	var m covey.SiteMessage
	if err := proto.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	r := m.GetRefusal()
	if !bytes.Equal(r.GetStudy(), wireID[:]) || r.GetAttempt() != 1 || r.GetQuery() != 2 || r.GetSlot() != 3 || r.GetCode() != covey.Code_CODE_HELD ||
		r.GetCulprit() != 4 || !bytes.Equal(r.GetContext(), []byte{5}) || !reflect.DeepEqual(r.GetSurvivors(), []uint32{0, 6}) ||
		!bytes.Equal(r.GetSignature(), []byte{7}) || !r.GetShared() || !bytes.Equal(r.GetFinal().GetReleased(), []byte{8}) || !bytes.Equal(r.GetFinal().GetSignature(), []byte{9}) {
		t.Errorf("got %v", r)
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
		study.CodeBadCertificate, study.CodeTooFewSurvivors, study.CodeSurvivorsChanged, study.CodeStore, study.CodeInternal, study.CodeLeft, study.CodeRejected,
		study.CodeWithdrawn, study.CodeExpired, study.CodeUnit, study.CodeColumns, study.CodeFormat,
	} {
		if wireCode(c) == covey.Code_CODE_UNSPECIFIED {
			t.Errorf("%q has no number", c)
		}
	}
	if codeOf(9999) != study.CodeInternal {
		t.Error("an unknown number is not internal")
	}
}

func FuzzDecode(f *testing.F) {
	for _, r := range requests() {
		raw, err := proto.Marshal(r.wire)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := decode(raw)
		if (r == nil) == (err == nil) {
			// A number that does not fit gives both; nothing else does.
			if err != errNumber {
				t.Fatalf("request %v, error %v", r, err)
			}
		}
		if err == nil {
			refuse(r, study.CodeInternal)
		}
	})
}

func FuzzDecodeList(f *testing.F) {
	f.Add(encodeList(nil))
	f.Add(encodeList([][]byte{{}, {1, 2}, nil}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := decodeList(raw)
		if err == nil && !bytes.Equal(encodeList(list), raw) {
			t.Fatalf("%x reads as %x, which is written otherwise", raw, list)
		}
	})
}

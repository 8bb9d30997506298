package uplink

import (
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestEgressNamesTheStudy: what leaves is on record under its study, query, slot and code, a hello
// under none. internal/wire's TestEveryMessageNamesItsStudy holds that every message states them.
func TestEgressNamesTheStudy(t *testing.T) {
	id := proposal.Digest{7}
	s := Describe(wire.Refusal{Header: wire.Header{Study: id, Query: 3, Slot: 4}, Code: study.CodeHeld}, 100)
	if s.Kind != "refusal" || s.Bytes != 100 || s.Study == nil || *s.Study != id || s.Query == nil || *s.Query != 3 || s.Slot == nil || *s.Slot != 4 ||
		s.Code != study.CodeHeld {
		t.Errorf("refusal: %+v", s)
	}
	if s := Describe(wire.Nonce{Header: wire.Header{Study: id}}, 1); s.Study == nil || *s.Study != id || s.Query != nil || s.Slot != nil {
		t.Errorf("nonce: %+v", s)
	}
	if s := Describe(wire.Hello{}, 1); s.Kind != "hello" || s.Study != nil {
		t.Errorf("hello: %+v", s)
	}
}

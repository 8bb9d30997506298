package agent

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// bodies are the members of a message's body.
func bodies(m proto.Message) map[protoreflect.Name]protoreflect.FieldDescriptor {
	out := map[protoreflect.Name]protoreflect.FieldDescriptor{}
	fields := m.ProtoReflect().Descriptor().Oneofs().ByName("body").Fields()
	for i := range fields.Len() {
		out[fields.Get(i).Name()] = fields.Get(i)
	}
	return out
}

// TestEgressNamesTheStudy: whatever a site can send but its hello is on record under its study; a
// query, a slot and a code of the message are on record too. There is an answer here for every
// message that the wire has.
func TestEgressNamesTheStudy(t *testing.T) {
	id := study.Digest{7}
	missing := bodies(&covey.SiteMessage{})
	for _, a := range []answer{
		hello{}, decision{Study: id, Verdict: VerdictRejected, Code: study.CodeBudget}, announcement{Study: id}, nonce{Study: id}, boxes{Study: id},
		confirmation{Study: id}, upload{Study: id, Query: 3, Slot: 4}, signature{Study: id, Query: 3, Slot: 4}, shares{Study: id, Query: 3, Slot: 4},
		refusal{Study: id, Query: 3, Slot: 4, Code: study.CodeHeld},
	} {
		m := message(a)
		set := m.ProtoReflect().WhichOneof(m.ProtoReflect().Descriptor().Oneofs().ByName("body"))
		if set == nil {
			t.Fatalf("%s makes no message", a.kind())
		}
		delete(missing, set.Name())
		s := describe(a, 100)
		if _, isHello := a.(hello); isHello {
			if s.Study != nil || s.Kind != "hello" || s.Bytes != 100 {
				t.Errorf("hello: %+v", s)
			}
			continue
		}
		if s.Study == nil || *s.Study != id || s.Kind != a.kind() || s.Bytes != 100 {
			t.Errorf("%s: %+v", a.kind(), s)
		}
		fields := bodyOf(m).Descriptor().Fields()
		if fields.ByName("query") != nil && (s.Query == nil || *s.Query != 3 || s.Slot == nil || *s.Slot != 4) || fields.ByName("query") == nil && (s.Query != nil || s.Slot != nil) {
			t.Errorf("%s: query %v, slot %v", a.kind(), s.Query, s.Slot)
		}
		if fields.ByName("code") != nil && s.Code == "" {
			t.Errorf("%s: no code", a.kind())
		}
	}
	for name := range missing {
		t.Errorf("no answer here is a %s: one that the egress log could lose the study of", name)
	}
	if s := describe(decision{Study: id, Verdict: VerdictPending}, 1); s.Code != "" {
		t.Errorf("a decision without a code is on record with %q", s.Code)
	}
}

// TestEveryMessageNamesItsStudy: each message of either side but a hello and a proposal has a field
// "study", and the coordinator's are all decoded to a request about it.
func TestEveryMessageNamesItsStudy(t *testing.T) {
	id := study.Digest{7}
	for name, f := range bodies(&covey.SiteMessage{}) {
		if at := f.Message().Fields().ByName("study"); name != "hello" && (at == nil || at.Kind() != protoreflect.BytesKind) {
			t.Errorf("a site's %s names no study", name)
		}
	}
	for name, f := range bodies(&covey.CoordinatorMessage{}) {
		m := (&covey.CoordinatorMessage{}).ProtoReflect()
		body := m.NewField(f)
		if at := f.Message().Fields().ByName("study"); at != nil {
			body.Message().Set(at, protoreflect.ValueOfBytes(id[:]))
		}
		m.Set(f, body)
		raw, err := proto.Marshal(m.Interface())
		if err != nil {
			t.Fatal(err)
		}
		r, err := decode(raw)
		if err != nil {
			t.Errorf("a coordinator's %s: %v", name, err)
			continue
		}
		if _, proposal := r.(askDecision); (r.about() != id) != proposal {
			t.Errorf("a coordinator's %s is about study %s", name, r.about())
		}
	}
}

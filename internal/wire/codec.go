package wire

import (
	"cmp"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"covey/internal/proposal"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// Errors of a message that does not decode; a link ends with them.
var (
	ErrNotSite        = errors.New("link: not a site message")
	ErrNotCoordinator = errors.New("link: not a coordinator message")
	ErrNoStudy        = errors.New("link: a message without a study")
	ErrNumber         = errors.New("link: a number over 2^31-1")
	ErrHistory        = errors.New("link: a history that is no link")
	ErrHead           = errors.New("link: a head of the chain that does not parse")
	ErrTags           = errors.New("link: the hello's studies do not parse")

	errUnknown = errors.New("wire: a message that this build does not know")
)

// Encode returns a message serialized: a SiteMessage or a CoordinatorMessage, whichever has it.
func Encode(m Message) ([]byte, error) {
	body := bodyOf(m)
	for _, out := range []protoreflect.Message{(&covey.SiteMessage{}).ProtoReflect(), (&covey.CoordinatorMessage{}).ProtoReflect()} {
		fields := out.Descriptor().Fields()
		for i := range fields.Len() {
			if f := fields.Get(i); f.Message() == body.Descriptor() {
				out.Set(f, protoreflect.ValueOfMessage(body))
				return proto.Marshal(out.Interface())
			}
		}
	}
	return nil, errUnknown
}

// DecodeSite reads a serialized SiteMessage.
func DecodeSite(raw []byte) (Message, error) {
	return read(raw, siteShape, &covey.SiteMessage{}, siteMessageOf, ErrNotSite)
}

// DecodeCoordinator reads a serialized CoordinatorMessage.
func DecodeCoordinator(raw []byte) (Message, error) {
	return read(raw, coordinatorShape, &covey.CoordinatorMessage{}, coordinatorMessageOf, ErrNotCoordinator)
}

// decoder turns a body into its message. Numbers that do not fit are r's to remember.
type decoder func(r *reader, h Header, body proto.Message) (Message, error)

// read decodes raw into outer; it returns wrong unless raw is one message of its shape.
func read(raw []byte, of shape, outer proto.Message, decode decoder, wrong error) (Message, error) {
	if of.check(raw) != nil || proto.Unmarshal(raw, outer) != nil {
		return nil, wrong
	}
	m := outer.ProtoReflect()
	set := m.WhichOneof(m.Descriptor().Oneofs().ByName("body"))
	if set == nil { // a body that this build does not know
		return nil, ErrNoStudy
	}
	var r reader
	body := m.Get(set).Message()
	h, err := r.header(body)
	if err != nil {
		return nil, err
	}
	out, err := decode(&r, h, body.Interface())
	if err = errors.Join(err, r.err); err != nil {
		return nil, err
	}
	return out, nil
}

// bodyOf returns a message as it is serialized, with its header.
func bodyOf(m Message) protoreflect.Message {
	body := m.body().ProtoReflect()
	if at := field(body, "study"); at != nil {
		h := m.About()
		body.Set(at, protoreflect.ValueOfBytes(h.Study[:]))
		for name, v := range map[protoreflect.Name]uint32{"query": uint32(h.Query), "slot": uint32(h.Slot)} {
			if at := field(body, name); at != nil {
				body.Set(at, protoreflect.ValueOfUint32(v))
			}
		}
	}
	return body
}

// field returns a body's field of a name, nil if it has none.
func field(body protoreflect.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
	return body.Descriptor().Fields().ByName(name)
}

// reader narrows numbers, and remembers that one did not fit.
type reader struct{ err error }

// header returns what a body is about. One with the field study must name a study.
func (r *reader) header(body protoreflect.Message) (Header, error) {
	var h Header
	at := field(body, "study")
	if at == nil {
		return h, nil
	}
	var ok bool
	if h.Study, ok = digestOf(body.Get(at).Bytes()); !ok {
		return h, ErrNoStudy
	}
	for name, v := range map[protoreflect.Name]*int{"query": &h.Query, "slot": &h.Slot} {
		if at := field(body, name); at != nil {
			*v = r.int(uint32(body.Get(at).Uint()))
		}
	}
	return h, nil
}

// digestOf returns the digest that raw is; false if it has another length.
func digestOf(raw []byte) (proposal.Digest, bool) {
	if len(raw) != len(proposal.Digest{}) {
		return proposal.Digest{}, false
	}
	return proposal.Digest(raw), true
}

func (r *reader) int(v uint32) int {
	if v > math.MaxInt32 {
		r.err = ErrNumber
		return 0
	}
	return int(v)
}

func (r *reader) ints(v []uint32) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = r.int(x)
	}
	return out
}

func uints(v []int) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = uint32(x)
	}
	return out
}

// Name returns a message's name, as the egress log has it: "upload", "signature".
func Name(m Message) string { return strings.ToLower(reflect.TypeOf(m).Name()) }

// Stated is what a message says of itself outside of its contents; nil is what its kind does not
// carry.
type Stated struct {
	Study       *proposal.Digest
	Query, Slot *int
	Code        study.Code // empty where the message has none
}

// StatedIn reads the message that is sent, by its fields' names: one with a field of a study, a
// query, a slot or a code cannot leave without its being stated.
func StatedIn(m Message) Stated {
	var s Stated
	body, h := bodyOf(m), m.About()
	if field(body, "study") != nil {
		s.Study = &h.Study
	}
	if field(body, "query") != nil {
		s.Query = &h.Query
	}
	if field(body, "slot") != nil {
		s.Slot = &h.Slot
	}
	if at := field(body, "code"); at != nil && body.Get(at).Enum() != 0 {
		s.Code = codeOf(covey.Code(body.Get(at).Enum()))
	}
	return s
}

// Tag names a study in a hello.
type Tag [TagBytes]byte

// TagOf returns a study's tag.
func TagOf(id proposal.Digest) Tag { return Tag(id[:TagBytes]) }

func joined(tags []Tag) []byte {
	var out []byte
	for _, t := range tags {
		out = append(out, t[:]...)
	}
	return out
}

func split(raw []byte) ([]Tag, error) {
	if len(raw)%TagBytes != 0 || len(raw) > maxTags {
		return nil, ErrTags
	}
	var out []Tag
	for t := range slices.Chunk(raw, TagBytes) {
		out = append(out, Tag(t))
	}
	return out, nil
}

// word returns an enum's number by its name without prefix, in lower case: CODE_BAD_SHARE is
// "bad_share". It is empty for a number that is unspecified or unknown.
func word(names map[int32]string, number int32) string {
	_, name, _ := strings.Cut(names[number], "_")
	if number == 0 {
		return ""
	}
	return strings.ToLower(name)
}

// number is word's inverse; 0 for a word that has none.
func number(values map[string]int32, prefix, word string) int32 {
	return values[prefix+strings.ToUpper(word)]
}

// codeOf reads a code; one that is not known here is internal.
func codeOf(c covey.Code) study.Code {
	return study.Code(cmp.Or(word(covey.Code_name, int32(c)), string(study.CodeInternal)))
}

func wireCode(c study.Code) covey.Code {
	return covey.Code(number(covey.Code_value, "CODE_", string(c)))
}

// verdictOf reads a verdict; any other number is pending.
func verdictOf(v covey.Verdict) study.Verdict {
	return study.Verdict(cmp.Or(word(covey.Verdict_name, int32(v)), string(study.VerdictPending)))
}

func wireVerdict(v study.Verdict) covey.Verdict {
	return covey.Verdict(number(covey.Verdict_value, "VERDICT_", string(v)))
}

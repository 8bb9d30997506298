package proposal

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2/unstable"

	"covey/internal/strict"
)

// maxKeyShown is how many bytes of a key an error repeats: the proposer chooses the key.
const maxKeyShown = 100

// maxMarks bounds what opens or parts a TOML text's lists and tables: a list's entry of two bytes
// takes hundreds of them to decode. The most columns that there can be take two each where a
// proposal has them, and leave three for their names.
const maxMarks = 1 << 19

// maxDots bounds the dots, which part keys: each part takes hundreds of bytes before a key is
// looked at. The most columns that there can be have ten each.
const maxDots = 1 << 20

// checkMarks refuses a text of too many of them, wherever they stand.
func checkMarks(text []byte) error {
	marks, dots := 0, 0
	for _, b := range text {
		switch b {
		case '[', '{', ',':
			marks++
		case '.':
			dots++
		}
	}
	if marks > maxMarks {
		return FieldErrorf(fieldTOML, "%d brackets and commas; no proposal needs more than %d", marks, maxMarks)
	}
	if dots > maxDots {
		return FieldErrorf(fieldTOML, "%d dots; no proposal needs more than %d", dots, maxDots)
	}
	return nil
}

// onlyKnown refuses the first key of a TOML text that a type has no field for. The decoder's own
// strictness quotes the whole text for each such key before it names the first: some ten thousand
// in a proposal took minutes. A text that is not TOML ends the look; the decoder says why.
func onlyKnown(text []byte, into reflect.Type) error {
	var p unstable.Parser
	p.Reset(text)
	w := walk{&p, into == reflect.TypeFor[*Proposal](), map[string]string{}}
	at, path := into, ""
	for p.NextExpression() {
		e := p.Expression()
		var err error
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			at, path, err = w.key(e, into, "")
		case unstable.KeyValue:
			err = w.pair(e, at, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walk goes through a text. The decoder takes keys in any case of letters. Where they are exact
// none counts but as documented: of "epsilon" and "Epsilon" the later one would count here, and
// the first to another reader of the same signed bytes. Elsewhere a key has one spelling, or some
// of a study's columns would count and others would not.
type walk struct {
	parser  *unstable.Parser
	exact   bool
	spelled map[string]string // paths, by themselves in lower case
}

// pair looks at one key and what is in its value.
func (w walk) pair(e *unstable.Node, at reflect.Type, path string) error {
	of, path, err := w.key(e, at, path)
	if err != nil {
		return err
	}
	return w.value(e.Value(), of, path)
}

// value looks into inline tables; the decoder looks into none that is given for something else.
func (w walk) value(v *unstable.Node, at reflect.Type, path string) error {
	if item(at).Kind() != reflect.Struct || v.Kind != unstable.InlineTable && v.Kind != unstable.Array {
		return nil
	}
	for inside := v.Children(); inside.Next(); {
		var err error
		if v.Kind == unstable.InlineTable {
			err = w.pair(inside.Node(), at, path)
		} else {
			err = w.value(inside.Node(), at, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// key follows a dotted key from a type and gives the last part's, and the whole path.
func (w walk) key(e *unstable.Node, at reflect.Type, path string) (reflect.Type, string, error) {
	for parts := e.Key(); parts.Next(); {
		part := parts.Node()
		name := string(part.Data)
		if path != "" {
			path += "."
		}
		path += strict.PlainKey(name)
		of := fieldOf(item(at), name, w.exact)
		if of == nil {
			shown := path
			if len(shown) > maxKeyShown {
				shown = strings.ToValidUTF8(shown[:maxKeyShown], "") + "..."
			}
			reason := fmt.Sprintf("unknown key, line %d", w.parser.Shape(part.Raw).Start.Line)
			if meant := strict.Nearest(name[:min(len(name), maxKeyShown)], keysOf(item(at))); meant != "" {
				reason += fmt.Sprintf("; did you mean %q?", meant)
			}
			return nil, "", FieldErrorf(shown, "%s", reason)
		}
		if lower := strings.ToLower(path); w.spelled[lower] == "" {
			w.spelled[lower] = path
		} else if before := w.spelled[lower]; before != path {
			return nil, "", FieldErrorf(path, "is also written %q, line %d: write both in lower case", before, w.parser.Shape(part.Raw).Start.Line)
		}
		at = of
	}
	return at, path, nil
}

// item returns what a pointer points to and a list holds.
func item(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// fieldOf returns the type of a struct's field of a key, as the decoder finds it: in any case of
// letters, unless it is to be exact. Nil for none.
func fieldOf(t reflect.Type, key string, exact bool) reflect.Type {
	if t.Kind() != reflect.Struct {
		return nil
	}
	known, ok := fields.Load(t)
	if !ok {
		var all []field
		for f := range t.Fields() {
			name := keyOf(f)
			all = append(all, field{name, strings.ToLower(name), f.Type})
		}
		known, _ = fields.LoadOrStore(t, all)
	}
	want := strings.ToLower(key)
	for _, f := range known.([]field) {
		// EqualFold alone also takes ſ for s
		if f.name == key || !exact && f.lower == want && strings.EqualFold(f.name, key) {
			return f.of
		}
	}
	return nil
}

// fields are those of the types that a proposal has, by type: each is looked at once.
var fields sync.Map

type field struct {
	name, lower string
	of          reflect.Type
}

// keyOf returns a field's key.
func keyOf(f reflect.StructField) string {
	if name, _, _ := strings.Cut(f.Tag.Get("toml"), ","); name != "" {
		return name
	}
	return f.Name
}

// keysOf returns a struct's keys, none for another type.
func keysOf(t reflect.Type) (keys []string) {
	if t.Kind() == reflect.Struct {
		for f := range t.Fields() {
			keys = append(keys, keyOf(f))
		}
	}
	return keys
}

// Package strict reads TOML in which every key must be known, and says in words what is wrong: the
// line, the key and what is expected there.
package strict

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Error is a fault of a document. Its text may repeat a key or a few characters of the document.
type Error struct {
	Key    string // dotted, if it is not known; empty where a place is named: "line 3 column 5: "
	Reason string
}

func (e *Error) Error() string {
	if e.Key == "" {
		return e.Reason
	}
	return e.Key + ": " + e.Reason
}

// At returns the beginning of a message about a line, "line 3: ", empty for line 0.
func At(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", line)
}

// Decode reads text into a pointer to a struct. Every error is an *[Error]. The decoder takes keys
// in any case of letters, and of "epsilon" and "Epsilon" the later one: here each has one spelling.
func Decode(text []byte, into any) error {
	t := reflect.TypeOf(into)
	at, found := firstUnknown(text, t)
	if err := decode(text, into, !found); err != nil {
		return err
	}
	if found {
		return unknown(text, at, t)
	}
	return spelled(text, t)
}

// firstUnknown returns the first key of a document that its table, a struct, does not have. The
// decoder looks through the document again for each of them: a file of 30,000 took it a minute.
func firstUnknown(text []byte, t reflect.Type) (first entry, found bool) {
	walk(text, func(e entry) {
		for i, key := range e.keys {
			if found {
				return
			}
			of := typeAt(t, e.keys[:i])
			if of == nil {
				return
			}
			if of = element(of); key != "" && of.Kind() == reflect.Struct && !readsItself(of) && typeAt(of, []string{key}) == nil {
				first, found = e, true
			}
		}
	})
	return first, found
}

// readsItself reports whether a type is decoded by a method of its own.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[unstable.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// spelled is the error of a key that is in the document in two spellings. Those of a map are two
// keys.
func spelled(text []byte, t reflect.Type) (err error) {
	first := map[string]string{}
	walk(text, func(e entry) {
		lower := ""
		for i, key := range e.keys {
			lower += "." + key
			if of := typeAt(t, e.keys[:i]); key == "" || of == nil || element(of).Kind() != reflect.Struct {
				continue
			}
			path := strings.Join(named(e.keys[:i+1]), ".")
			lower = lower[:len(lower)-len(key)] + strings.ToLower(key)
			if before, ok := first[lower]; !ok {
				first[lower] = path
			} else if before != path && err == nil {
				err = &Error{Key: path, Reason: fmt.Sprintf("is also written %q, line %d: write both in lower case", before, 1+bytes.Count(text[:e.offset], []byte("\n")))}
			}
		}
	})
	return err
}

// DecodeSpelled is Decode of a text whose keys are known to have one spelling. Of a long one with
// many unknown keys it is slow.
func DecodeSpelled(text []byte, into any) error { return decode(text, into, true) }

// decode is DecodeSpelled. It finds unknown keys only where it looks for them.
func decode(text []byte, into any, look bool) error {
	d := toml.NewDecoder(bytes.NewReader(text)).EnableUnmarshalerInterface()
	if look {
		d.DisallowUnknownFields()
	}
	err := d.Decode(into)
	if err == nil {
		return nil
	}
	if missing, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(missing.Errors) > 0 {
		row, column := missing.Errors[0].Position()
		at := entry{keys: missing.Errors[0].Key(), offset: offset(text, row) + column - 1}
		walk(text, func(e entry) {
			if e.offset == at.offset {
				at = e // the error's key is without the table that holds an inline one
			}
		})
		return unknown(text, at, reflect.TypeOf(into))
	}
	bad, ok := errors.AsType[*toml.DecodeError](err)
	if !ok {
		return &Error{Reason: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	row, column := bad.Position()
	fault := offset(text, row) + column - 1
	at, found := entry{}, false
	broken := walk(text, func(e entry) {
		if e.offset <= fault {
			at, found = e, true
		}
	})
	reason := strings.TrimPrefix(bad.Error(), "toml: ")
	if strings.HasSuffix(reason, "value out of range") {
		reason = "the number is beyond 1.8e308, or 2^63 without a point" // in place of strconv's words
	}
	if name, again := strings.CutSuffix(reason, " already exists"); again && strings.HasPrefix(name, "table ") {
		reason = "a second " + name + ": put these lines below the header of the first, and delete this header"
	}
	if broken != nil || !found {
		reason = "is not TOML: " + typed(text, fault, reason)
	} else if want := wanted(typeAt(reflect.TypeOf(into), at.keys)); want != "" && want != kinds[at.kind] && !(want == kinds[unstable.Float] && at.kind == unstable.Integer) {
		reason = fmt.Sprintf("%s must be %s, got %s", at.path, want, kinds[at.kind])
	} else if n := len(at.keys); n > 0 && !strings.Contains(reason, at.keys[n-1]) {
		reason = at.path + ": " + reason // a value that reads itself knows no key
	}
	return &Error{Reason: fmt.Sprintf("line %d column %d: %s", row, column, reason)}
}

// typed says of a text that is no TOML what editors and word processors make of one.
func typed(text []byte, fault int, reason string) string {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return "the file is UTF-16: save it as UTF-8"
	}
	r, size := utf8.DecodeRune(text[min(max(fault, 0), len(text)):])
	switch {
	case r == utf8.RuneError && size == 1:
		return "the file is not UTF-8: save it as UTF-8"
	case strings.ContainsRune("“”„‘’‚«»", r):
		return fmt.Sprintf(`%q is no quotation mark here: write "`, r)
	case r >= utf8.RuneSelf && size > 1:
		return fmt.Sprintf("unexpected character %q", r)
	case strings.Contains(reason, "escape"):
		return reason + "; in double quotes a backslash begins one: write the text in single quotes"
	}
	return reason
}

// unknown is the error of a key that t does not have.
func unknown(text []byte, at entry, t reflect.Type) error {
	key := named(at.keys)
	reason := fmt.Sprintf("unknown key, line %d", 1+bytes.Count(text[:at.offset], []byte("\n")))
	for last := range key { // the first that is not known
		if typeAt(t, key[:last+1]) == nil {
			if meant := Nearest(key[last], keysOf(typeAt(t, key[:last]))); meant != "" {
				reason += fmt.Sprintf("; did you mean %q?", meant)
			}
			break
		}
	}
	return &Error{Key: strings.Join(key, "."), Reason: reason}
}

// named are the keys that are not lists' items.
func named(keys []string) (out []string) {
	for _, key := range keys {
		if key != "" {
			out = append(out, key)
		}
	}
	return out
}

// Line returns the line of a key, such as "epsilon", "columns[1].scale" or "policy.peers.south", or
// of the nearest table that holds it; 0 if there is none.
func Line(text []byte, key string) int {
	at, longest := 0, 0
	walk(text, func(e entry) {
		rest, under := strings.CutPrefix(key, e.path)
		if under && len(e.path) > longest && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			at, longest = e.offset, len(e.path)
		}
	})
	if longest == 0 {
		return 0
	}
	return 1 + bytes.Count(text[:at], []byte("\n"))
}

// Given returns the keys and tables that a document gives in a table at its top, lists' items left
// out: a table without entries decodes like one that is not there. A field of into, a pointer to a
// struct, is in lower case, as the decoder takes it in any.
func Given(text []byte, into any, top string) map[string]bool {
	given, t := map[string]bool{}, reflect.TypeOf(into)
	walk(text, func(e entry) {
		if len(e.keys) == 0 || !strings.EqualFold(e.keys[0], top) {
			return
		}
		path := ""
		for i, key := range e.keys {
			if key == "" {
				return
			}
			if of := typeAt(t, e.keys[:i]); of != nil && element(of).Kind() == reflect.Struct {
				key = strings.ToLower(key)
			}
			path += "." + key
			given[path[1:]] = true
		}
	})
	return given
}

// offset is where a line begins, from 1.
func offset(text []byte, line int) (at int) {
	for range line - 1 {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	return at
}

// entry is a key or a table of a document.
type entry struct {
	path   string   // with indices, as columns[1].scale
	keys   []string // without; an item of a list is under the key ""
	offset int      // in bytes, of the key, or of an item of a list
	kind   unstable.Kind
}

// walk calls see for the entries of a document, in its order. It returns what makes the document no
// TOML.
func walk(text []byte, see func(entry)) error {
	var p unstable.Parser
	p.Reset(text)
	w := walker{see: see, counts: map[string]int{}}
	var table entry
	for p.NextExpression() {
		switch node := p.Expression(); node.Kind {
		case unstable.KeyValue:
			w.value(table, node)
		case unstable.Table:
			table = w.at(entry{}, node, unstable.Table)
			see(table)
		case unstable.ArrayTable:
			table = w.at(entry{}, node, unstable.ArrayTable)
			w.counts[table.path]++
			table.path += fmt.Sprintf("[%d]", w.counts[table.path]-1)
			see(table)
		}
	}
	return p.Error()
}

type walker struct {
	see    func(entry)
	counts map[string]int // of array tables so far, by path
}

// at returns the entry of a node's key below base.
func (w *walker) at(base entry, node *unstable.Node, kind unstable.Kind) entry {
	e := entry{path: base.path, keys: slices.Clone(base.keys), offset: -1, kind: kind}
	for keys := node.Key(); keys.Next(); {
		name := string(keys.Node().Data)
		if e.offset < 0 {
			e.offset = int(keys.Node().Raw.Offset)
		}
		if e.path != "" {
			e.path += "."
		}
		e.path += name
		e.keys = append(e.keys, name)
		if n := w.counts[e.path]; n > 0 && !(kind == unstable.ArrayTable && keys.IsLast()) {
			e.path += fmt.Sprintf("[%d]", n-1)
		}
	}
	return e
}

// value sees a key below base, and what its value holds.
func (w *walker) value(base entry, node *unstable.Node) {
	e := w.at(base, node, node.Value().Kind)
	w.see(e)
	w.inside(e, node.Value())
}

// inside sees the keys of an inline table and the items of a list.
func (w *walker) inside(e entry, v *unstable.Node) {
	n := 0
	for children := v.Children(); children.Next(); {
		switch child := children.Node(); {
		case child.Kind == unstable.Comment:
		case v.Kind == unstable.InlineTable && child.Kind == unstable.KeyValue:
			w.value(e, child)
		case v.Kind == unstable.Array:
			item := entry{fmt.Sprintf("%s[%d]", e.path, n), append(slices.Clone(e.keys), ""), e.offset, child.Kind}
			if child.Raw.Length > 0 {
				item.offset = int(child.Raw.Offset)
			}
			w.see(item)
			w.inside(item, child)
			n++
		}
	}
}

// kinds are values in words.
var kinds = map[unstable.Kind]string{
	unstable.Array: "a list", unstable.InlineTable: "a table", unstable.Table: "a table", unstable.ArrayTable: "a list of tables",
	unstable.String: "text in quotes", unstable.Bool: "true or false", unstable.Float: "a number", unstable.Integer: "a whole number",
	unstable.LocalDate: "a date", unstable.LocalTime: "a time", unstable.LocalDateTime: "a date and time", unstable.DateTime: "a date and time",
}

// wanted is a type in the same words, empty for one that can be of several kinds.
func wanted(t reflect.Type) string {
	if t == nil || reflect.PointerTo(t).Implements(reflect.TypeFor[unstable.Unmarshaler]()) {
		return ""
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return kinds[unstable.String]
	}
	switch t.Kind() {
	case reflect.String:
		return kinds[unstable.String]
	case reflect.Bool:
		return kinds[unstable.Bool]
	case reflect.Float32, reflect.Float64:
		return kinds[unstable.Float]
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return kinds[unstable.Integer]
	case reflect.Slice, reflect.Array:
		if element(t).Kind() == reflect.Struct {
			return kinds[unstable.ArrayTable]
		}
		return kinds[unstable.Array]
	case reflect.Struct, reflect.Map:
		return kinds[unstable.InlineTable]
	}
	return ""
}

// element is what a pointer, slice or array is of, however deep.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t
}

// typeAt is the type of a key below t, nil if there is none.
func typeAt(t reflect.Type, keys []string) reflect.Type {
	for _, key := range keys {
		if key == "" {
			if t = pointed(t); t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
				return nil
			}
			t = t.Elem()
			continue
		}
		switch t = element(t); t.Kind() {
		case reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			var next reflect.Type
			for i := range t.NumField() {
				if f := t.Field(i); f.IsExported() && strings.EqualFold(keyOf(f), key) {
					next = f.Type
				}
			}
			if next == nil {
				return nil
			}
			t = next
		default:
			return nil
		}
	}
	return pointed(t)
}

func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// keyOf is a field's key, empty if it has none.
func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
	switch name {
	case "-":
		return ""
	case "":
		return f.Name
	}
	return name
}

func keysOf(t reflect.Type) (out []string) {
	if t = element(t); t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && keyOf(f) != "" {
			out = append(out, keyOf(f))
		}
	}
	return out
}

// maxTypos bounds the insertions, deletions and changes of characters between what was written and
// what was meant, and maxWord the characters that are compared.
const (
	maxTypos = 2
	maxWord  = 64
)

// Nearest returns the name that was meant by a word, empty if none or two are equally near.
func Nearest(word string, names []string) string {
	best, nearest := maxTypos+1, ""
	if len(word) > maxWord {
		return ""
	}
	for _, name := range names {
		switch d := Distance(word, name); {
		case d >= len(name): // nothing of it is left
		case d < best:
			best, nearest = d, name
		case d == best:
			nearest = ""
		}
	}
	return nearest
}

// Distance is Levenshtein's, in characters.
func Distance(from, to string) int {
	a, b := []rune(from), []rune(to)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		before := row[0] // of the row above, one to the left
		row[0] = i + 1
		for j, y := range b {
			change := before
			if x != y {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// PlainKey returns a key of somebody else's file as an error can name it: itself if it is of
// letters, digits, _ and - of ASCII, and else quoted, so that no two keys are named alike and none
// moves a cursor.
func PlainKey(key string) string {
	for _, r := range key {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return strconv.Quote(key)
		}
	}
	return key
}

package command

import (
	"encoding"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// shape is what docs/commands.md says of a JSON value: the fields of an object, or of each object
// in a list. A shape without fields says nothing.
type shape map[string]shape

// Shaped checks the JSON shapes of docs/commands.md, which root leads to, against what commands
// print: an object of which the page lists fields has those and no other.
func Shaped(t *testing.T, root string, prints map[string]any) {
	t.Helper()
	page, err := os.ReadFile(root + "/docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## JSON shapes\n")
	texts := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^    (\w[^:\[{]*): (.*(?:\n      .*)*)`).FindAllStringSubmatch(section, -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			texts[name] = strings.Join(strings.Fields(m[2]), "")
		}
	}
	for name, printed := range prints {
		of := shape{}
		for object := range strings.SplitSeq(texts[name], ";") {
			maps.Copy(of, parseShape(object))
		}
		for base, text := range texts {
			if strings.HasPrefix(texts[name]+",", "as"+strings.ReplaceAll(base, " ", "")+",") {
				maps.Copy(of, parseShape(text))
			}
		}
		if len(of) == 0 {
			t.Errorf("docs/commands.md has no JSON shape of %s", name)
			continue
		}
		of.compare(t, name, reflect.TypeOf(printed))
	}
}

// parseShape reads the first object of a text without spaces.
func parseShape(text string) shape {
	out, stack, last := shape{}, []shape(nil), ""
	for _, token := range regexp.MustCompile(`[{}]|[\w-]+`).FindAllString(text, -1) {
		switch {
		case token == "{":
			next := out
			if len(stack) > 0 {
				next = shape{}
				stack[len(stack)-1][last] = next
			}
			stack = append(stack, next)
		case token == "}":
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return out
			}
		case len(stack) > 0:
			stack[len(stack)-1][token], last = nil, token
		}
	}
	return out
}

// compare reports what a shape has and a type has not, and the other way round.
func (s shape) compare(t *testing.T, name string, of reflect.Type) {
	t.Helper()
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() == reflect.Map {
		for _, value := range s {
			value.compare(t, name, of.Elem())
		}
		return
	}
	fields := map[string]reflect.Type{}
	printedFields(of, fields)
	for field, in := range fields {
		if _, ok := s[field]; !ok {
			t.Errorf("docs/commands.md lacks field %s of %s", field, name)
		} else if len(s[field]) > 0 {
			s[field].compare(t, name+"."+field, in)
		}
	}
	for field := range s {
		if fields[field] == nil {
			t.Errorf("docs/commands.md lists %s of %s, which is no field", field, name)
		}
	}
}

// printedFields adds the fields that encoding/json prints of a struct.
func printedFields(of reflect.Type, to map[string]reflect.Type) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.Implements(reflect.TypeFor[json.Marshaler]()) || of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return
	}
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "":
			printedFields(f.Type, to)
		case f.IsExported() && name == "":
			to[f.Name] = f.Type
		case f.IsExported():
			to[name] = f.Type
		}
	}
}

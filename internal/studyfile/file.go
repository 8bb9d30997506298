// Package studyfile reads study.toml as people write it: columns in one list of names, ranges of
// names and tables, and what they have in common in [defaults]. It returns the same document with
// every column in a table of its own. Every error is a *strict.Error.
package studyfile

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"covey/internal/name"
	"covey/internal/strict"
)

// File is a study.toml.
type File struct {
	// Text has a table for each column, on the line that names it.
	Text []byte
	// Shape has an empty table for each name and range, and everything else at the line and column
	// at which it was written: faults are looked for here first.
	Shape   []byte
	written map[string]any // Text's keys; nil where Text is not TOML
}

// Read expands names and ranges of a study.toml into at most so many tables of columns. A text that
// is not TOML is returned as it is, for the decoder to name the fault.
func Read(text []byte, most int) (*File, error) {
	f := &File{Text: text, Shape: text}
	var long, shape []byte
	count, done := 0, 0
	for i, at := range columns(text) {
		if at.kind != unstable.String { // a table, or for the decoder to refuse
			count++
			continue
		}
		names, err := expand(at.name, most-count, most)
		if err != nil {
			return nil, &strict.Error{Key: item(i), Reason: err.Error()}
		}
		count += len(names)
		raw := text[at.from:at.to]
		long, shape = append(long, text[done:at.from]...), append(shape, text[done:at.from]...)
		for n, name := range names {
			if n > 0 {
				long = append(long, ", "...)
			}
			long = fmt.Appendf(long, "{name = %s}", Quote(name))
		}
		long = append(long, bytes.Repeat([]byte("\n"), bytes.Count(raw, []byte("\n")))...)
		shape = append(append(shape, "{}"...), blank(raw[2:])...)
		done = at.to
	}
	if done > 0 {
		f.Text, f.Shape = append(long, text[done:]...), append(shape, text[done:]...)
	}
	if err := toml.Unmarshal(f.Text, &f.written); err != nil {
		f.written = nil
	}
	return f, nil
}

// instead are the keys of a column's table that take the place of other keys' defaults.
var instead = map[string][]string{
	"offset":      {"standardize", "levels"},
	"scale":       {"standardize", "levels"},
	"standardize": {"offset", "scale", "levels"},
	"levels":      {"offset", "scale", "standardize", "as", "measure", "range"},
	"as":          {"levels"},
}

// Defaults returns the keys of [defaults] that column i takes: those that its table does not have
// and has nothing in place of.
func (f *File) Defaults(i int) []string {
	table, taken := f.column(i), []string(nil)
next:
	for key := range f.defaults() {
		key = strings.ToLower(key)
		if lookup(table, key) != nil {
			continue
		}
		for other, drops := range instead {
			if lookup(table, other) != nil && slices.Contains(drops, key) {
				continue next
			}
		}
		taken = append(taken, key)
	}
	return taken
}

// Place returns the key of the document that has what an expanded column's key has: the default's
// where the column takes that.
func (f *File) Place(key string) string {
	var i int
	list, last, ok := strings.Cut(key, "].")
	if _, err := fmt.Sscanf(list, "columns[%d", &i); !ok || err != nil || i >= f.columns() || !slices.Contains(f.Defaults(i), last) {
		return key
	}
	return "defaults." + last
}

func (f *File) defaults() map[string]any {
	table, _ := lookup(f.written, "defaults").(map[string]any)
	return table
}

// columns returns how many columns there are.
func (f *File) columns() int {
	list, _ := lookup(f.written, "columns").([]any)
	return len(list)
}

// column returns a column's table.
func (f *File) column(i int) map[string]any {
	list, _ := lookup(f.written, "columns").([]any)
	table, _ := list[i].(map[string]any) // the decoder refuses what is no table
	return table
}

// value returns a column's value for a key, or the default if it takes that; nil if there is
// neither.
func (f *File) value(i int, key string) any {
	if v := lookup(f.column(i), key); v != nil {
		return v
	}
	if slices.Contains(f.Defaults(i), key) {
		return lookup(f.defaults(), key)
	}
	return nil
}

func item(i int) string { return fmt.Sprintf("columns[%d]", i) }

// blank returns spaces and line ends in the places of raw.
func blank(raw []byte) []byte {
	out := bytes.Repeat([]byte(" "), len(raw))
	for i, b := range raw {
		if b == '\n' {
			out[i] = b
		}
	}
	return out
}

// Quote returns a text as TOML writes it, the joiners of a name as escapes: a terminal shows them
// so, which between apostrophes would be another name.
func Quote(text string) string {
	if plain := strconv.Quote(text); plain == `"`+text+`"` || name.Joined(text) && name.Readable(text) {
		return plain
	}
	out, err := toml.Marshal(map[string]string{"v": text})
	if err != nil { // every string has a form
		panic(err)
	}
	return strings.TrimSpace(strings.TrimPrefix(string(out), "v = "))
}

// element is one item of the list of columns.
type element struct {
	kind     unstable.Kind
	name     string
	from, to int // where it stands
}

// columns returns the items of the list of columns, which a study.toml may have before its first
// table.
func columns(text []byte) (out []element) {
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.KeyValue {
			break
		}
		key := e.Key()
		if key.Next(); !key.IsLast() || !strings.EqualFold(string(key.Node().Data), "columns") || e.Value().Kind != unstable.Array {
			continue
		}
		for inside := e.Value().Children(); inside.Next(); {
			n := inside.Node()
			if n.Kind == unstable.Comment {
				continue
			}
			at := element{kind: n.Kind, from: int(n.Raw.Offset), to: int(n.Raw.Offset + n.Raw.Length)}
			if n.Kind == unstable.String {
				at.name = string(n.Data)
			}
			out = append(out, at)
		}
		break
	}
	return out
}

package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
)

// Write writes the result file: a line for each key, and one for each release, so that tools that
// read lines, such as diff, show which one. It holds one line's text at a time. A result whose
// releases lack vectors has no file.
func (r *Result) Write(to io.Writer) error {
	if r.brief != nil {
		return errors.New("result: its releases are not whole")
	}
	return r.write(to, func(see func(text []byte) error) error {
		for i := range r.Releases {
			text, err := json.Marshal(&r.Releases[i])
			if err == nil {
				err = see(text)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// write is Write with the releases' texts, which each shows in order. Keys behind them are read
// afterwards.
func (r *Result) write(to io.Writer, each func(see func(text []byte) error) error) error {
	w := bufio.NewWriter(to)
	w.WriteString("{") // a bufio.Writer keeps its first error for Flush
	comma := ""
	value := reflect.ValueOf(r).Elem()
	for field := range fields() {
		key, v := keyOf(field), value.FieldByIndex(field.Index)
		if optional(field) && empty(v) {
			continue
		}
		w.WriteString(comma + "\n  \"" + key + "\": ")
		comma = ","
		if key != keyReleases {
			if err := marshal(w, v); err != nil {
				return err
			}
			continue
		}
		before := "["
		err := each(func(text []byte) error {
			w.WriteString(before + "\n    ")
			before = ","
			_, err := w.Write(text)
			return err
		})
		if err != nil {
			return err
		}
		if before == "[" {
			w.WriteString(before)
		}
		w.WriteString("\n  ]")
	}
	w.WriteString("\n}\n")
	return w.Flush()
}

// marshal writes what json.Marshal returns, of which it holds one key's text at a time.
func (r *Result) marshal(to io.Writer) error {
	w := bufio.NewWriter(to)
	before := "{"
	value := reflect.ValueOf(r).Elem()
	for field := range fields() {
		v := value.FieldByIndex(field.Index)
		if optional(field) && empty(v) {
			continue
		}
		w.WriteString(before + "\"" + keyOf(field) + "\":")
		before = ","
		if err := marshal(w, v); err != nil {
			return err
		}
	}
	w.WriteString("}")
	return w.Flush()
}

// marshal writes the JSON of a key's value: of outputs, vector by vector.
func marshal(to io.Writer, v reflect.Value) error {
	if o, ok := v.Interface().(Outputs); ok {
		return o.write(to)
	}
	text, err := json.Marshal(v.Interface())
	if err == nil {
		_, err = to.Write(text)
	}
	return err
}

// expected is what is still to be written of a text; an error is for another.
type expected []byte

var errOther = errors.New("is another text")

func (e *expected) Write(b []byte) (int, error) {
	rest, ok := bytes.CutPrefix(*e, b)
	if !ok {
		return 0, errOther
	}
	*e = rest
	return len(b), nil
}

// File returns the bytes that Write writes.
func (r *Result) File() ([]byte, error) {
	var out bytes.Buffer
	err := r.Write(&out)
	return out.Bytes(), err
}

// keyReleases is the key that is written and read one element after another.
const keyReleases = "releases"

// keyOf is a field's key in the file.
func keyOf(field reflect.StructField) string {
	key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return key
}

// optional reports whether the field's key is left out where its value is empty.
func optional(field reflect.StructField) bool {
	return strings.HasSuffix(field.Tag.Get("json"), ",omitempty")
}

// empty is as encoding/json has it.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	}
	return v.IsZero()
}

package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"

	"covey/internal/proposal"
	"covey/internal/strict"
)

// parseResult reads a result file strictly: each key of a Result once, spelled as it
// is written, and no other. (encoding/json alone takes keys in any case, the last
// of two, and absent ones: another reader of the file would see another result.)
func parseResult(file []byte) (*Result, error) {
	var r Result
	err := json.Unmarshal(file, &r)
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && bad.Field != "" {
		return nil, unverified(-1, bad.Field, "has the wrong type")
	}
	if field, ok := errors.AsType[*proposal.FieldError](err); ok {
		return nil, unverified(-1, keyAtFault(file), "%s %s", field.Field, field.Reason)
	}
	if err != nil {
		return nil, unverified(-1, WhatJSON, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	canonical, err := json.Marshal(r)
	if err != nil {
		return nil, unverified(-1, WhatJSON, "%v", err)
	}
	wanted, seen := map[string]bool{}, map[string]bool{}
	var order []string
	err = keys(canonical, func(key string) error { wanted[key], order = true, append(order, key); return nil })
	if err != nil {
		return nil, err
	}
	err = keys(file, func(key string) error {
		if !wanted[key] {
			return unverified(-1, key, "is not a key of a result")
		}
		if seen[key] {
			return unverified(-1, key, "appears twice")
		}
		seen[key] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, key := range order {
		if !seen[key] {
			return nil, unverified(-1, key, "is missing")
		}
	}
	return &r, nil
}

// keyAtFault is the first key of a Result whose value cannot be read: encoding/json
// does not say it of a value that reads itself.
func keyAtFault(file []byte) string {
	var values map[string]json.RawMessage
	if json.Unmarshal(file, &values) == nil {
		for field := range reflect.TypeFor[Result]().Fields() {
			key := field.Tag.Get("json")
			if text, ok := values[key]; ok && json.Unmarshal(text, reflect.New(field.Type).Interface()) != nil {
				return key
			}
		}
	}
	return WhatJSON
}

// keys calls visit with the path of every key of every object of text, which is valid
// JSON, and with the path and " null" of every null. No two places share a path.
func keys(text []byte, visit func(path string) error) error {
	type level struct {
		path   string
		object bool
		key    string // the last read, of an object
		named  bool   // a value for it follows
		index  int    // of an array
	}
	stack := []level{{}} // as if the text were in an array at the root
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	here := func() string {
		at := stack[len(stack)-1]
		switch {
		case !at.object:
			return at.path + strconv.Itoa(at.index)
		default:
			return at.path + strict.PlainKey(at.key)
		}
	}
	for {
		token, err := d.Token()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return unverified(-1, WhatJSON, "%v", err)
		}
		at := &stack[len(stack)-1]
		if name, ok := token.(string); ok && at.object && !at.named {
			at.key, at.named = name, true
			if err := visit(here()); err != nil {
				return err
			}
			continue
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			path := ""
			if len(stack) > 1 {
				path = here() + "."
			}
			stack = append(stack, level{path: path, object: token == json.Delim('{')})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
			at = &stack[len(stack)-1]
		case nil:
			if err := visit(here() + " null"); err != nil {
				return err
			}
		}
		at.named = false
		at.index++
	}
}

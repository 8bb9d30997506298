package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strconv"
	"strings"

	"covey/internal/proposal"
	"covey/internal/strict"
	"covey/internal/study"
)

// parse reads a result file strictly: each key of a Result once, spelled as it
// is written, and no other. (encoding/json alone takes keys in any case, the last
// of two, and absent ones: another reader of the file would see another result.)
// In memory it has the text of one key, or of one release, at a time. It reads each release with
// read, if that is not nil, and then has none.
func parse(file io.Reader, read func(d *json.Decoder, i int) error) (*Result, error) {
	r := new(Result)
	if read == nil {
		read = func(d *json.Decoder, i int) error {
			release, _, err := parseRelease(d, i)
			r.Releases = append(r.Releases, release)
			return err
		}
	}
	value := reflect.ValueOf(r).Elem()
	byKey := map[string]reflect.StructField{}
	for field := range fields() {
		byKey[keyOf(field)] = field
	}
	d := json.NewDecoder(file)
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, notJSON(err, "is not one object")
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, notJSON(err, "has a key that is not text")
		}
		field, ok := byKey[key]
		if !ok {
			return nil, unverified(-1, strict.PlainKey(key), "is not a key of a result")
		}
		if seen[key] {
			return nil, unverified(-1, key, "appears twice")
		}
		seen[key] = true
		if key == keyReleases {
			err = eachRelease(d, read)
		} else {
			err = d.Decode(&element{key: key, to: value.FieldByIndex(field.Index)})
		}
		if err != nil {
			return nil, fault(err)
		}
		if optional(field) && empty(value.FieldByIndex(field.Index)) {
			return nil, unverified(-1, key, "is not a key of a result that has none")
		}
	}
	if _, err := d.Token(); err != nil { // the end of the object
		return nil, notJSON(err, "")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, notJSON(nil, "has something after its object")
	}
	for field := range fields() {
		if key := keyOf(field); !seen[key] && !optional(field) {
			return nil, unverified(-1, key, "is missing")
		}
	}
	return r, nil
}

// eachRelease reads the list of releases, each with read, and no more than a study can have.
func eachRelease(d *json.Decoder, read func(d *json.Decoder, i int) error) error {
	if token, err := d.Token(); err != nil || token != json.Delim('[') {
		return unverified(-1, keyReleases, "is no list")
	}
	for i := 0; d.More(); i++ {
		if i == proposal.MaxSlots {
			return unverified(-1, keyReleases, "has more than %d", proposal.MaxSlots)
		}
		if err := read(d, i); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// parseRelease reads a release of the list, and also returns what its Encode does.
func parseRelease(d *json.Decoder, i int) (release study.Release, encoded []byte, err error) {
	e := &element{key: fmt.Sprintf("%s.%d", keyReleases, i), to: reflect.ValueOf(&release).Elem()}
	err = d.Decode(e)
	return release, e.canonical, err
}

// skipRelease goes past a release of the list, which is not read yet.
func skipRelease(d *json.Decoder, i int) error {
	err := d.Decode(new(struct{}))
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return unverified(-1, fmt.Sprintf("%s.%d", keyReleases, i), "has the wrong type")
	}
	return err
}

// element is a value of the file, read as it comes: encoding/json lends it the text.
type element struct {
	key       string
	to        reflect.Value
	canonical []byte // what encoding/json writes of what was read
}

func (e *element) UnmarshalJSON(text []byte) error {
	err := json.Unmarshal(text, e.to.Addr().Interface())
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		key := e.key
		if bad.Field != "" {
			key += "." + bad.Field
		}
		return unverified(-1, key, "has the wrong type")
	}
	if err != nil {
		return unverified(-1, e.key, "%s", plain(err))
	}
	// What was read, written again, has the keys that the text must have.
	canonical, err := json.Marshal(e.to.Addr().Interface())
	if err != nil {
		return unverified(-1, e.key, "%v", err)
	}
	e.canonical = canonical
	if bytes.Equal(text, canonical) {
		return nil
	}
	return sameKeys(e.key, canonical, text)
}

// maxKeys bounds the keys and lists of a value that are held at a time, to compare them in another
// order than they are written in. Where that matters, in releases and pictures, they are few.
const maxKeys = 1 << 14

// sameKeys is the error of a value's text that has other keys than the canonical one, or lists of
// other lengths. In the same order they are compared one by one: of each there can be millions.
func sameKeys(root string, canonical, text []byte) error {
	var bad error
	due, stop := iter.Pull(walked(root, canonical, &bad))
	defer stop()
	other := "" // the first that differs
	for path := range walked(root, text, &bad) {
		if want, _ := due(); path != want {
			other = path
			break
		}
	}
	if missing, more := due(); other == "" && more {
		return unverified(-1, missing, "is missing")
	} else if other == "" {
		return bad
	}
	wanted, seen := map[string]bool{}, map[string]bool{}
	var order []string
	for path := range walked(root, canonical, &bad) {
		if wanted[path], order = true, append(order, path); len(order) > maxKeys {
			return unverified(-1, other, "is not what a result has there")
		}
	}
	for path := range walked(root, text, &bad) {
		if !wanted[path] {
			return unverified(-1, path, "is not a key of a result")
		}
		if seen[path] {
			return unverified(-1, path, "appears twice")
		}
		seen[path] = true
	}
	if bad != nil {
		return bad
	}
	for _, path := range order {
		if !seen[path] {
			return unverified(-1, path, "is missing")
		}
	}
	return nil
}

// walked is what keys visits, up to its error.
func walked(root string, text []byte, err *error) iter.Seq[string] {
	return func(yield func(string) bool) {
		bad := keys(root, text, func(path string) error {
			if !yield(path) {
				return errEnough
			}
			return nil
		})
		if bad != nil && !errors.Is(bad, errEnough) {
			*err = bad
		}
	}
}

// errEnough ends a walk whose caller has seen enough.
var errEnough = errors.New("enough")

// plain returns the text of an error from a value's own decoder, without what encoding/json puts
// before it.
func plain(err error) string {
	if field, ok := errors.AsType[*proposal.FieldError](err); ok {
		return field.Field + " " + field.Reason
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// fault is a *VerifyError, whatever of the text was at fault.
func fault(err error) error {
	if bad, ok := errors.AsType[*VerifyError](err); ok {
		return bad
	}
	return notJSON(err, "")
}

// notJSON is the error of a text that is no JSON object: for err, or for why.
func notJSON(err error, why string) error {
	syntax, wrong := errors.AsType[*json.SyntaxError](err)
	switch {
	case wrong:
		why = fmt.Sprintf("a result file is JSON, and this is not, at byte %d", syntax.Offset)
	case errors.Is(err, io.EOF):
		why = "unexpected end of JSON input"
	case err != nil:
		why = plain(err)
	}
	return unverified(-1, WhatJSON, "%s", why)
}

// keys calls visit with the path of every key of every object of text, which is valid
// JSON and stands at root, with the path and " null" of every null, and with the path and length of
// every list, since encoding/json drops what a list of two has behind them. No two places share a
// path.
func keys(root string, text []byte, visit func(path string) error) error {
	type level struct {
		path   string
		object bool
		key    string // the last read, of an object
		named  bool   // a value for it follows
		index  int    // of an array
	}
	var stack []level
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	here := func() string {
		if len(stack) == 0 {
			return root
		}
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
		if len(stack) > 0 {
			at := &stack[len(stack)-1]
			if name, ok := token.(string); ok && at.object && !at.named {
				at.key, at.named = name, true
				if err := visit(here()); err != nil {
					return err
				}
				continue
			}
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			stack = append(stack, level{path: here() + ".", object: token == json.Delim('{')})
			continue
		case json.Delim('}'), json.Delim(']'):
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !at.object {
				if err := visit(fmt.Sprintf("%s with %d values", here(), at.index)); err != nil {
					return err
				}
			}
		case nil:
			if err := visit(here() + " null"); err != nil {
				return err
			}
		}
		if len(stack) > 0 {
			at := &stack[len(stack)-1]
			at.named = false
			at.index++
		}
	}
}

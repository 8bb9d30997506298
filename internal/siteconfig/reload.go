package siteconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// Reread is Read of an agent's own file while it runs: none that others can write to, and none that
// is written to just now. Every error is an *Error.
func Reread(path string) (*Config, error) {
	text, err := reread(path)
	if bad, ok := errors.AsType[*Error](err); ok {
		bad.File = path
		return nil, bad
	}
	if err != nil {
		return nil, &Error{File: path, Reason: Reason(err)}
	}
	return Parse(text, path)
}

func reread(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case !before.Mode().IsRegular():
		return nil, &Error{Reason: "is not a file"}
	case runtime.GOOS != "windows" && before.Mode().Perm()&0o022 != 0:
		return nil, &Error{Reason: fmt.Sprintf("others may write to it (mode %04o); chmod go-w it", before.Mode().Perm())}
	case before.Size() > maxConfig:
		return nil, &Error{Reason: fmt.Sprintf("is longer than %d bytes", maxConfig)}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, err
	}
	return text, unchanged(path, before, len(text))
}

// unchanged is an error where a file of which so many bytes were read has changed.
func unchanged(path string, before os.FileInfo, read int) error {
	after, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) || after.Size() != int64(read) || !after.ModTime().Equal(before.ModTime()) {
		return &Error{Reason: "changed while it was read; try again"}
	}
	return nil
}

// Diff returns the keys by which next differs, sorted: "dataset.icu.path", "policy.max_epsilon",
// with + before a table that is new and - before one that is gone. It holds no value.
func (c *Config) Diff(next *Config) []string {
	var out []string
	differ(&out, "", reflect.ValueOf(*c), reflect.ValueOf(*next))
	slices.Sort(out)
	return out
}

func differ(out *[]string, key string, a, b reflect.Value) {
	join := func(name string) string { return strings.TrimPrefix(key+"."+name, ".") }
	switch {
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			f := a.Type().Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("toml"), ","); f.IsExported() {
				differ(out, join(name), a.Field(i), b.Field(i))
			}
		}
	case a.Kind() == reflect.Map && a.Type().Key().Kind() == reflect.String, a.Kind() == reflect.Slice && hasName(a.Type().Elem()):
		old, now := entries(a), entries(b)
		for name, v := range old {
			if w, stays := now[name]; stays {
				differ(out, join(name), v, w)
			} else {
				*out = append(*out, "-"+join(name))
			}
		}
		for name := range now {
			if _, was := old[name]; !was {
				*out = append(*out, "+"+join(name))
			}
		}
	case !reflect.DeepEqual(a.Interface(), b.Interface()):
		*out = append(*out, key)
	}
}

func hasName(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	f, ok := t.FieldByName("Name")
	return ok && f.Type.Kind() == reflect.String
}

// entries are a map's or a list's, by name.
func entries(v reflect.Value) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	if v.Kind() == reflect.Map {
		for _, k := range v.MapKeys() {
			out[k.String()] = v.MapIndex(k)
		}
		return out
	}
	for i := range v.Len() {
		out[v.Index(i).FieldByName("Name").String()] = v.Index(i)
	}
	return out
}

// NeedsRestart returns which of a diff's keys a running agent cannot take.
func NeedsRestart(diff []string) []string {
	var out []string
	for _, key := range diff {
		if key == "site" || key == "data" || key == "coordinator" {
			out = append(out, key)
		}
	}
	return out
}

// Record is the data set as configured, for ParseDataset: an approval keeps it.
func (d Dataset) Record() []byte {
	text, err := json.Marshal(d)
	if err != nil {
		return nil // text and numbers: never
	}
	return text
}

// ParseDataset reads what Record wrote.
func ParseDataset(text []byte) (d Dataset, err error) {
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return Dataset{}, errors.New("the data set that an approval recorded cannot be read")
	}
	return d, nil
}

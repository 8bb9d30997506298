//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOnce(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	made, flags := file("made", ""), file("flags", "# of the first\n--listen\n :7443 \n\n--name=a b\n")
	for _, c := range []struct {
		args []string
		want []string // nil: nothing runs
		fail bool
	}{
		{[]string{made, "sh", "-c", "true"}, nil, false},
		{[]string{filepath.Join(dir, "not"), "sh", "x", "@" + flags, "y"}, []string{"sh", "x", "--listen", ":7443", "--name=a b", "y"}, false},
		{[]string{filepath.Join(dir, "not"), "sh", "@" + filepath.Join(dir, "absent")}, nil, true},
		{[]string{filepath.Join(dir, "not"), "no-such-command"}, nil, true},
		{[]string{filepath.Join(made, "under-a-file"), "sh"}, nil, true}, // not known to be absent
		{[]string{made}, nil, true},
	} {
		var ran []string
		err := run(c.args, nil, func(path string, args, _ []string) error { ran = args; return nil })
		if (err != nil) != c.fail || !slices.Equal(ran, c.want) {
			t.Errorf("%q ran %q: %v", c.args, ran, err)
		}
	}
}

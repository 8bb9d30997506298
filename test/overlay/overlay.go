// Package overlay gives the compiler other text for files of the tree, so that tests build with a
// promise broken and change nothing in the tree.
package overlay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Edit is a source file, named from the module's root, a text that must be there once, and what is
// put in its place. It is no struct, so that tables of it need no keys.
type Edit [3]string

// Root returns the folder of go.mod, at or above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = fmt.Errorf("no go.mod here or above")
		}
	}
	return "", err
}

// Write writes the edited sources into dir, and the list of them that go build and go test take as
// -overlay, whose path it returns. Files of without, named from the module's root, are not there. A
// text that is not there exactly once is an error: the tree has moved on.
func Write(dir string, edits []Edit, without ...string) (list string, err error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	sources := map[string]string{}
	for _, e := range edits {
		file, old, new := e[0], e[1], e[2]
		text, ok := sources[file]
		if !ok {
			raw, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				return "", err
			}
			text = string(raw)
		}
		if n := strings.Count(text, old); n != 1 {
			return "", fmt.Errorf("%s has %d times %q", file, n, old)
		}
		sources[file] = strings.Replace(text, old, new, 1)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, file := range without {
		overlay.Replace[filepath.Join(root, file)] = ""
	}
	for file, text := range sources {
		at := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, file)] = at
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, raw, 0o600)
}

// Pattern returns what -run takes for one test, or for subtests of it behind slashes.
func Pattern(run string) string {
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(run), "/", "$/^") + "$"
}

// Test returns a go test of one test. pkg is the package's folder below the root, of this module or
// of one inside it; run is the test's name, with those of subtests behind slashes, and no pattern.
func Test(ctx context.Context, pkg, run string, flags ...string) *exec.Cmd {
	args := append([]string{"test", "-vet=off", "-count=1", "-run", Pattern(run)}, flags...)
	cmd := exec.CommandContext(ctx, "go", args...)
	root, err := Root()
	if err != nil {
		cmd.Err = err // what Run returns
	}
	cmd.Dir = filepath.Join(root, pkg)
	return cmd
}

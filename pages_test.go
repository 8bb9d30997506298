package covey

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"covey/internal/study"
)

// TestStudyPageHasEveryKey: docs/study.md names every key that study.toml takes.
func TestStudyPageHasEveryKey(t *testing.T) {
	page, err := os.ReadFile("docs/study.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := keysOf(reflect.TypeFor[study.Spec](), "")
	if len(keys) < 30 {
		t.Fatalf("%d keys; the walk over the fields must be wrong", len(keys))
	}
	for _, key := range keys {
		if !strings.Contains(string(page), "`"+key+"`") && !strings.Contains(string(page), "`[["+key+"]]`") {
			t.Errorf("docs/study.md does not name %s", key)
		}
	}
}

// keysOf returns the TOML keys of a struct, those of nested structs with their parent's name.
func keysOf(typ reflect.Type, prefix string) (keys []string) {
	for field := range typ.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("toml"), ",")
		switch {
		case name == "":
			continue
		case field.Type.Kind() == reflect.Struct:
			keys = append(keys, keysOf(field.Type, prefix+name+".")...)
		default:
			keys = append(keys, prefix+name)
		}
	}
	return keys
}

// TestPageLinks: what a page of ours links to is there.
func TestPageLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	count := 0
	walk(t, ".md", func(path, text string) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			count++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
	})
	if count < 50 {
		t.Errorf("%d links; the pattern must be wrong", count)
	}
}

// TestPictureNamesPackages: the packages in README.md's picture exist, and it has those that a
// row's sum passes.
func TestPictureNamesPackages(t *testing.T) {
	picture, err := os.ReadFile("docs/figures/way.svg")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`class="p">([^<]+)<`).FindAllStringSubmatch(string(picture), -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			named[name] = true
			if _, err := os.Stat(filepath.Join("internal", name)); err != nil {
				t.Errorf("the picture names %s, which is not a package", name)
			}
		}
	}
	for name := range strings.SplitSeq("dataset answer clip noise secagg ledger agent coordinator round study replica", " ") {
		if !named[name] {
			t.Errorf("the picture lacks %s", name)
		}
	}
}

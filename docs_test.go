package covey

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsNameRealTests: every test that a page names is in the tree, so that a
// rule's test cannot go without the page being told.
func TestDocsNameRealTests(t *testing.T) {
	defined := map[string]bool{}
	definition := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	walk(t, ".go", func(path, text string) {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range definition.FindAllStringSubmatch(text, -1) {
				defined[m[1]] = true
			}
		}
	})
	named := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`)
	count := 0
	walk(t, ".md", func(path, text string) {
		for _, name := range named.FindAllString(text, -1) {
			count++
			if !defined[name] {
				t.Errorf("%s names %s, which is no test", path, name)
			}
		}
	})
	if count < 50 {
		t.Errorf("the pages name %d tests; the pattern must be wrong", count)
	}
}

func walk(t *testing.T, ext string, visit func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ext {
			return err
		}
		text, err := os.ReadFile(path)
		visit(path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

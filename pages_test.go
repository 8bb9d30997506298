package covey

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
	for name := range strings.SplitSeq("dataset sitedata answer clip aggregate noise secagg responder ledger agent coordinator session round replica study result", " ") {
		if !named[name] {
			t.Errorf("the picture lacks %s", name)
		}
	}
}

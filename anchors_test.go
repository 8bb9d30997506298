package covey

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// TestPageAnchors: a link to a part of a page of ours names a heading, or an id, that the page has.
func TestPageAnchors(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^#+ (.*)$|id="([^"]+)"`)
	link := regexp.MustCompile(`\]\(([^)#\s]*)#([^)]+)\)`)
	pages, anchors := map[string]string{}, map[string]map[string]bool{}
	walk(t, ".md", func(path, text string) {
		pages[path], anchors[path] = text, map[string]bool{}
		for _, m := range heading.FindAllStringSubmatch(text, -1) {
			anchors[path][anchor(m[1])+m[2]] = true
		}
	})
	count := 0
	for path, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := path
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(path), m[1])
			}
			count++
			if !anchors[target][m[2]] {
				t.Errorf("%s links to #%s of %s, which has no such heading", path, m[2], target)
			}
		}
	}
	if count < 30 {
		t.Errorf("%d links; the pattern must be wrong", count)
	}
}

// anchor returns the name by which a heading is linked to.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

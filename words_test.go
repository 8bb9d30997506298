package covey

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// goFiles visits every Go file that a person wrote.
func goFiles(t *testing.T, visit func(path string, lines []string)) {
	t.Helper()
	generated := regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	walk(t, ".go", func(path, text string) {
		if !generated.MatchString(text) {
			visit(path, strings.Split(text, "\n"))
		}
	})
}

// TestCommentWidth: comments are wrapped at 100 columns, a tab being one of four.
func TestCommentWidth(t *testing.T) {
	all := 0
	goFiles(t, func(path string, lines []string) {
		for i, line := range lines {
			if !strings.HasPrefix(strings.TrimSpace(line), "//") || strings.Contains(line, "//go:") {
				continue
			}
			all++
			if n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")); n > 100 {
				t.Errorf("%s:%d: a comment of %d columns", path, i+1, n)
			}
		}
	})
	if all < 1000 {
		t.Errorf("%d lines of comments; the walk must be wrong", all)
	}
}

// TestImportGroups: this module's packages stand in a group of their own, the last of a file's
// imports.
func TestImportGroups(t *testing.T) {
	goFiles(t, func(path string, lines []string) {
		ours, others, last := false, false, false
		for i, line := range lines {
			switch {
			case strings.HasPrefix(line, "func ") || strings.HasPrefix(line, "type ") || line == ")":
				return
			case line == "":
				last = last || ours
				ours, others = false, false
			case strings.HasPrefix(line, "\t") && strings.HasSuffix(line, `"`):
				own := strings.Contains(line, `"covey/`)
				if ours, others = ours || own, others || !own; ours && others || last {
					t.Errorf("%s:%d: covey's own imports stand in a group of their own, the last", path, i+1)
					return
				}
			}
		}
	})
}

// TestCommentsReturn: a function's comment uses the verbs of Go's standard library, "returns" and
// "reports whether".
func TestCommentsReturn(t *testing.T) {
	doc := regexp.MustCompile(`^\s*// (\w+) (gives|says whether|says that|tells whether) `)
	code := regexp.MustCompile(`^\s*(?:func (?:\([^)]*\) )?)?(\w+)(?:\[[^\]]*\])?\(`)
	results := regexp.MustCompile(`^func .*\) ([^{(]*|\(.*\)|func\(.*\)) {$`)
	goFiles(t, func(path string, lines []string) {
		for i, line := range lines {
			m := doc.FindStringSubmatch(line)
			if m == nil || strings.HasPrefix(m[1], "Test") {
				continue
			}
			next := i
			for next < len(lines)-1 && strings.HasPrefix(strings.TrimSpace(lines[next]), "//") {
				next++
			}
			f := code.FindStringSubmatch(lines[next])
			if f == nil || f[1] != m[1] {
				continue
			}
			// To give somebody something is not to return it.
			if m[2] == "gives" && !results.MatchString(lines[next]) {
				continue
			}
			t.Errorf("%s:%d: %q: write returns, or reports whether", path, i+1, strings.TrimSpace(line))
		}
	})
}

// TestReferencesAreHere: comments and pages point to what the repository has.
func TestReferencesAreHere(t *testing.T) {
	dangling := regexp.MustCompile(`(?i)design[ -]section|design\.md|issue \d+ lists`)
	for _, ext := range []string{".go", ".md", ".proto", ".toml"} {
		walk(t, ext, func(path, text string) {
			if path == "words_test.go" {
				return
			}
			for i, line := range strings.Split(text, "\n") {
				if dangling.MatchString(line) {
					t.Errorf("%s:%d: %q points out of the repository", path, i+1, strings.TrimSpace(line))
				}
			}
		})
	}
}

// TestDependenciesHaveReasons: every module that go.mod requires directly stands in ADR 2.
func TestDependenciesHaveReasons(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	adr, err := os.ReadFile("docs/adr/0002-dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, m := range regexp.MustCompile(`(?m)^\s*(?:require )?(\S+\.\S+/\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1) {
		count++
		// Modules of one project share a line: its last element is named.
		parts := strings.Split(m[1], "/")
		if !strings.Contains(string(adr), m[1]) && !strings.Contains(string(adr), strings.Join(parts[max(0, len(parts)-2):], "/")) && !strings.Contains(string(adr), parts[len(parts)-1]) {
			t.Errorf("go.mod requires %s, and docs/adr/0002-dependencies.md does not say why", m[1])
		}
	}
	if count < 15 {
		t.Errorf("%d direct dependencies; the pattern must be wrong", count)
	}
}

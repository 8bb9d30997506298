package covey

import (
	"cmp"
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A ruleID is a family's letters and a number in it: R7, AG-21.
type ruleID struct {
	family string // with its hyphen
	number int
}

func (r ruleID) String() string { return r.family + strconv.Itoa(r.number) }

func (r ruleID) compare(o ruleID) int {
	return cmp.Or(cmp.Compare(r.family, o.family), cmp.Compare(r.number, o.number))
}

func parseRuleID(t *testing.T, s string) ruleID {
	t.Helper()
	m := regexp.MustCompile(`^([A-Z]+-?)([1-9]\d*)$`).FindStringSubmatch(s)
	if m == nil {
		t.Fatalf("%q is not a rule's number", s)
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		t.Fatal(err)
	}
	return ruleID{m[1], n}
}

// parseRuleIDs returns the rules of a list, of which some may be ranges: "R7, AG-1 to AG-9".
func parseRuleIDs(t *testing.T, list string) (rules []ruleID) {
	t.Helper()
	for part := range strings.SplitSeq(list, ", ") {
		first, last, isRange := strings.Cut(part, " to ")
		from := parseRuleID(t, first)
		to := from
		if isRange {
			to = parseRuleID(t, last)
		}
		if from.family != to.family || from.number > to.number {
			t.Fatalf("%q is not a range of rules", part)
		}
		for n := from.number; n <= to.number; n++ {
			rules = append(rules, ruleID{from.family, n})
		}
	}
	return rules
}

// readRules returns the rules of docs/protocol.md in the order in which they stand. A rule is an
// item "- **A3, AG-1 to AG-9** text": one text may have several numbers. Numbers are unique, and
// within a section the first ones of a family ascend; no MUST stands outside of a rule.
func readRules(t *testing.T) (rules []ruleID) {
	t.Helper()
	text, err := os.ReadFile("docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	item := regexp.MustCompile(`^- \*\*([^*]+)\*\* \S`)
	seen, latest := map[ruleID]bool{}, map[string]int{} // latest is by family: the last item's first
	inside := false
	for i, line := range strings.Split(string(text), "\n") {
		m := item.FindStringSubmatch(line)
		switch {
		case m != nil:
			inside = true
			first := map[string]int{} // by family, of this item
			for _, r := range parseRuleIDs(t, m[1]) {
				if seen[r] {
					t.Errorf("line %d: %s numbers two rules", i+1, r)
				}
				seen[r] = true
				if first[r.family] == 0 {
					first[r.family] = r.number
				}
				rules = append(rules, r)
			}
			for family, n := range first {
				if n < latest[family] {
					t.Errorf("line %d: %s%d follows %s%d", i+1, family, n, family, latest[family])
				}
				latest[family] = n
			}
		case strings.HasPrefix(line, "#"):
			clear(latest)
			inside = false
		case line != "" && !strings.HasPrefix(line, " "):
			inside = false
		}
		if !inside && strings.Contains(line, "MUST") {
			t.Errorf("line %d has a MUST without a number", i+1)
		}
	}
	if len(rules) < 200 {
		t.Errorf("%d rules; the pattern must be wrong", len(rules))
	}
	return rules
}

// TestMustsAreNumberedOnce: each MUST of docs/protocol.md is in a rule, and no two rules share a
// number.
func TestMustsAreNumberedOnce(t *testing.T) { readRules(t) }

// TestRulesAreAtLength: each rule of docs/protocol.md is an item "//   - A3, AG-9: text" of one
// package's comment, which has it at length.
func TestRulesAreAtLength(t *testing.T) {
	item := regexp.MustCompile(`(?m)^//   - ((?:, |[A-Z]+-?[1-9]\d*)+): \S`)
	at := map[ruleID]string{}
	walk(t, ".go", func(path, text string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, m := range item.FindAllStringSubmatch(text, -1) {
			for _, r := range parseRuleIDs(t, m[1]) {
				if at[r] != "" {
					t.Errorf("%s has %s, as has %s", path, r, at[r])
				}
				at[r] = path
			}
		}
	})
	for _, r := range readRules(t) {
		if at[r] == "" {
			t.Errorf("no package's comment has %s", r)
		}
		delete(at, r)
	}
	for r, path := range at {
		t.Errorf("%s: docs/protocol.md has no %s", path, r)
	}
}

// TestRulesHaveTests: docs/rules.csv names, in the order of the rules' numbers, tests that exist
// for each rule of docs/protocol.md. A case is a test's script, or a name in its package's tests.
func TestRulesHaveTests(t *testing.T) {
	file, err := os.Open("docs/rules.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = 4
	lines, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rules := readRules(t)
	sources := map[string]string{} // the tests of a folder
	walk(t, ".go", func(path, text string) {
		if strings.HasSuffix(path, "_test.go") {
			sources[filepath.ToSlash(filepath.Dir(path))] += text
		}
	})
	held, seen := map[ruleID]bool{}, map[string]bool{}
	var latest ruleID
	for _, line := range lines[1:] {
		r, folder, test, part := parseRuleID(t, line[0]), line[1], line[2], line[3]
		if !slices.Contains(rules, r) {
			t.Errorf("docs/rules.csv: docs/protocol.md has no %s", r)
		}
		if !strings.Contains(sources[folder], "\nfunc "+test+"(") {
			t.Errorf("docs/rules.csv: %s: %s has no %s", r, folder, test)
		}
		if part != "" {
			_, err := os.Stat(filepath.Join(folder, "testdata/script", part))
			if err != nil && !strings.Contains(sources[folder], `"`+part+`"`) {
				t.Errorf("docs/rules.csv: %s: %s of %s has no %q", r, test, folder, part)
			}
		}
		if all := strings.Join(line, ","); seen[all] {
			t.Errorf("docs/rules.csv has %s twice", all)
		} else {
			seen[all] = true
		}
		if r.compare(latest) < 0 {
			t.Errorf("docs/rules.csv: %s follows %s", r, latest)
		}
		held[r], latest = true, r
	}
	for _, r := range rules {
		if !held[r] {
			t.Errorf("docs/rules.csv has no test of %s", r)
		}
	}
}

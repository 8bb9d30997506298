package dashboard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	grpccodes "google.golang.org/grpc/codes"

	"covey/internal/study"
)

func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMetricsAreOnThePage: docs/metrics.md has each metric with its labels and words, and no
// other, and the name tells the type; the alerts name none that is not there.
func TestMetricsAreOnThePage(t *testing.T) {
	docs := document(t, "docs/metrics.md")
	known := map[string]bool{"covey_build_info": true}
	for _, m := range all {
		labels := ""
		if len(m.labels) > 0 {
			labels = "{" + strings.Join(m.labels, ",") + "}"
		}
		if counts := m.value == prometheus.CounterValue; counts != strings.HasSuffix(m.name, "_total") {
			t.Errorf("%s: a name that ends in _total is a counter's, and no other", m.name)
		}
		if row := "|`" + m.name + labels + "`|" + m.help + "|\n"; !strings.Contains(docs, row) {
			t.Errorf("docs/metrics.md lacks %s", row)
		}
		known[m.name] = true
	}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\|`(covey_\\w+)[`{]").FindAllStringSubmatch(docs, -1) {
		listed[row[1]] = true
		if !known[row[1]] && !strings.HasPrefix(row[1], "covey_agent_") { // those: cmd/agent's test
			t.Errorf("docs/metrics.md lists %s, which is no metric", row[1])
		}
	}
	alerts := document(t, "deploy/prometheus/alerts.yaml")
	named := regexp.MustCompile(`covey_\w+`).FindAllString(alerts, -1)
	for _, name := range named {
		if !listed[name] {
			t.Errorf("an alert names %s, which is no metric", name)
		}
	}
	if len(named) < 12 || strings.Count(alerts, "- alert: ") != strings.Count(alerts, "what_to_do:") {
		t.Errorf("%d metrics in the alerts; each alert says what to do", len(named))
	}
}

// TestFaultsAreCountedFromZero: a site's first fault of any code is an increase of its series, as
// the alert on it needs.
func TestFaultsAreCountedFromZero(t *testing.T) {
	text, values := "", codes(t)
	for _, pattern := range []string{"coordinator", "session", "round"} {
		files, err := filepath.Glob(filepath.Join("..", pattern, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if !strings.HasSuffix(path, "_test.go") {
				text += document(t, filepath.Join("internal", pattern, filepath.Base(path)))
			}
		}
	}
	found := map[study.Code]bool{}
	for _, m := range regexp.MustCompile(`(?:\.Fault\(|Doubt\{)[\w.]+, study\.(Code\w+)`).FindAllStringSubmatch(text, -1) {
		code := study.Code(values[m[1]])
		if found[code] = true; !slices.Contains(faultCodes, code) {
			t.Errorf("no series for %q before its first fault", code)
		}
	}
	if len(found) != len(faultCodes) {
		t.Errorf("%d codes of faults, and series of %d", len(found), len(faultCodes))
	}
}

// codes returns the values of all constants of a type that is called Code, by
// their names, over all of the code.
func codes(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") && e.Name() != ".." || e.Name() == "proto") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				v := s.(*ast.ValueSpec)
				name, ok := v.Type.(*ast.Ident)
				if !ok || name.Name != "Code" {
					continue
				}
				for i, id := range v.Names {
					// of agent check: docs/commands.md, and a test of internal/agent
					if strings.HasPrefix(id.Name, "Check") {
						continue
					}
					literal, ok := v.Values[i].(*ast.BasicLit)
					if !ok {
						t.Errorf("%s: %s is no literal", path, id.Name)
						continue
					}
					value, err := strconv.Unquote(literal.Value)
					if err != nil {
						return err
					}
					out[id.Name] = value
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCodesAreOnThePage: every code in the code has its meaning and its remedy, here and in
// docs/errors.md in the same words, and the page has no other.
func TestCodesAreOnThePage(t *testing.T) {
	docs := document(t, "docs/errors.md")
	found := codes(t)
	if len(found) < 24 {
		t.Fatalf("%d codes found; the search must be wrong", len(found))
	}
	for name, value := range found {
		m := meaning(study.Code(value))
		if m.Means == "" || m.ToDo == "" {
			t.Errorf("%s (%s) has no meaning here", name, value)
		}
		if row := "|`" + value + "`|" + m.Means + "|" + m.ToDo + "|\n"; !strings.Contains(docs, row) {
			t.Errorf("docs/errors.md lacks %s", row)
		}
	}
	values := map[string]bool{}
	for _, v := range found {
		values[v] = true
	}
	for _, m := range meanings {
		if !values[string(m.Code)] {
			t.Errorf("%s is no code", m.Code)
		}
	}
	section, _, _ := strings.Cut(docs[strings.Index(docs, "## Codes"):], "\n## On the link")
	rows := regexp.MustCompile("(?m)^\\|`(\\w+)`\\|").FindAllStringSubmatch(section, -1)
	for _, row := range rows {
		if !values[row[1]] {
			t.Errorf("docs/errors.md lists %s, which is no code", row[1])
		}
	}
	if !slices.IsSortedFunc(meanings, func(a, b Meaning) int {
		return strings.Index(docs, "|`"+string(a.Code)+"`|") - strings.Index(docs, "|`"+string(b.Code)+"`|")
	}) {
		t.Error("the page has another order")
	}
}

// TestStatusesAreOnThePage: docs/errors.md has every gRPC status with which a coordinator ends a
// link or a join, and no word that is none.
func TestStatusesAreOnThePage(t *testing.T) {
	_, section, _ := strings.Cut(document(t, "docs/errors.md"), "\n## On the link")
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\|`(\\w+)`\\|").FindAllStringSubmatch(section, -1) {
		listed[row[1]] = true
		if code := grpccodes.Code(0); code.UnmarshalJSON([]byte(strconv.Quote(row[1]))) != nil {
			t.Errorf("docs/errors.md lists %s, which is no status", row[1])
		}
	}
	word := regexp.MustCompile(`([a-z])([A-Z])`)
	for _, path := range []string{"internal/admission/door.go", "internal/admission/expiry.go", "internal/coordinator/server.go", "internal/wire/call.go"} {
		found := regexp.MustCompile(`\bcodes\.([A-Z]\w+)`).FindAllStringSubmatch(document(t, path), -1)
		if len(found) == 0 {
			t.Errorf("%s has no status; the pattern must be wrong", path)
		}
		for _, m := range found {
			if name := strings.ToUpper(word.ReplaceAllString(m[1], "${1}_${2}")); !listed[name] {
				t.Errorf("docs/errors.md lacks %s of %s", name, path)
			}
		}
	}
}

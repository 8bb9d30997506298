package covey

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var promtool = flag.String("promtool", "", "the program that also judges the queries of deploy/grafana")

// board is a dashboard in Grafana's classic model, with the fields that ours has.
type board struct {
	ID            *int   // null: Grafana gives it one
	UID           string // at most 40 characters, in addresses
	Title         string
	Description   string
	Tags          []string
	Timezone      string
	Editable      bool
	GraphTooltip  int
	SchemaVersion int
	Version       int
	Refresh       string
	Time          struct{ From, To string }
	Templating    struct{ List []variable }
	Annotations   struct{ List []struct{} }
	Links         []struct{}
	Panels        []panel
}

type variable struct {
	Name, Type, Query, Label string
	Hide, Refresh            int
	Multi, IncludeAll        bool
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int } // of 24 columns
	Datasource               source
	Targets                  []target
	FieldConfig              struct {
		Defaults  json.RawMessage
		Overrides []struct{}
	}
	Options   json.RawMessage
	Collapsed bool       // a row's
	Panels    []struct{} // a collapsed row's
}

type source struct{ Type, UID string }

type target struct {
	RefID, Expr, LegendFormat, Format string
	Datasource                        source
	Instant                           bool
}

// metrics returns the labels of the metrics that docs/metrics.md has; TestMetricsAreOnThePage holds
// it to what coordinators export, and a test of cmd/agent to what agents do.
func metrics(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, m := range regexp.MustCompile("(?m)^\\|`(covey_\\w+)(?:\\{([\\w,]+)\\})?`\\|").FindAllStringSubmatch(string(text), -1) {
		out[m[1]] = []string{"instance", "job"} // those that Prometheus adds
		if m[2] != "" {
			out[m[1]] = append(out[m[1]], strings.Split(m[2], ",")...)
		}
	}
	return out
}

var (
	series   = regexp.MustCompile(`\b([a-z]+_\w+)\b(?:\{([^}]*)\})?`)
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring) \(([^)]*)\)`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	inLegend = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

// judge returns what is wrong with a query and its legend: a metric or a label that no program of
// ours exports, or a label in the legend that the query does not leave.
func judge(known map[string][]string, expr, legend string) (faults []string) {
	var labels, left []string
	bare := grouping.ReplaceAllString(expr, "")
	for _, m := range series.FindAllStringSubmatch(bare, -1) {
		of, ok := known[m[1]]
		if !ok {
			faults = append(faults, m[1]+" is no metric")
		}
		labels = append(labels, of...)
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(of, l[1]) {
				faults = append(faults, m[1]+" has no label "+l[1])
			}
		}
	}
	if len(labels) == 0 {
		faults = append(faults, "it is about nothing")
	}
	left = labels
	for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
		for l := range strings.SplitSeq(m[1], ", ") {
			if !slices.Contains(labels, l) {
				faults = append(faults, "nothing in it has a label "+l)
			}
		}
	}
	if strings.Contains(expr, " by (") {
		left = nil
		for _, m := range regexp.MustCompile(` by \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
			left = append(left, strings.Split(m[1], ", ")...)
		}
	}
	for _, m := range inLegend.FindAllStringSubmatch(legend, -1) {
		if !slices.Contains(left, m[1]) {
			faults = append(faults, "its legend has "+m[1]+", which the query does not leave")
		}
	}
	return faults
}

// TestGrafana: deploy/grafana/covey.json is a dashboard, each of its queries asks for metrics and
// labels that there are, and every metric that an alert watches is on it.
func TestGrafana(t *testing.T) {
	raw, err := os.ReadFile("deploy/grafana/covey.json")
	if err != nil {
		t.Fatal(err)
	}
	var b board
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		t.Fatal(err)
	}
	if b.ID != nil || b.UID == "" || len(b.UID) > 40 || b.Title == "" || b.SchemaVersion < 36 || b.Time.From == "" || b.Time.To == "" {
		t.Errorf("%+v", b)
	}
	if len(b.Templating.List) != 1 || b.Templating.List[0].Name != "datasource" || b.Templating.List[0].Type != "datasource" || b.Templating.List[0].Query != "prometheus" {
		t.Errorf("%+v", b.Templating)
	}
	known, named, ids := metrics(t), map[string]bool{}, map[int]bool{}
	prometheus := source{"prometheus", "${datasource}"}
	taken := map[[2]int]string{} // by column and line
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: board\n    rules:\n")
	for _, p := range b.Panels {
		at := p.GridPos
		if ids[p.ID] || p.ID < 1 || p.Title == "" || at.X < 0 || at.W < 1 || at.X+at.W > 24 || at.H < 1 {
			t.Errorf("panel %d, %q: %+v", p.ID, p.Title, at)
		}
		ids[p.ID] = true
		for x := at.X; x < at.X+at.W; x++ {
			for y := at.Y; y < at.Y+at.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%q lies on %q", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if !slices.Contains([]string{"stat", "timeseries", "state-timeline", "table"}, p.Type) || p.Datasource != prometheus || len(p.Targets) == 0 || p.Description == "" {
			t.Errorf("%q: %+v", p.Title, p)
		}
		for i, q := range p.Targets {
			if q.RefID != string(rune('A'+i)) || q.Datasource != prometheus {
				t.Errorf("%q: %+v", p.Title, q)
			}
			for _, fault := range judge(known, q.Expr, q.LegendFormat) {
				t.Errorf("%q: %s: %s", p.Title, q.Expr, fault)
			}
			for _, m := range series.FindAllStringSubmatch(q.Expr, -1) {
				named[m[1]] = true
			}
			expr, err := json.Marshal(strings.ReplaceAll(q.Expr, "$__rate_interval", "5m"))
			if err != nil {
				t.Fatal(err)
			}
			rules.WriteString("      - { record: x, expr: " + string(expr) + " }\n")
		}
	}
	alerts, err := os.ReadFile("deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`covey_\w+`).FindAllString(string(alerts), -1) {
		if !named[name] {
			t.Errorf("an alert watches %s, which is not on the board", name)
		}
	}
	if *promtool == "" {
		return
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(*promtool, "check", "rules", "--lint=none", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestGrafanaJudge: the judge would notice.
func TestGrafanaJudge(t *testing.T) {
	known := metrics(t)
	if len(known) < 25 || !slices.Contains(known["covey_site_connected"], "site") || slices.Contains(slices.Collect(maps.Keys(known)), "study") {
		t.Fatalf("%q", known)
	}
	for _, c := range []struct{ expr, legend, want string }{
		{"max by (site) (covey_site_connected)", "{{site}}", ""},
		{"sum(covey_site_conected)", "", "covey_site_conected is no metric"},
		{"sum(rate(covey_site_faults_total{kode=\"x\"}[5m]))", "", "no label kode"},
		{"max by (sight) (covey_site_connected)", "", "a label sight"},
		{"max by (site) (covey_site_connected)", "{{instance}}", "legend has instance"},
		{"covey_studies{status=~\"running|failed\"}", "{{study}}", "legend has study"},
		{"covey_study_epsilon / on (study, population) covey_study_rho", "", "a label population"},
		{"up + time()", "", "about nothing"},
	} {
		got := strings.Join(judge(known, c.expr, c.legend), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %s: %q", c.expr, c.legend, got)
		}
	}
}

package covey

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/study"
)

// pageRows returns the cells of docs/study.md's tables, by key.
func pageRows(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("docs/study.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "|`") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		key := strings.Trim(cells[0], "`")
		if len(cells) != 4 || rows[key] != nil || strings.ContainsAny(key, "`, ") {
			t.Errorf("%q is not a row of one key, with values, default and what it does", line)
			continue
		}
		rows[key] = cells
	}
	return rows
}

// TestStudyPageHasEveryKey: docs/study.md has a row for every key that study.toml takes, and none
// for another.
func TestStudyPageHasEveryKey(t *testing.T) {
	rows := pageRows(t)
	keys := append(keysOf(reflect.TypeFor[proposal.Spec](), ""), keysOf(reflect.TypeFor[proposal.Column](), "columns.")...)
	if len(keys) < 40 {
		t.Fatalf("%d keys; the walk over the fields must be wrong", len(keys))
	}
	for _, key := range keys {
		if rows[key] == nil {
			t.Errorf("docs/study.md has no row for %s", key)
		}
		delete(rows, key)
	}
	for key := range rows {
		t.Errorf("docs/study.md has a row for %s, which is no key", key)
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

// plainStudy has what is required, and nothing else.
const plainStudy = "name = \"s\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\n%s\n[[columns]]\nname = \"a\"\n%s\n[[columns]]\nname = \"b\"\nscale = 1\n"

// resolvedKeys returns what every key of a study comes to, as docs/study.md would write it.
func resolvedKeys(t *testing.T, lines, column string) map[string]string {
	t.Helper()
	spec, err := proposal.ParseSpec(fmt.Appendf(nil, plainStudy, lines, column))
	if err != nil {
		t.Fatalf("%s: %v", lines, err)
	}
	text, err := spec.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := toml.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var flat func(prefix string, table map[string]any)
	flat = func(prefix string, table map[string]any) {
		for key, v := range table {
			switch v := v.(type) {
			case map[string]any:
				flat(prefix+key+".", v)
			case []any: // the columns
			default:
				out[prefix+key] = fmt.Sprint(v)
			}
		}
	}
	flat("", tree)
	return out
}

// TestStudyPageDefaults: the defaults of docs/study.md are those of the code. The first value of a
// default's cell is what a plain study has, and what a study with another profile, method, noise or
// standardization has in its place is named in the cell, too.
func TestStudyPageDefaults(t *testing.T) {
	rows := pageRows(t)
	plain := resolvedKeys(t, "", "scale = 1")
	for key, cells := range rows {
		value, column := plain[key], strings.HasPrefix(key, "columns.")
		switch {
		case column || cells[2] == "required":
		case value == "" && strings.HasPrefix(cells[2], "`") && !strings.Contains(cells[2], " with ") && key != "sites_per_unit" && key != "central_detail" && key != "picture":
			t.Errorf("%s: the page has the default %s, a study none", key, cells[2])
		case value != "" && !strings.HasPrefix(cells[2], "`"+value+"`"):
			t.Errorf("%s: the page has the default %q, a study %s", key, cells[2], value)
		}
	}
	for _, lines := range []string{
		"profile = \"paper\"\nlambda = 1.0\nrounds = 24", "profile = \"paper\"\nlambda = \"private\"\nlambda_range = [1.0, 2.0]\nrounds = 24",
		"noise = \"distributed\"", "method = \"covariance\"", "method = \"power\"", "standardize = \"private\"", "missing = \"drop-row\"", "components = 2\npicture = true\ndeadlines.tick = \"1ms\"",
		"unit = \"u\"\nradius = 2.0", "center = \"pairs\"", "explained_variance = \"none\"",
	} {
		column := "scale = 1"
		if strings.Contains(lines, "standardize") {
			column = ""
		}
		for key, value := range resolvedKeys(t, lines, column) {
			if strings.Contains(lines, key+" = ") || value == plain[key] {
				continue
			}
			if !strings.Contains(rows[key][2], "`"+value+"`") {
				t.Errorf("with %q %s is %s, which the page does not name: %q", lines, key, value, rows[key][2])
			}
		}
	}
}

// TestStudyPageRules: the defaults that docs/study.md has as rules are the code's.
func TestStudyPageRules(t *testing.T) {
	rows := pageRows(t)
	says := func(key, text string) {
		t.Helper()
		if !strings.Contains(rows[key][2], text) {
			t.Errorf("%s: the page has the default %q, want %q", key, rows[key][2], text)
		}
	}
	plan := func(sites, units int, lines string) *study.Plan {
		t.Helper()
		spec, err := proposal.ParseSpec(fmt.Appendf(nil, plainStudy, lines, "scale = 1"))
		if err != nil {
			t.Fatal(err)
		}
		var roster []proposal.Member
		for i := range sites {
			key := ed25519.NewKeyFromSeed(append(make([]byte, 30), byte(i), byte(i>>8))).Public().(ed25519.PublicKey)
			roster = append(roster, proposal.Member{Name: fmt.Sprint("s", i), Identity: proposal.Key(key), Units: units})
		}
		body, err := proposal.Propose(spec, roster, ed25519.PublicKey(roster[0].Identity), [32]byte{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := study.NewPlan(body)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	share := func(p *study.Plan, of study.Kind) string {
		sum := 0.0
		for _, q := range p.Queries {
			if q.Kind == study.KindHistogram && q.Of == of {
				sum += q.Rho
			}
		}
		return fmt.Sprintf("%.3g", sum/p.Rho)
	}
	const power = "method = \"power\"\nrows = \"plain\"\ncenter = \"public\"\nexplained_variance = \"none\""
	for units, want := range map[int]string{1999: "0.1", 2000: "0.04"} {
		if got := share(plan(2, units, power), study.KindPower); got != want {
			t.Errorf("%d units: radius_share is %s, want %s", 2*units, got, want)
		}
	}
	says("radius_share", "0.04; 0.1 below 4,000 units")
	const covariance = "method = \"covariance\"\ncenter = \"public\"\nexplained_variance = \"none\""
	for units, want := range map[int]string{3999: "0.04", 4000: "0.01"} {
		if got := share(plan(2, units, covariance), study.KindTotal); got != want {
			t.Errorf("%d units: bound_share is %s, want %s", 2*units, got, want)
		}
	}
	says("bound_share", "0.01; 0.04 below 8,000 units")
	if p := plan(7, 1000, ""); p.Thresholds.Corrupt != 2 || p.SitesPerUnit != 1 {
		t.Errorf("η is %d, a unit is at %d sites", p.Thresholds.Corrupt, p.SitesPerUnit)
	}
	says("corrupt", "⌊(N-1)/3⌋")
	says("sites_per_unit", "`1`")
	long := plan(3, 1000, power+"\nrounds = 80\nnoise = \"distributed\"")
	if got, all := long.Slots-long.Queries.Left(0), long.Queries.Left(0); got != all/4 {
		t.Errorf("%d spare slots of %d queries", got, all)
	}
	if wait := plan(3, 1000, power); wait.Slots != wait.Queries.Left(0) {
		t.Errorf("%d slots of %d queries, waiting", wait.Slots, wait.Queries.Left(0))
	}
	says("spare_slots", "a quarter of the queries, at least 4; 0 with `wait`")
	if few, more := plan(65, 100, ""), plan(65, 100, "dropout = 0.1"); !reflect.DeepEqual(few.Proposal.Graph, more.Proposal.Graph) || few.Proposal.Graph == nil {
		t.Errorf("the graph is %+v, with dropout = 0.1 %+v", few.Proposal.Graph, more.Proposal.Graph)
	}
	says("dropout", "0.1")
	central := plan(3, 1000, power)
	for i, sigma := range []noise.Sigma{1 << 38, 1 << 41, 0} { // 2^28 and 2^31 grid steps, a choice
		want := time.Millisecond + time.Duration(central.Queries[0].Values)*[]time.Duration{time.Microsecond, 5 * time.Microsecond, 45 * time.Microsecond}[i]
		if got := central.Tick(study.Ask{Sigma: sigma}); got != want {
			t.Errorf("a tick of %v at σ = %g, want %v", got, sigma.Float(), want)
		}
	}
	says("deadlines.tick", "1 µs a value of the query")
	says("deadlines.tick", "45 µs for each candidate of a choice")
	for columns, want := range map[int]int{3: 2, 9: 4, 40: 10} {
		text := strings.Builder{}
		fmt.Fprint(&text, "name = \"s\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\ncomponents = \"auto\"\nstandardize = \"private\"\n")
		for i := range columns {
			fmt.Fprintf(&text, "[[columns]]\nname = \"c%d\"\n", i)
		}
		spec, err := proposal.ParseSpec([]byte(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		if spec.ComponentsMax != want {
			t.Errorf("components_max is %d of %d columns, want %d", spec.ComponentsMax, columns, want)
		}
	}
	says("components_max", "at most half the columns, or 2, where constants are learned")
	says("deadlines.tick", "5 µs where σ is above 2^29 grid steps")
}

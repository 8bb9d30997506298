package simulate

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// spec is a study of d columns that a study file says so much of, and its defaults.
func spec(t *testing.T, d int, keys string, column ...string) proposal.Spec {
	t.Helper()
	text := "name = \"s\"\ndataset = \"rows\"\ndelta = 1e-6\nepsilon = 8\n" + keys
	for j := range d {
		text += fmt.Sprintf("\n[[columns]]\nname = \"y%d\"\n", j)
		if len(column) == 0 {
			text += "offset = 0\nscale = 1\n"
		}
	}
	s, err := proposal.ParseSpec([]byte(text + strings.Join(column, "")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func trials(t *testing.T, s proposal.Spec, shape string, times int) Trials {
	t.Helper()
	table, err := ParseTable(shape)
	if err != nil {
		t.Fatal(err)
	}
	sites, law, err := table.Draw(s, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	pooled, err := NewPooled(s, Visits(sites))
	if err != nil {
		t.Fatal(err)
	}
	return Trials{Spec: s, Sites: sites, Pooled: pooled, Law: law, Times: times, Key: [32]byte{2}}
}

// over returns trials over so many sites whose rows are made up.
func over(t *testing.T, x Trials, sites int, rows func(site int) *dataset.Rows) Trials {
	t.Helper()
	for i := range sites {
		site, err := newSite(rows(i))
		if err != nil {
			t.Fatal(err)
		}
		x.Sites = append(x.Sites, site)
	}
	var err error
	if x.Pooled, err = NewPooled(x.Spec, Visits(x.Sites)); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestEveryKindOfStudy: studies of a large budget find nearly the pooled answer, whatever their
// plan. Noise is keyed, so that it passes or fails alike everywhere.
func TestEveryKindOfStudy(t *testing.T) {
	for name, c := range map[string]struct{ keys, shape string }{
		"power":          {"method = \"power\"\ncomponents = 2\n", ""},
		"covariance":     {"method = \"covariance\"\ncomponents = 2\n", ""},
		"deflation":      {"method = \"power\"\nsubspace = \"deflation\"\ncomponents = 2\n", ""},
		"distributed":    {"noise = \"distributed\"\n", ""},
		"power, shares":  {"noise = \"distributed\"\nmethod = \"power\"\n", ""},
		"pairs":          {"center = \"pairs\"\n", ""},
		"public center":  {"center = \"public\"\n", ""},
		"private center": {"center = \"private\"\n", ""},
		"standardize":    {"standardize = \"private\"\nnoise = \"distributed\"\n", ""},
		"filled":         {"missing = \"fill\"\nnoise = \"distributed\"\n", ",gaps=0.1"},
		"zeros":          {"missing = \"zero\"\nnoise = \"distributed\"\n", ",gaps=0.02"},
		"dropped":        {"missing = \"drop-row\"\n", ",gaps=0.02"},
		"units":          {"unit = \"u\"\n", ",per_unit=3"},
		"sites a unit":   {"sites_per_unit = 2\n", ""},
		"heavy tails":    {"", ",tails=4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var column []string
			if strings.HasPrefix(c.keys, "standardize") {
				column = []string{""}
			}
			x := trials(t, spec(t, 6, c.keys, column...), "n=12000,spectrum=exp0.5,sites=3"+c.shape, 3)
			studies, first, err := x.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r := Sum(studies, 0)
			if r.Captured == nil || r.Captured.Worst < 0.97 || r.Captured.Worst > 1+1e-9 || r.CapturedLaw.Worst < 0.95 || !first.Simulated {
				t.Errorf("captured %+v, of the law %+v", r.Captured, r.CapturedLaw)
			}
		})
	}
}

// TestLevels: columns with levels and a site's own mapping, from files and from agent.toml, are one
// study.
func TestLevels(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var plain, mapped strings.Builder
	plain.WriteString("height,sex,weight\n")
	mapped.WriteString("cm;s;kg\n")
	for i := range 3000 {
		x, y := math.Sin(float64(i)), math.Cos(float64(7*i))
		sex, word := "F", "w"
		if x+0.5*y > 0 {
			sex, word = "M", "m"
		}
		fmt.Fprintf(&plain, "%v,%s,%v\n", 1.7+0.1*x, sex, 70+9*x+4*y)
		fmt.Fprintf(&mapped, "%s;%s;%v\n", strings.ReplaceAll(fmt.Sprintf("%.13g", 170+10*x), ".", ","), word, strings.ReplaceAll(fmt.Sprint(70+9*x+4*y), ".", ","))
	}
	s, err := proposal.ParseSpec([]byte("name = \"s\"\ndataset = \"people\"\ndelta = 1e-6\nepsilon = 8\nnoise = \"distributed\"\n" +
		"[[columns]]\nname = \"height\"\noffset = 1.7\nscale = 0.1\n[[columns]]\nname = \"sex\"\nlevels = [\"F\", \"M\"]\n[[columns]]\nname = \"weight\"\noffset = 70\nscale = 10\n"))
	if err != nil {
		t.Fatal(err)
	}
	file := write("a.csv", plain.String())
	write("site/rows.csv", mapped.String())
	write("site/agent.toml", "site = \"b\"\ncoordinator = [\"localhost:1\"]\n[[population]]\nname = \"p\"\nbudget = { epsilon = 1.0, delta = 1e-6 }\n"+
		"[[dataset]]\nname = \"people\"\npath = \"rows.csv\"\npopulation = \"p\"\nseparator = \";\"\ndecimal = \",\"\n[dataset.columns]\nheight = { from = \"cm\", multiply = 0.01 }\nsex = { from = \"s\", names = { \"w\" = \"F\", \"m\" = \"M\" } }\nweight = \"kg\"\n")
	var answers [2]*Pooled
	for i, path := range []string{file, filepath.Join(dir, "site")} {
		site, err := ReadSite(path, s)
		if err != nil {
			t.Fatal(err)
		}
		if answers[i], err = NewPooled(s, Visits([]*Site{site, site})); err != nil {
			t.Fatal(err)
		}
		x := Trials{Spec: s, Sites: []*Site{site, site}, Pooled: answers[i], Times: 2}
		studies, _, err := x.Run(t.Context())
		if r := Sum(studies, 0); err != nil || r.Captured.Worst < 0.99 {
			t.Errorf("%v, captured %+v", err, r.Captured)
		}
	}
	for i := range answers[0].values {
		if math.Abs(answers[0].values[i]-answers[1].values[i]) > 1e-9 {
			t.Errorf("eigenvalue %d: %v of the file, %v by the mapping", i+1, answers[0].values[i], answers[1].values[i])
		}
	}
	if _, err := ReadSite(filepath.Join(dir, "site", "rows.csv"), s); err == nil || !strings.Contains(err.Error(), `set separator = ";"`) || !strings.HasSuffix(err.Error(), "(an agent.toml can be given in place of the file)") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rows.tsv"), []byte("a\tb\n1\t2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSite(filepath.Join(dir, "rows.tsv"), s); err == nil || !strings.HasSuffix(err.Error(), `set format = "csv" for the data set in agent.toml if it is text (an agent.toml can be given in place of the file)`) {
		t.Errorf("%v", err)
	}
	// A site refuses a study of other units than its own, and would have another number of them.
	s.Unit = "s"
	if _, err := ReadSite(filepath.Join(dir, "site"), s); err == nil || !strings.Contains(err.Error(), `its unit is "", the study's "s"`) {
		t.Errorf("%v", err)
	}
	s.Unit, s.Dataset = "", "others"
	if _, err := ReadSite(filepath.Join(dir, "site", "agent.toml"), s); err == nil || !strings.Contains(err.Error(), `no data set "others"`) {
		t.Errorf("%v", err)
	}
}

// TestSiteOfArrays: every program that simulates reads NPY and NPZ.
func TestSiteOfArrays(t *testing.T) {
	s, err := proposal.ParseSpec([]byte("name = \"s\"\ndataset = \"d\"\ndelta = 1e-6\nepsilon = 8\n" +
		"[[columns]]\nname = \"c0\"\noffset = 0\nscale = 1\n[[columns]]\nname = \"c2\"\noffset = 0\nscale = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c-f8.npy", "vectors.npz"} {
		if _, err := ReadSite(filepath.Join("../dataset/npy/testdata/numpy", name), s); err != nil {
			t.Error(err)
		}
	}
}

// TestFreshNoise: studies of one call, and of two keys, differ in noise and nonce; those of one key
// do not.
func TestFreshNoise(t *testing.T) {
	for _, noise := range []string{"central", "distributed"} {
		x := trials(t, spec(t, 4, "noise = \""+noise+"\"\n"), "n=6000,spectrum=slow0.2", 3)
		run := func() []Outcome {
			studies, _, err := x.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return studies
		}
		one, again := run(), run()
		x.Key[0]++
		other := run()
		seen := map[float64]bool{}
		for i := range one {
			if one[i].Captured != again[i].Captured {
				t.Errorf("%s: study %d of one key captures %v and %v", noise, i, one[i].Captured, again[i].Captured)
			}
			seen[one[i].Captured], seen[other[i].Captured] = true, true
		}
		if len(seen) != 6 {
			t.Errorf("%s: 6 studies have %d captured shares", noise, len(seen))
		}
	}
}

// TestNeverVerifies: no simulated result verifies: not as it is, not without its mark, and not with
// everything signed by whatever key an attacker has. Who draws it reads it, unless it was changed.
func TestNeverVerifies(t *testing.T) {
	x := trials(t, spec(t, 4, "method = \"power\"\n"), "n=6000,spectrum=exp0.5,sites=3", 1)
	_, r, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text := func(r result.Result) []byte {
		out, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	verify := func(name string, r result.Result, what string) {
		t.Helper()
		_, err := result.Verify(text(r))
		if bad, ok := errors.AsType[*result.VerifyError](err); !ok || what != "" && bad.What != what {
			t.Errorf("%s: %v, want %s refused", name, err, what)
		}
	}
	verify("as it is", *r, result.WhatSimulated)
	unmarked := *r
	unmarked.Simulated = false
	verify("without its mark", unmarked, "signatures")
	_, key, _ := ed25519.GenerateKey(nil)
	plan, err := study.NewPlan(r.Proposal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := result.Sign(plan, r.Proposal, nil, result.Evidence{}, key); err == nil {
		t.Error("another key signs for the proposal's")
	}
	for _, rel := range r.Releases {
		encoded, err := rel.Encode()
		if err != nil {
			t.Fatal(err)
		}
		unmarked.Signatures = append(unmarked.Signatures, ed25519.Sign(key, study.SigningInput(encoded)))
	}
	verify("signed by some key", unmarked, "signatures")
	for i := range 256 { // keys that older plans without sites had
		seed := [ed25519.SeedSize]byte{byte(i)}
		public := ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
		if bytes.Equal(public, plan.Proposal.Coordinator) {
			t.Error("anybody can make the coordinator's key")
		}
	}

	if got, err := result.ReadSimulated(bytes.NewReader(text(*r))); err != nil || !got.Simulated || len(got.Components) != 1 {
		t.Fatalf("ReadSimulated: %v", err)
	}
	refused := func(name string, change func(r *result.Result)) {
		t.Helper()
		var changed result.Result
		if err := json.Unmarshal(text(*r), &changed); err != nil {
			t.Fatal(err)
		}
		change(&changed)
		if _, err := result.ReadSimulated(bytes.NewReader(text(changed))); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	refused("no mark", func(r *result.Result) { r.Simulated = false })
	refused("a signature", func(r *result.Result) { r.Signature = make([]byte, 64) })
	refused("approvals", func(r *result.Result) { r.Approvals = []result.Blob{make([]byte, 64)} })
	refused("a component", func(r *result.Result) { r.Components[0][0] += 0.01 })
	refused("a release", func(r *result.Result) { r.Releases[len(r.Releases)-1].Noised[0]++ })
	refused("the last release", func(r *result.Result) { r.Releases = r.Releases[:len(r.Releases)-1] })
	refused("a release twice", func(r *result.Result) { r.Releases = append(r.Releases, r.Releases[0]) })
	refused("the digest", func(r *result.Result) { r.Digest[0]++ })
}

// TestSpread: quantiles lie between order statistics, on the bad side of each kind of number.
func TestSpread(t *testing.T) {
	var v []float64
	for i := range 21 {
		v = append(v, float64(20-i))
	}
	if got := spread(v, 1); *got != (Spread{10, 1, 0}) {
		t.Errorf("%+v", got)
	}
	if got := spread(v, -1); *got != (Spread{10, 19, 20}) {
		t.Errorf("%+v", got)
	}
	if spread(nil, 1) != nil {
		t.Error("a spread of nothing")
	}
	lower, captured := 0.9, 0.95
	r := Sum([]Outcome{{Captured: captured, Lower: &lower, Method: "power", Components: 2}, {Captured: 0.8, Lower: &lower, Method: "power", Components: 1}, {Ended: "no_scale"}, {Captured: 0.9, Method: "covariance", Components: 2, NoBound: "few units"}}, 0)
	if r.Bounds != 2 || r.Held != 1 || r.NoBounds["few units"] != 1 || len(r.NoBounds) != 1 || r.Ended["no_scale"] != 1 || r.Methods["power"] != 2 || r.Components[2] != 2 || r.Components[1] != 1 || len(r.Components) != 2 || r.Captured.Worst != 0.8 || r.Captured.Median != 0.9 {
		t.Errorf("%+v", r)
	}
}

// TestSumOfDifferentNumbers: studies that find their number of components are summed up by what
// each has, in whatever order they come.
func TestSumOfDifferentNumbers(t *testing.T) {
	of := func(angles ...float64) Outcome {
		return Outcome{Components: len(angles), Captured: 1, Fit: Fit{Angles: angles}}
	}
	for _, studies := range [][]Outcome{{of(1), of(3, 40, 50), of(2, 30)}, {of(3, 40, 50), of(2, 30), of(1)}} {
		r := Sum(studies, 0)
		if len(r.Angles) != 3 || r.Angles[0].Worst != 3 || r.Angles[1] != (Spread{35, 39.5, 40}) || r.Angles[2].Median != 50 {
			t.Errorf("angles %+v", r.Angles)
		}
		if !maps.Equal(r.Components, map[int]int{1: 1, 2: 1, 3: 1}) {
			t.Errorf("components %v", r.Components)
		}
	}
	x := trials(t, spec(t, 5, "components = \"auto\"\ncomponents_max = 3\n"), "n=6000,spectrum=exp0.3", 2)
	studies, first, err := x.Run(t.Context())
	if err != nil || studies[0].Components != first.K || len(studies[0].Fit.Angles) != first.K {
		t.Errorf("%v: %+v", err, studies)
	}
}

// TestSpreadHasNoNegativeZero: angles are sorted with a sign, and 0 gets none.
func TestSpreadHasNoNegativeZero(t *testing.T) {
	s := spread([]float64{0, 0, 0}, -1)
	for _, v := range []float64{s.Median, s.Tail, s.Worst} {
		if v != 0 || math.Signbit(v) {
			t.Errorf("%v: %+v", v, s)
		}
	}
}

package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	shared "covey/cmd/internal/cli"
	"covey/test/command"
	"covey/test/must"
	"covey/test/network"
	"covey/test/site"
)

func TestMain(m *testing.M) { testscript.Main(waiting{m}, map[string]func(){"coordinator": main}) }

// waiting runs many tests at once, whatever the number of processors: most of their time is other
// processes' waits.
type waiting struct{ m *testing.M }

func (w waiting) Run() int {
	flag.Parse()
	site.InMemory()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	return w.m.Run()
}

// TestScript runs the commands as a person would: separate processes, files and sockets; under
// -short the scripts that need no other program. Scripts name folders relative to the working
// directory, so that a unix socket's path is short wherever the test runs.
func TestScript(t *testing.T) {
	bin := t.TempDir()
	if !testing.Short() { // without what debuggers read, half of the link's time
		build := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, "../agent", "../analyst")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build agent and analyst: %v\n%s", err, out)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			names := []string{"ADDRESS", "ADDRESS2", "ADDRESS3", "PEER1", "PEER2", "PEER3"}
			free, err := network.Free(len(names))
			if err != nil {
				return err
			}
			for i, name := range names {
				e.Setenv(name, free[i])
			}
			e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": command.Code, "poll": poll, "capture": capture, "json": jsonField, "rows": rows, "append": appendFile, "sub": command.Sub, "wide": wide, "proxy": proxies, "others": others, "fetch": fetch,
		},
	})
}

// maxPolls and pollEvery bound poll and fetch to a minute at least: an address where nobody listens
// yet refuses thousands of calls in half a second.
const (
	maxPolls  = 3000
	pollEvery = 20 * time.Millisecond
)

// poll is "poll REGEXP PROGRAM ARGS…": it runs a program until it succeeds
// with stdout that matches.
func poll(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: poll regexp program args...")
	}
	want := regexp.MustCompile("(?m)" + args[0])
	for range maxPolls {
		if err := ts.Exec(args[1], args[2:]...); err == nil && want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		time.Sleep(pollEvery)
	}
	ts.Fatalf("no stdout matched %q in %d tries", args[0], maxPolls)
}

// capture is "capture NAME": the last stdout, trimmed, becomes $NAME.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: capture name")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}

// jsonField is "json PATH REGEXP": the value at the dotted path in the last stdout,
// printed, matches the whole pattern. "length" is an array's length. With "!", there is
// nothing at the path.
func jsonField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || neg == (len(args) == 2) {
		ts.Fatalf("usage: json path regexp, or ! json path")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	found := true
	for key := range strings.SplitSeq(args[0], ".") {
		switch at := v.(type) {
		case map[string]any:
			v, found = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			switch {
			case key == "length":
				v = float64(len(at))
			case err == nil && i < len(at):
				v = at[i]
			default:
				found = false
			}
		default:
			found = false
		}
		if !found {
			break
		}
	}
	if neg {
		if found {
			ts.Fatalf("%s is there", args[0])
		}
		return
	}
	if got := fmt.Sprint(v); !found || !regexp.MustCompile("^(?:"+args[1]+")$").MatchString(got) {
		ts.Fatalf("%s is %s (there: %v), want %s", args[0], got, found, args[1])
	}
}

// rows is "rows FILE N SEED": a CSV of N rows of id, height, weight and age, seeded,
// that vary most along (0.8, 0.6, 0) of the scaled columns.
func rows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: rows file n seed")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	seed, err := strconv.ParseUint(args[2], 10, 64)
	ts.Check(err)
	rng := rand.New(rand.NewPCG(seed, 0))
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	w.Write([]string{"id", "height", "weight", "age"})
	for i := range n {
		s := rng.NormFloat64()
		at := func(offset, scale, loading float64) string {
			return strconv.FormatFloat(offset+scale*(loading*s+0.2*rng.NormFloat64()), 'f', 3, 64)
		}
		w.Write([]string{strconv.Itoa(i), at(170, 10, 0.8), at(70, 15, 0.6), at(50, 10, 0)})
	}
	w.Flush()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text.Bytes(), 0o600))
}

// wide is "wide FILE D N SEED": n rows of d columns c0, c1, …, the first tenth of which
// move together; or, with N and SEED left out, their [[columns]] are added to FILE.
func wide(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 && len(args) != 2 {
		ts.Fatalf("usage: wide file d [n seed]")
	}
	d, err := strconv.Atoi(args[1])
	ts.Check(err)
	var text bytes.Buffer
	if len(args) == 2 {
		text.WriteString(ts.ReadFile(args[0]))
		for j := range d {
			fmt.Fprintf(&text, "[[columns]]\nname = \"c%d\"\nscale = 1\n", j)
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), text.Bytes(), 0o600))
		return
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	seed, err := strconv.ParseUint(args[3], 10, 64)
	ts.Check(err)
	rng := rand.New(rand.NewPCG(seed, 0))
	w := csv.NewWriter(&text)
	line := make([]string, d)
	for j := range line {
		line[j] = fmt.Sprint("c", j)
	}
	w.Write(line)
	for range n {
		s := 8 * rng.NormFloat64()
		for j := range line {
			v := rng.NormFloat64()
			if j < d/10 {
				v += s
			}
			line[j] = strconv.FormatFloat(v, 'f', 3, 64)
		}
		w.Write(line)
	}
	w.Flush()
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text.Bytes(), 0o600))
}

// appendFile is "append FILE SOURCE…": the sources' text is added to the file's,
// with $NAMEs of the environment filled in.
func appendFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: append file source...")
	}
	text := ts.ReadFile(args[0])
	for _, source := range args[1:] {
		text += os.Expand(ts.ReadFile(source), ts.Getenv)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// TestAccountReference checks account's both ways, through the command, against
// numbers computed elsewhere in high precision.
func TestAccountReference(t *testing.T) {
	f := must.Get(os.Open("testdata/accountant.csv"))(t)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	all, err := r.ReadAll()
	if err != nil || len(all) < 10 {
		t.Fatalf("%d lines, %v", len(all), err)
	}
	near := func(got float64, want string) bool {
		w, err := strconv.ParseFloat(want, 64)
		return err == nil && math.Abs(got-w) <= 1e-9*w
	}
	for _, row := range all[1:] {
		sigma, rounds, delta, analytic, zcdp := row[0], row[1], row[2], row[3], row[4]
		t.Run("sigma "+sigma+" T "+rounds+" delta "+delta, func(t *testing.T) {
			gdp := accountJSON(t, "--sigma", sigma, "--rounds", rounds, "--delta", delta)
			// What r of the bridge takes off σ² is 16 of at least 2^30 here, and never a gain.
			if a, z := gdp.Epsilon/gdp.EpsilonAnalytic, gdp.EpsilonZCDP/gdp.EpsilonAnalytic; !near(gdp.EpsilonAnalytic, analytic) || !(a >= 1-1e-11 && a < 1+2e-8) || !(z > 1.04) {
				t.Errorf("gdp: epsilon %.12g, %.12g and %.12g, want %s and %s", gdp.Epsilon, gdp.EpsilonZCDP, gdp.EpsilonAnalytic, analytic, zcdp)
			}
			if back := accountJSON(t, "--epsilon", strconv.FormatFloat(gdp.Epsilon, 'g', -1, 64), "--rounds", rounds, "--delta", delta); !near(back.Sigma, sigma) {
				t.Errorf("gdp: sigma %.12g, want %s", back.Sigma, sigma)
			}
			forth := accountJSON(t, "--sigma", sigma, "--rounds", rounds, "--delta", delta, "--accountant", "zcdp")
			if !near(forth.Epsilon, zcdp) || !near(forth.EpsilonAnalytic, analytic) {
				t.Errorf("epsilon %.12g and %.12g, want %s and %s", forth.Epsilon, forth.EpsilonAnalytic, zcdp, analytic)
			}
			s, _ := strconv.ParseFloat(sigma, 64)
			n, _ := strconv.Atoi(rounds)
			if rho := float64(n) / (2 * s * s); math.Abs(forth.Rho-rho) > 1e-12*rho {
				t.Errorf("rho %v, want %v", forth.Rho, rho)
			}
			back := accountJSON(t, "--epsilon", strconv.FormatFloat(forth.Epsilon, 'g', -1, 64), "--rounds", rounds, "--delta", delta, "--accountant", "zcdp")
			if !near(back.Sigma, sigma) {
				t.Errorf("sigma %.12g, want %s", back.Sigma, sigma)
			}
			// Noise and sensitivity scale together.
			double := accountJSON(t, "--sigma", strconv.FormatFloat(2*s, 'g', -1, 64), "--sensitivity", "2", "--rounds", rounds, "--delta", delta, "--accountant", "zcdp")
			if !near(double.Epsilon, zcdp) {
				t.Errorf("epsilon %.12g with both doubled, want %s", double.Epsilon, zcdp)
			}
		})
	}
}

func accountJSON(t *testing.T, args ...string) account {
	t.Helper()
	var out, errs bytes.Buffer
	if status := run(t.Context(), append([]string{"account", "--json"}, args...), &out, &errs); status != shared.ExitOK {
		t.Fatalf("account %v: exit status %d: %s", args, status, errs.String())
	}
	var a account
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	must.Do(t, d.Decode(&a))
	if _, err := d.Token(); err != io.EOF {
		t.Error("more than one object on stdout")
	}
	return a
}

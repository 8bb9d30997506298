package main

import (
	"flag"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// TestTableGoesOn: lines come back from the file as they were written, a cell that the file has is
// not measured again, and what is printed marks auto where it is behind.
func TestTableGoesOn(t *testing.T) {
	laws, err := run.Laws()
	if err != nil {
		t.Fatal(err)
	}
	var law run.Law
	for _, l := range laws {
		if l.String() == "pow1 d=8 n=2000 k=1" {
			law = l
		}
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	c := cell{law, proposal.NoiseCentral}
	measured, err := c.lines(1, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := addLines(path, measured[:2]); err != nil {
		t.Fatal(err)
	}
	if err := addLines(path, measured[2:]); err != nil {
		t.Fatal(err)
	}
	lines, err := readLines(path)
	if err != nil {
		t.Fatal(err)
	}
	got := linesOf(lines, c)
	if len(got) != len(lineMethods) || linesOf(lines, cell{law, proposal.NoiseDistributed}) != nil {
		t.Fatalf("%+v", got)
	}
	for _, l := range measured {
		if !reflect.DeepEqual(l.record(), got[l.method].record()) {
			t.Errorf("%s: %v, written %v", l.method, got[l.method].record(), l.record())
		}
	}
	if p, a := got[proposal.MethodPower], got[proposal.MethodCovariance]; p.runs != 3 || p.judged != 1 || a.judged != 3 || p.power != 3 || a.power != 0 {
		t.Errorf("power %+v, covariance %+v", p, a)
	}

	behind := got[proposal.MethodAuto]
	behind.captured -= 0.02
	for _, x := range []struct {
		auto tableLine
		want int
	}{{got[proposal.MethodAuto], 0}, {behind, 1}} {
		var text strings.Builder
		missed, err := printLines(&text, laws, []tableLine{got[proposal.MethodPower], got[proposal.MethodCovariance], x.auto, got[wideClip]}, 254)
		if err != nil || missed != x.want || !strings.Contains(text.String(), "\n1 of 254 cells") {
			t.Errorf("%d missed, want %d, %v:\n%s", missed, x.want, err, text.String())
		}
	}
}

// TestTableSkips: with every cell of the selection in the file nothing is measured.
func TestTableSkips(t *testing.T) {
	laws, err := run.Laws()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	for _, l := range laws {
		for _, mode := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
			if err := addLines(path, []tableLine{{law: l.String(), noise: mode, method: proposal.MethodAuto}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	before, err := readLines(path)
	if err != nil {
		t.Fatal(err)
	}
	f := flagSet("table", "-csv", path, "-times", "1")
	if _, err := f(io.Discard); err != nil {
		t.Fatal(err)
	}
	after, err := readLines(path)
	if err != nil || len(after) != len(before) {
		t.Errorf("%d lines, %d before, %v", len(after), len(before), err)
	}
}

// flagSet is a subcommand with its flags set.
func flagSet(name string, args ...string) func(io.Writer) (int, error) {
	f := flag.NewFlagSet(name, flag.PanicOnError)
	measure := experiments[name](f)
	f.Parse(args)
	return measure
}

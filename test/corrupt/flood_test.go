package corrupt

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	measure = flag.Bool("measure", false, "measure each flood by itself, and hold the coordinator to its bounds")
	repeat  = flag.Int("repeat", 5, "pairs of studies a flood with -measure, one without it and one with")
	only    = flag.String("flood", "", "with -measure: floods whose names hold this")
)

const (
	maxMemory = 512.0 // MiB
	maxRatio  = 2.0
)

// assault starts the attacker's process. The returned function ends it and gives what it did.
func (f *fleet) assault(name, home, address string) func() string {
	f.T.Helper()
	exe, err := os.Executable()
	if err != nil {
		f.T.Fatal(err)
	}
	// The least priority: its processor is not the coordinator's, as it would be elsewhere.
	c := exec.Command("nice", "-n", "19", exe, name, address, home)
	c.Env = append(os.Environ(), roleVariable+"="+roleAttacker)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		f.T.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		f.T.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		f.T.Fatal("the attacker did not begin")
	}
	return func() string {
		in.Close()
		var said []string
		for lines.Scan() {
			said = append(said, lines.Text())
		}
		c.Wait()
		return strings.Join(said, "\n")
	}
}

// TestFloods: a study goes to its end while every flood goes on at once, and the coordinator's
// process stays under its bound of memory (LIM-1 to LIM-8). With -measure each flood by itself,
// with the ratio of a round's time.
func TestFloods(t *testing.T) {
	if testing.Short() {
		t.Skip("floods take seconds of real time")
	}
	f := newFleet(t, 5)
	home, address := f.join("mallory")
	if *measure {
		f.measure(home, address)
		return
	}
	f.study()
	end := f.assault("all", home, address)
	f.study()
	now, most := f.memory()
	t.Log(end())
	if most > maxMemory {
		t.Errorf("%.0f MiB of memory, at most %.0f", most, maxMemory)
	}
	t.Logf("figure: all floods at once: %.0f MiB, at most %.0f MiB", now, most)
	f.study() // and nothing stays broken
}

func (f *fleet) measure(home, address string) {
	f.study()
	var table strings.Builder
	fmt.Fprintf(&table, "| flood | a round without, ms | with, ms | ratio | memory, MiB | what came |\n|---|---|---|---|---|---|\n")
	for _, a := range floods {
		if !strings.Contains(a.name, *only) {
			continue
		}
		var without, with []time.Duration
		var did string
		f.forget()
		for range *repeat {
			without = append(without, f.study()...)
			end := f.assault(a.name, home, address)
			time.Sleep(500 * time.Millisecond) // of the flood alone, so that it is under way
			with = append(with, f.study()...)
			did = end()
		}
		_, most := f.memory()
		x, y := median(without), median(with)
		ratio := y / x
		fmt.Fprintf(&table, "| %s | %.1f | %.1f | %.2f | %.0f | %s |\n", a.name, x, y, ratio, most, did)
		f.T.Logf("%s: %.1f -> %.1f ms, %.2f, %.0f MiB; %s", a.name, x, y, ratio, most, did)
		if ratio > maxRatio {
			f.T.Errorf("%s: a round takes %.2f times as long, at most %.0f", a.name, ratio, maxRatio)
		}
		if most > maxMemory {
			f.T.Errorf("%s: %.0f MiB of memory, at most %.0f", a.name, most, maxMemory)
		}
	}
	f.T.Logf("figure:\n%s", table.String())
}

func median(of []time.Duration) float64 {
	slices.Sort(of)
	return of[len(of)/2].Seconds() * 1000
}

package main

import (
	"fmt"
	"slices"
	"strings"
)

// markdown is a table of Markdown: its first row is the head, the first column is text.
func markdown(rows ...[]string) string {
	var out strings.Builder
	for i, r := range rows {
		out.WriteString("|" + strings.Join(r, "|") + "|\n")
		if i == 0 {
			out.WriteString("|---|" + strings.Repeat("--:|", len(r)-1) + "\n")
		}
	}
	return out.String()
}

// missing stands for what was not measured.
const missing = "–"

// median returns a number in a unit that is so many times smaller than the benchmark's.
func (s summary) median(bench, unit string, by float64) string {
	l, ok := s.get(bench, unit)
	if !ok {
		return missing
	}
	return number(l.median / by)
}

// within returns a number with its range.
func (s summary) within(bench, unit string) string {
	l, ok := s.get(bench, unit)
	if !ok {
		return missing
	}
	if l.runs == 1 || fmt.Sprintf("%.2f", l.least) == fmt.Sprintf("%.2f", l.most) {
		return fmt.Sprintf("%.2f", l.median)
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", l.median, l.least, l.most)
}

// by returns the ratio of two benchmarks' medians, times a factor.
func (s summary) by(bench, other, unit string, factor float64) string {
	a, ok := s.get(bench, unit)
	b, also := s.get(other, unit)
	if !ok || !also || b.median == 0 {
		return missing
	}
	return fmt.Sprintf("%.2f", factor*a.median/b.median)
}

// has reports whether any benchmark's name begins so.
func (s summary) has(prefix string) bool {
	return slices.ContainsFunc(s.lines, func(l line) bool { return strings.HasPrefix(l.bench, prefix) })
}

// sum is the name of a benchmark of the kernel.
func sum(d, k int, store string, cores int, impl string) string {
	return fmt.Sprintf("Sum/d=%d/k=%d/store=%s/cores=%d/impl=%s", d, k, store, cores, impl)
}

var dims = []int{64, 256, 1000, 4000}

// path is the one that studies take here. With one direction AVX-512 gains nothing.
func (s summary) path(d, k int) string {
	for _, p := range []string{"avx512", "avx2"} {
		if (k > 1 || p != "avx512") && s.has(sum(d, k, "float64", 1, p)) {
			return p
		}
	}
	return "portable"
}

const cpu = "cpu-ns/op"

func showKernel(s summary) string {
	head := []string{"512 MB, one direction, d ="}
	lines := [][]string{
		{"AVX2, share of the read"}, {"portable Go, share of the read"},
		{"float32's rows a second by float64's"}, {"two cores by one"},
	}
	for _, d := range dims {
		head = append(head, count(float64(d)))
		at := func(store string, cores int, impl string) string { return sum(d, 1, store, cores, impl) }
		best := s.path(d, 1)
		for i, cell := range []string{
			s.by(at("float64", 1, "read"), at("float64", 1, "avx2"), cpu, 1),
			s.by(at("float64", 1, "read"), at("float64", 1, "portable"), cpu, 1),
			s.by(at("float64", 1, best), at("float32", 1, best), cpu, 1),
			s.by(at("float64", 1, best), at("float64", 2, best), "ns/op", 1),
		} {
			lines[i] = append(lines[i], cell)
		}
	}
	out := markdown(append([][]string{head}, lines...)...)
	for _, k := range []int{4, 16} {
		one, all := sum(256, 1, "float64", 1, s.path(256, 1)), sum(256, k, "float64", 1, s.path(256, k))
		out += fmt.Sprintf("\nAt d = 256 one step of %d directions is %s times as fast as %d of one; AVX-512 is %s times as fast as AVX2.", k, s.by(one, all, cpu, float64(k)), k,
			s.by(sum(256, k, "float64", 1, "avx2"), sum(256, k, "float64", 1, "avx512"), cpu, 1))
	}
	return out
}

func showData(s summary) string {
	return markdown([]string{"64 columns, one core", "MB/s"},
		[]string{"CSV of 17 digits, hashed", s.median("CSV/17_digits", "MB/cpu-s", 1)},
		[]string{"Parquet of plain doubles, hashed", s.median("Parquet/d=64/required/rows_and_hash", "MB/cpu-s", 1)},
		[]string{"a cache made from CSV, by the source", s.median("Cache/convert", "MB/cpu-s", 1)},
		[]string{"a cache found again, every checksum compared", s.median("Cache/load_and_verify", "MB/cpu-s", 1)},
		[]string{"a power sum over a mapped cache, its time by that in memory (d = 256)", s.median("Mapped/d=256/float64", "file/memory-median", 1)})
}

func showProject(s summary) string {
	out := [][]string{{"from, to", "rows", "time by reading's", "peak memory, MB"}}
	words := strings.NewReplacer("csv", "CSV", "npy", "NPY", "parquet", "Parquet")
	for _, l := range s.lines {
		if l.unit != "project/read" {
			continue
		}
		f := fields(l.bench)
		var n float64
		fmt.Sscan(f["rows"], &n)
		ratio := s.within(l.bench, l.unit)
		if l.median > 1.5 {
			ratio = "**" + ratio + "**"
		}
		peak, _ := s.get(l.bench, "peak-MB")
		out = append(out, []string{words.Replace(f["in"] + ", " + f["out"]), count(n), ratio, number(peak.most)})
	}
	return markdown(out...)
}

// fields are the values of a benchmark's name, by key.
func fields(bench string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq(bench, "/") {
		if key, value, ok := strings.Cut(part, "="); ok {
			out[key] = value
		}
	}
	return out
}

func showMasks(s summary) string {
	out := [][]string{{"", "median"}}
	what := map[string]string{"Round": "round", "Setup": "setup (20 slots)", "Noise": "its distributed noise"}
	units := map[string]string{"agent-ms": "agent ms", "coordinator-ms": "coordinator ms", "up-B": "bytes up"}
	for _, l := range s.lines {
		unit, ok := units[l.unit]
		if !ok {
			continue
		}
		kind, _, _ := strings.Cut(strings.TrimPrefix(l.bench, "Masks/"), "/")
		var n float64
		fmt.Sscan(fields(l.bench)["N"], &n)
		out = append(out, []string{fmt.Sprintf("%s, N=%s, %s", what[kind], count(n), unit), number(l.median)})
	}
	return markdown(out...)
}

func showStudy(s summary) string {
	out := [][]string{{"the masked study's folders", "wall / unmasked", "aim", "CPU / unmasked", "wall, s", "CPU, s", "setup", "answers", "shares", "opening"}}
	for _, dir := range []string{"disk", "memory"} {
		b := "Study/dir=" + dir
		out = append(out, []string{"on " + dir, s.within(b, "wall/unmasked"), map[string]string{"disk": "1.3", "memory": "1.15"}[dir], s.within(b, "cpu/unmasked"), s.median(b, "wall-ms", 1000), s.median(b, "cpu-ms", 1000),
			s.median(b, "setup-ms", 1000), s.median(b, "answers-ms", 1000), s.median(b, "shares-ms", 1000), s.median(b, "opening-ms", 1000)})
	}
	out[2][0] = "in memory"
	return markdown(out...)
}

func showProcesses(s summary) string {
	out := [][]string{{"", "median"}}
	for _, row := range []struct{ name, unit string }{
		{"wall time, s", "wall-s"}, {"wall time of the first study, s", "first-wall-s"}, {"an agent's peak, MB", "peak-MB"}, {"what it may be, MB", "bound-MB"},
	} {
		out = append(out, []string{row.name, s.median("Processes/build=now", row.unit, 1)})
	}
	return markdown(out...)
}

func showGrowth(s summary) string {
	out := [][]string{{"", "from", "to", "masked", "at the end", "unmasked", "one answer"}}
	for _, axis := range []struct{ name, of string }{
		{"n", "n (N=5, d=64, T=6)"}, {"d", "d (N=5, n=4,000, T=6)"}, {"k", "k (N=5, n=20,000, d=64, T=6)"}, {"N", "N (n=1,000, d=64, T=2)"}, {"T", "T (N=5, n=4,000, d=64)"},
	} {
		x, y := map[string][]float64{}, map[string][]float64{}
		for _, l := range s.lines {
			if at, ok := strings.CutPrefix(l.bench, "Growth/"+axis.name+"="); ok {
				var v float64
				fmt.Sscan(at, &v)
				x[l.unit], y[l.unit] = append(x[l.unit], v), append(y[l.unit], l.median)
			}
		}
		const masked = "masked-cpu-ms"
		all := x[masked]
		if len(all) < 2 {
			continue
		}
		power := func(unit string, last int) string {
			if len(x[unit]) < 2 {
				return ""
			}
			from := max(0, len(x[unit])-last)
			return fmt.Sprintf("%.2f", slope(x[unit][from:], y[unit][from:]))
		}
		out = append(out, []string{axis.of, count(all[0]), count(all[len(all)-1]), power(masked, len(all)), power(masked, 2), power("unmasked-cpu-ms", len(all)), power("answer-cpu-ms", len(all))})
	}
	return markdown(out...)
}

func showLinks(s summary) string {
	out := [][]string{{"", "a query, ms", "without delay, ms", "round trips", "kB up a site and query", "setup, ms", "without delay, ms"}}
	for _, noise := range []string{"central", "distributed"} {
		for _, dropout := range []string{"wait", "continue"} {
			mode := fmt.Sprintf("/on_dropout=%s/noise=%s", dropout, noise)
			far, near := "Links/delay=100ms"+mode, "Links/delay=0s"+mode
			out = append(out, []string{fmt.Sprintf("`%q`, %s noise", dropout, noise), s.median(far, "query-ms", 1), s.median(near, "query-ms", 1), s.median(far, "trips", 1),
				s.median(far, "up-kB/query", 1), s.median(far, "setup-ms", 1), s.median(near, "setup-ms", 1)})
		}
	}
	return markdown(out...)
}

func showCoordinator(s summary) string {
	out := [][]string{{"", "peak, MB", "before the study, MB", "CPU a query, s", "an agent, MB"}}
	for _, l := range s.lines {
		if l.unit != "peak-MB" || !strings.HasPrefix(l.bench, "Memory/") {
			continue
		}
		f, size := fields(l.bench), []string{}
		for _, key := range []string{"N", "d", "k"} {
			var v float64
			fmt.Sscan(f[key], &v)
			size = append(size, key+"="+count(v))
		}
		out = append(out, []string{strings.Join(size, ", "), number(l.median), s.median(l.bench, "idle-MB", 1), s.median(l.bench, "cpu-s/query", 1), s.median(l.bench, "MB/agent", 1)})
	}
	return markdown(out...)
}

func showSetup(s summary) string {
	out := [][]string{{"20 slots", "wall, ms", "on a core a site, ms", "aim, ms"}}
	for _, l := range s.lines {
		if l.unit != "wall-ms" {
			continue
		}
		parts := strings.Split(strings.TrimPrefix(l.bench, "Approved/"), "/")
		aim := map[string]string{"sites=10": "300", "sites=100": "1,500"}[parts[1]]
		out = append(out, []string{fmt.Sprintf("`%q`, %s", parts[0], strings.Replace(parts[1], "sites", "N", 1)), number(l.median), s.median(l.bench, "alone-ms", 1), aim})
	}
	return markdown(out...)
}

func showAgents(s summary) string {
	out := [][]string{{"", "rows, MB", "peak, MB", "bound, MB", "after 10 s, MB"}}
	for _, l := range s.lines {
		if l.unit == "peak-MB" {
			out = append(out, []string{l.bench, s.median(l.bench, "rows-MB", 1), number(l.median), s.median(l.bench, "bound-MB", 1), s.median(l.bench, "left-MB", 1)})
		}
	}
	return markdown(out...)
}

func showSizes(s summary) string {
	out := [][]string{{"d = 2,000, k = 5", "file, MB", "its numbers, MB", "heap to verify it, MB"}}
	for _, l := range s.lines {
		if l.unit == "file-B" {
			out = append(out, []string{strings.TrimPrefix(l.bench, "Sizes/"), number(l.median / 1e6), s.median(l.bench, "vectors-B", 1e6), s.median(l.bench, "peak-B", 1e6)})
		}
	}
	return markdown(out...)
}

// showMany shows the starts, the snapshot, and the slowest of the lists of each side.
func showMany(s summary) string {
	out := [][]string{{"", "wall, ms", "CPU, ms"}}
	row := func(name string, l line) {
		out = append(out, []string{name, number(l.median), s.median(l.bench, "cpu-ms", 1)})
	}
	for _, side := range []string{"coordinator", "agent"} {
		var slowest line
		for _, l := range s.lines {
			what, ok := strings.CutPrefix(l.bench, side+":")
			switch {
			case !ok || l.unit != "wall-ms":
			case strings.HasPrefix(what, "start") || what == "snapshot":
				row(side+": "+strings.ReplaceAll(what, "_", " "), l)
			case what != "make" && l.median > slowest.median:
				slowest = l
			}
		}
		row(side+": the slowest list", slowest)
	}
	return markdown(out...)
}

package main

import (
	"fmt"
	"io"
	"regexp"
	"text/tabwriter"
)

// table is a part of the page.
type table struct {
	name    string
	minutes float64 // that its benchmarks take on two idle cores
	slow    bool    // measured only by name: it takes long, or needs what not every machine has
	benches []bench
	show    func(summary) string // Markdown; nil where the page only links to the CSV
}

const (
	house = "experiments/bench"
	rows  = "experiments/bench/kernel"
)

// tables are in the page's order.
var tables = []table{
	{name: "kernel", minutes: 2, show: showKernel, benches: []bench{
		{dir: rows, pattern: "Sum/d=.*/k=1", times: "3x", count: 3},
		{dir: rows, pattern: "Sum/d=256/k=(4|16)", times: "2x", count: 3},
		{dir: rows, pattern: "Growth", times: "5x", count: 3},
		{dir: rows, pattern: "Moment", times: "10x", count: 3},
	}},
	{name: "openblas", minutes: 3, slow: true, benches: []bench{
		{dir: rows, tags: "openblas", pattern: "Sum/d=.*/k=(1|4|16)/store=float64/cores=1/impl=(openblas|avx2|avx512)", times: "3x", count: 3},
	}},
	{name: "data", minutes: 1.5, show: showData, benches: []bench{
		{dir: "internal/dataset", pattern: "CSV/17_digits", times: "5x", count: 3, flags: oneCore},
		{dir: "internal/dataset/parquet", pattern: "Parquet/d=64/required/rows_and_hash", times: "5x", count: 3, flags: oneCore},
		{dir: "internal/rowcache", pattern: "Cache/(convert|load_and_verify)", times: "3x", count: 3, flags: oneCore},
		{dir: "internal/holding", pattern: "Mapped", times: "21x", count: 2},
	}},
	{name: "project", minutes: 1, show: showProject, benches: []bench{
		project("csv", "csv", 100_000, 3), project("npy", "npy", 500_000, 3), project("npy", "parquet", 500_000, 3), project("npy", "csv", 500_000, 3),
		project("parquet", "parquet", 300_000, 3),
	}},
	{name: "project-large", minutes: 4, slow: true, benches: []bench{project("npy", "npy", 10_000_000, 2)}},
	{name: "masks", minutes: 3, show: showMasks, benches: []bench{
		{dir: house + "/masks", program: true, flags: []string{"-count", "3"}},
	}},
	{name: "masks-large", minutes: 15, slow: true, benches: []bench{
		{dir: house + "/masks", program: true, flags: []string{"-large", "-count", "1"}},
	}},
	{name: "study", minutes: 3, show: showStudy, benches: []bench{{dir: house, pattern: "Study", times: "2x", count: 3}}},
	{name: "processes", minutes: 3.5, show: showProcesses, benches: []bench{{dir: house + "/processes", pattern: "Processes", times: "1x", count: 3}}},
	{name: "setup", minutes: 1.5, show: showSetup, benches: []bench{
		{dir: house, pattern: "Approved", times: "1x", count: 2},
	}},
	{name: "agents", minutes: 2, show: showAgents, benches: []bench{peaks("TestPeaks/(covariance|power|fill)", 6000)}},
	{name: "agents-large", minutes: 15, slow: true, benches: []bench{peaks("TestPeaks", 60_000)}},
	{name: "growth", minutes: 1.5, show: showGrowth, benches: []bench{{dir: house, pattern: "Growth", times: "1x", count: 3}}},
	{name: "links", minutes: 1.5, show: showLinks, benches: []bench{{dir: house, pattern: "Links/delay=(0s|100ms)", times: "1x", count: 2}}},
	{name: "noise", minutes: 0.5, benches: []bench{
		{dir: "internal/noise", pattern: "Share", times: "200ms", count: 5, flags: oneCore},
		{dir: house, pattern: "Noise/N=(10|100)", times: "1x", count: 3},
	}},
	{name: "coordinator", minutes: 2, show: showCoordinator, benches: []bench{{dir: house, pattern: "Memory/N=64/.*", times: "1x", count: 1}}},
	{name: "sizes", minutes: 0.5, show: showSizes, benches: []bench{{dir: "internal/result", pattern: "Sizes", times: "1x", count: 3}}},
	{name: "many", minutes: 5, slow: true, show: showMany, benches: []bench{
		many("internal/coordinator", "coordinator:", 1000), many("internal/agent", "agent:", 200),
	}},
	{name: "coordinator-large", minutes: 8, slow: true, show: showCoordinator, benches: []bench{{dir: house, pattern: "Memory/N=1000/.*", times: "1x", count: 1}}},
}

// many is a test of a package with so many studies.
func many(dir, of string, studies int) bench {
	return bench{dir: dir, pattern: "TestMany", env: fmt.Sprint("COVEY_MANY=", studies), figure: &figure{
		regexp.MustCompile(`(?m)^.*_test\.go:\d+: (.*?\S) +([\d.]+) ms wall +([\d.]+) ms processor$`), of, " 1 $2 wall-ms $3 cpu-ms"}}
}

// peaks is the test of agents' memory, of so many rows of each site.
func peaks(pattern string, rows int) bench {
	return bench{dir: house, pattern: pattern, flags: []string{fmt.Sprint("-peak-rows=", rows)}, figure: &figure{
		regexp.MustCompile(`(?m)figure: (.*): rows (\d+) MB, peak (\d+) MB of (\d+), .*; (\d+) MB after 10 s; ([\d.]+) s, `),
		"", " 1 $2 rows-MB $3 peak-MB $4 bound-MB $5 left-MB $6 wall-s"}}
}

var oneCore = []string{"-test.cpu=1"}

// project is one pair of formats of bench/project.
func project(in, out string, rows, times int) bench {
	return bench{dir: house + "/project", program: true, flags: []string{"-in", in, "-out", out, "-rows", fmt.Sprint(rows), "-times", fmt.Sprint(times)}}
}

// listTables lists names and minutes.
func listTables(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	all := 0.0
	for _, t := range tables {
		note := ""
		if t.slow {
			note = "by name alone"
		} else {
			all += t.minutes
		}
		fmt.Fprintf(w, "%s\t%g min\t%s\n", t.name, t.minutes, note)
	}
	fmt.Fprintf(w, "all that are not slow\t%g min\n", all)
	return w.Flush()
}

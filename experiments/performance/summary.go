package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// line is one quantity of a benchmark over its runs.
type line struct {
	bench, unit         string
	median, least, most float64
	runs                int
}

// summary has a line for each quantity, in the order in which they were first measured.
type summary struct {
	lines []line
	at    map[[2]string]int
}

func (s summary) get(bench, unit string) (line, bool) {
	i, ok := s.at[[2]string{bench, unit}]
	if !ok {
		return line{}, false
	}
	return s.lines[i], true
}

func (s *summary) add(l line) {
	if s.at == nil {
		s.at = map[[2]string]int{}
	}
	s.at[[2]string{l.bench, l.unit}] = len(s.lines)
	s.lines = append(s.lines, l)
}

// processors is what go test puts behind a benchmark's name.
var processors = regexp.MustCompile(`-\d+$`)

// read sums up what benchmarks printed. Lines that are not of a benchmark are passed over.
func read(text string) (s summary) {
	var order [][2]string
	values := map[[2]string][]float64{}
	for l := range strings.Lines(text) {
		words := strings.Fields(l)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(words[0], "Benchmark"), "")
		for i := 2; i+1 < len(words); i += 2 {
			v, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				break
			}
			key := [2]string{name, words[i+1]}
			if values[key] == nil {
				order = append(order, key)
			}
			values[key] = append(values[key], v)
		}
	}
	for _, key := range order {
		v := slices.Sorted(slices.Values(values[key]))
		s.add(line{key[0], key[1], (v[(len(v)-1)/2] + v[len(v)/2]) / 2, v[0], v[len(v)-1], len(v)})
	}
	return s
}

// header is the CSV's first line.
var header = []string{"benchmark", "unit", "median", "least", "most", "runs"}

// write writes a summary as CSV.
func (s summary) write(to io.Writer) error {
	w := csv.NewWriter(to)
	w.Write(header)
	for _, l := range s.lines {
		w.Write([]string{l.bench, l.unit, exact(l.median), exact(l.least), exact(l.most), strconv.Itoa(l.runs)})
	}
	w.Flush()
	return w.Error()
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// readCSV reads what write wrote.
func readCSV(from io.Reader) (s summary, err error) {
	rows, err := csv.NewReader(from).ReadAll()
	if err != nil {
		return s, err
	}
	for i, row := range rows {
		if i == 0 {
			if !slices.Equal(row, header) {
				return s, fmt.Errorf("its columns are %v", row)
			}
			continue
		}
		l := line{bench: row[0], unit: row[1]}
		for j, to := range []*float64{&l.median, &l.least, &l.most} {
			if *to, err = strconv.ParseFloat(row[2+j], 64); err != nil {
				return s, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
		if l.runs, err = strconv.Atoi(row[5]); err != nil {
			return s, fmt.Errorf("line %d: %w", i+1, err)
		}
		s.add(l)
	}
	return s, nil
}

// count returns a whole number in groups of three digits.
func count(v float64) string { return grouped(strconv.FormatFloat(v, 'f', 0, 64)) }

// number returns v with three digits, or as many as its whole part has, in groups of three.
func number(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprint(v)
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	return grouped(strconv.FormatFloat(v, 'f', digits, 64))
}

func grouped(text string) string {
	whole, rest, fraction := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction {
		return whole + "." + rest
	}
	return whole
}

// slope is the exponent p of the least-squares fit y = c·x^p.
func slope(x, y []float64) float64 {
	var mx, my, sxx, sxy float64
	n := float64(len(x))
	for i := range x {
		mx, my = mx+math.Log(x[i])/n, my+math.Log(y[i])/n
	}
	for i := range x {
		u, v := math.Log(x[i])-mx, math.Log(y[i])-my
		sxx, sxy = sxx+u*u, sxy+u*v
	}
	return sxy / sxx
}

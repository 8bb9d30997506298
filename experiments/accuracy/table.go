package main

import (
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// table is the large table: on every law, in both noise modes, what each method captures and what
// the bounds of its results are worth. It adds the cells that a file does not have yet, those that
// cost least first, and prints all that the file has.
func table(f *flag.FlagSet) func(io.Writer) (int, error) {
	path := f.String("csv", "../docs/figures/accuracy/table.csv", "the file of cells: read, and added to")
	times := f.Int("times", 40, "studies a line; data and noise are seeded")
	bounds := f.Int("bounds", 10, "of so many of a line by power iteration bounds are judged, of other lines of all; below 0: of none")
	first := f.Uint64("seed", 30_000, "the first study's seed")
	only := f.String("data", "", "only laws whose line (name d=D n=N k=K) has this in it")
	named := f.String("laws", "", "in place of the listed laws, \"name:d:n:k\" with a space between")
	noise := f.String("noise", "", "only this noise mode: central or distributed")
	columns := f.Int("columns", 512, "only laws of so many columns at most")
	units := f.Int("units", 1<<30, "only laws of so many units at most")
	minutes := f.Float64("minutes", 0, "begin no cell after so many; 0: no limit, below 0: begin none")
	procs := f.Int("procs", runtime.GOMAXPROCS(0), "studies side by side")
	return func(to io.Writer) (missed int, err error) {
		runtime.GOMAXPROCS(*procs)
		laws, err := run.Laws()
		if *named != "" {
			laws, err = lawsOf(*named)
		}
		if err != nil {
			return 0, err
		}
		slices.SortStableFunc(laws, func(a, b run.Law) int { return a.N*a.D*a.D*a.K - b.N*b.D*b.D*b.K })
		lines, err := readLines(*path)
		if err != nil {
			return 0, err
		}
		cells, start := 0, time.Now()
		for _, l := range laws {
			for _, mode := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
				cells++
				c := cell{l, mode}
				if linesOf(lines, c) != nil || *minutes != 0 && time.Since(start).Minutes() > *minutes ||
					!strings.Contains(l.String(), *only) || *noise != "" && *noise != mode || l.D > *columns || l.N > *units {
					continue
				}
				fmt.Fprintf(os.Stderr, "%s: %v, %s noise\n", time.Now().Format(time.TimeOnly), l, mode)
				more, err := c.lines(*first, *times, *bounds)
				if err != nil {
					return 0, fmt.Errorf("%v: %w", l, err)
				}
				if err := addLines(*path, more); err != nil {
					return 0, err
				}
				lines = append(lines, more...)
			}
		}
		return printLines(to, laws, lines, cells)
	}
}

// tableLine is one method of one cell: a row of the file.
type tableLine struct {
	law, noise, method string
	iota               float64
	first              uint64
	runs               int
	captured, low      float64 // mean, and the 5% quantile
	power              int     // that took power iteration
	judged             int     // of the runs
	given, held        int     // bounds of the share
	slack              float64 // of those given, median
	angles             [2]int  // that held, of so many
	angle              float64 // mean, in degrees
	groups, loadings   [2]int
	half               float64 // mean, times √d
	ties, wide         [2]int  // separated, of so many
	alarms             [2]int
	unfinished         int
	slacks             run.Sample // where more than 0.97 is captured
}

var lineHead = []string{
	"law", "noise", "method", "ι", "first seed", "studies", "captured", "5% quantile", "took power", "judged", "bounds given", "bounds held", "median slack",
	"angles held", "angles", "mean angle", "groups held", "groups", "loadings held", "loadings", "mean half-width·√d", "ties separated", "ties",
	"wide gaps separated", "wide gaps", "alarms", "alarms possible", "unfinished", "slacks where more than 0.97 is captured",
}

func (l tableLine) record() []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', 4, 64) }
	out := []string{l.law, l.noise, l.method, number(l.iota), strconv.FormatUint(l.first, 10), strconv.Itoa(l.runs), number(l.captured), number(l.low)}
	add := func(counts ...int) {
		for _, v := range counts {
			out = append(out, strconv.Itoa(v))
		}
	}
	add(l.power, l.judged, l.given, l.held)
	out = append(out, number(l.slack))
	add(l.angles[:]...)
	out = append(out, number(l.angle))
	add(l.groups[:]...)
	add(l.loadings[:]...)
	out = append(out, number(l.half))
	add(l.ties[:]...)
	add(l.wide[:]...)
	add(l.alarms[:]...)
	add(l.unfinished)
	var slacks []string
	for _, v := range l.slacks {
		slacks = append(slacks, number(v))
	}
	return append(out, strings.Join(slacks, " "))
}

// lineFrom is the inverse of record.
func lineFrom(r []string) (l tableLine, err error) {
	at := 0
	next := func() string { at++; return r[at-1] }
	number := func(v *float64) {
		x, e := strconv.ParseFloat(next(), 64)
		*v, err = x, errors.Join(err, e)
	}
	count := func(into ...*int) {
		for _, v := range into {
			x, e := strconv.Atoi(next())
			*v, err = x, errors.Join(err, e)
		}
	}
	l.law, l.noise, l.method = next(), next(), next()
	number(&l.iota)
	first, e := strconv.ParseUint(next(), 10, 64)
	l.first, err = first, errors.Join(err, e)
	count(&l.runs)
	number(&l.captured)
	number(&l.low)
	count(&l.power, &l.judged, &l.given, &l.held)
	number(&l.slack)
	count(&l.angles[0], &l.angles[1])
	number(&l.angle)
	count(&l.groups[0], &l.groups[1], &l.loadings[0], &l.loadings[1])
	number(&l.half)
	count(&l.ties[0], &l.ties[1], &l.wide[0], &l.wide[1], &l.alarms[0], &l.alarms[1], &l.unfinished)
	for _, text := range strings.Fields(next()) {
		v, e := strconv.ParseFloat(text, 64)
		l.slacks, err = append(l.slacks, v), errors.Join(err, e)
	}
	return l, err
}

// readLines returns the lines of a file; none where there is no file.
func readLines(path string) ([]tableLine, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows := csv.NewReader(f)
	rows.FieldsPerRecord = len(lineHead)
	all, err := rows.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var out []tableLine
	for i, r := range all[min(1, len(all)):] {
		l, err := lineFrom(r)
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", path, i+2, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// addLines adds a whole cell to the file at once, so that what is stopped leaves whole cells.
func addLines(path string, lines []tableLine) error {
	var text strings.Builder
	w := csv.NewWriter(&text)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := w.Write(lineHead); err != nil {
			return err
		}
	}
	for _, l := range lines {
		if err := w.Write(l.record()); err != nil {
			return err
		}
	}
	w.Flush()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text.String())
	return errors.Join(err, f.Close())
}

// linesOf returns the lines of a cell, by method; nil where there are none.
func linesOf(lines []tableLine, c cell) map[string]tableLine {
	var out map[string]tableLine
	for _, l := range lines {
		if l.law == c.law.String() && l.noise == c.noise {
			if out == nil {
				out = map[string]tableLine{}
			}
			out[l.method] = l
		}
	}
	return out
}

// printLines prints what the file has of each law, and the sums over elliptical laws and, of these,
// those held out. A line where auto is behind by more than limits allows, and one whose bounds or
// angles hold in less than 80% where something was promised, is a miss.
func printLines(to io.Writer, laws []run.Law, lines []tableLine, cells int) (missed int, err error) {
	part := func(v [2]int) string {
		if v[1] == 0 {
			return "-"
		}
		return fmt.Sprintf("%d/%d", v[0], v[1])
	}
	w := columns(to, "law\tnoise\tι\tstudies\tpower\t5%\tcovariance\t5%\tat 0.9\t5%\tauto\t5%\ttook power\tbehind\t5%\t"+
		"bounds of power\tslack\tof covariance\tslack\tof auto\tslack\tangles of auto\tloadings\t")
	sums := map[string]*tableLine{}
	sum := func(key string, l tableLine) {
		s := sums[key]
		if s == nil {
			s = &tableLine{}
			sums[key] = s
		}
		for _, add := range []struct{ to, from *[2]int }{{&s.angles, &l.angles}, {&s.groups, &l.groups}, {&s.loadings, &l.loadings}, {&s.ties, &l.ties}, {&s.wide, &l.wide}, {&s.alarms, &l.alarms}} {
			add.to[0] += add.from[0]
			add.to[1] += add.from[1]
		}
		s.given, s.held, s.runs, s.judged = s.given+l.given, s.held+l.held, s.runs+l.runs, s.judged+l.judged
		s.slacks = append(s.slacks, l.slacks...)
	}
	done := 0
	var below []string
	for _, law := range laws {
		for _, mode := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
			of := linesOf(lines, cell{law, mode})
			if of == nil {
				continue
			}
			done++
			p, c, a := of[proposal.MethodPower], of[proposal.MethodCovariance], of[proposal.MethodAuto]
			mean, low := behind(of)
			mark := ""
			if why := limits(law, p.iota, max(p.captured, c.captured), a.captured, of[wideClip].captured, low); why != "" {
				missed++
				mark = " " + why
			}
			fmt.Fprintf(w, "%v\t%s\t%.2f\t%d\t", law, mode, p.iota, p.runs)
			for _, method := range []string{proposal.MethodPower, proposal.MethodCovariance, wideClip, proposal.MethodAuto} {
				fmt.Fprintf(w, "%.4f\t%.4f\t", of[method].captured, of[method].low)
			}
			fmt.Fprintf(w, "%d\t%.4f\t%.4f%s\t", a.power, max(0, mean), max(0, low), mark)
			for _, l := range []tableLine{p, c, a} {
				fmt.Fprintf(w, "%s\t%.4f\t", part([2]int{l.held, l.given}), l.slack)
			}
			fmt.Fprintf(w, "%s\t%s\t\n", part(a.angles), part(a.loadings))
			for _, l := range []tableLine{p, c, a} {
				if law.Elliptical() {
					group := l.method + ", " + mode
					if l.method == proposal.MethodPower {
						group += fmt.Sprintf(", k = %d", law.K)
					}
					sum(group, l)
					if law.Held {
						sum(group+", held out", l)
					}
				}
				if few(l.held, l.given) || few(l.angles[0], l.angles[1]) {
					used := l.method
					if l.power > l.runs/2 {
						used = proposal.MethodPower
					}
					where := "MISSED"
					if o := outsideOf(law, judged{iota: l.iota, method: used}); o != "" {
						where = "outside the promise: " + o
					} else {
						missed++
					}
					below = append(below, fmt.Sprintf("below 80%%: %v, %s noise, %s: %s shares, %s angles, %s", law, mode, l.method, part([2]int{l.held, l.given}), part(l.angles), where))
				}
			}
		}
	}
	if err := w.Flush(); err != nil {
		return missed, err
	}
	fmt.Fprintf(to, "\n%d of %d cells of a law and a noise mode, with each method. Elliptical laws:\n\n", done, cells)
	w = columns(to, "\tstudies\tjudged\tbounds held\tslack above 0.97\t90%\tof\tangles held\tgroups held\tloadings held\tties separated\twide gaps separated\talarms\t")
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		s := sums[key]
		slack, high := "-", "-"
		if len(s.slacks) > 0 {
			slack, high = fmt.Sprintf("%.4f", s.slacks.Quantile(0.5)), fmt.Sprintf("%.4f", s.slacks.Quantile(0.9))
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", key, s.runs, s.judged, part([2]int{s.held, s.given}), slack, high, len(s.slacks),
			part(s.angles), part(s.groups), part(s.loadings), part(s.ties), part(s.wide), part(s.alarms))
	}
	if err := w.Flush(); err != nil {
		return missed, err
	}
	fmt.Fprintln(to)
	for _, text := range below {
		fmt.Fprintln(to, text)
	}
	return missed, nil
}

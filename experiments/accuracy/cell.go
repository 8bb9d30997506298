package main

import (
	"fmt"
	"math"
	"strconv"

	"covey/experiments/run"
	"covey/internal/proposal"
	"covey/internal/worth"
)

// cell is a law and a noise mode, with a line for each method.
type cell struct {
	law   run.Law
	noise string
}

// wideClip stands for a covariance clipped at the rows' own 0.9 quantile.
const wideClip = "covariance at 0.9"

var lineMethods = []string{proposal.MethodPower, proposal.MethodCovariance, proposal.MethodAuto, wideClip}

// lines measures a cell.
func (c cell) lines(first uint64, times, bounds int) ([]tableLine, error) {
	source := c.law.Source
	if c.law.N*c.law.D*c.law.D <= 1<<29 {
		source = run.Rotated(source)
	}
	all := make([][]judged, len(lineMethods))
	iota := 0.0
	for i := range all {
		all[i] = make([]judged, times)
	}
	_, err := run.Repeat(times, func(i uint64) ([]float64, error) {
		m, err := source.Draw(c.law.N, first+i)
		if err != nil {
			return nil, err
		}
		for at, method := range lineMethods {
			spec := run.Spec(c.law.D, 1)
			spec.Components, spec.Method, spec.Noise = proposal.Components(c.law.K), method, c.noise
			if method == wideClip {
				spec.Method = proposal.MethodCovariance
				spec.NormBound = proposal.Scalar(strconv.FormatFloat(m.NormQuantile(0.9), 'g', -1, 64))
			}
			plan, r, err := run.Study{Spec: spec, Fixed: true}.Planned(m, first+i)
			if err != nil {
				return nil, err
			}
			report := &worth.Report{}
			if bounds >= 0 && method != wideClip && (r.Method == proposal.MethodCovariance || int(i) < bounds) {
				if report, err = worth.Of(plan, r); err != nil {
					return nil, err
				}
			}
			j := judge(m, r, report, 0)
			j.iota = plan.Iota
			if i == 0 {
				iota = plan.Iota
			}
			all[at][i] = j
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	var out []tableLine
	for at, method := range lineMethods {
		l := summed(all[at], bounds, c.law.D, method)
		l.law, l.noise, l.method, l.iota, l.first = c.law.String(), c.noise, method, iota, first
		out = append(out, l)
	}
	return out, nil
}

// summed is what the studies of a line come to.
func summed(runs []judged, bounds, d int, method string) tableLine {
	l := tableLine{runs: len(runs)}
	var truth, slack run.Sample
	angles, half := 0.0, 0.0
	for i, j := range runs {
		truth = append(truth, j.truth)
		if j.method == proposal.MethodPower {
			l.power++
		}
		if bounds < 0 || method == wideClip || j.method == proposal.MethodPower && i >= bounds {
			continue
		}
		l.judged++
		if j.given {
			l.given++
			if j.lower <= j.truth {
				l.held++
			}
			slack = append(slack, j.truth-j.lower)
			if j.truth > 0.97 {
				l.slacks = append(l.slacks, j.truth-j.lower)
			}
		}
		for _, of := range []struct {
			sum     *[2]int
			got, of int
		}{
			{&l.angles, j.anglesHeld, j.angles}, {&l.groups, j.groupsHeld, j.groups}, {&l.loadings, j.loadingsHeld, j.loadings},
			{&l.ties, j.tiesSeparated, j.ties}, {&l.wide, j.wideSeparated, j.wide}, {&l.alarms, j.alarmed, j.alarm},
		} {
			of.sum[0] += of.got
			of.sum[1] += of.of
		}
		angles, half = angles+j.angleSum, half+j.halfSum
		if j.unfinished {
			l.unfinished++
		}
	}
	l.captured, l.low = truth.Mean(), truth.Quantile(0.05)
	if len(slack) > 0 {
		l.slack = slack.Quantile(0.5)
	}
	if l.angles[1] > 0 {
		l.angle = angles / float64(l.angles[1])
	}
	if l.loadings[1] > 0 {
		l.half = half / float64(l.loadings[1]) * math.Sqrt(float64(d))
	}
	return l
}

// behind is how far a is behind the better of two methods, in the mean and in the 5% quantile.
func behind(of map[string]tableLine) (mean, low float64) {
	p, c, a := of[proposal.MethodPower], of[proposal.MethodCovariance], of[proposal.MethodAuto]
	return max(p.captured, c.captured) - a.captured, max(p.low, c.low) - a.low
}

// limits returns what auto misses of the means of the best shipped method, auto and the wide clip,
// and of how far it is behind in the 5% quantile; empty for nothing. Where public sizes decide it
// may be 0.01 behind, 0.03 in the 5% quantile, on every law. Elsewhere, on elliptical laws, 0.02
// where the best captures 0.95, else 1.35 times its error, and 0.05 in the 5% quantile. On clusters
// it may never be 0.005 behind a covariance clipped at the 0.9 quantile.
func limits(l run.Law, iota, best, auto, wide, low float64) string {
	behind := best - auto
	switch {
	case l.Family == "clusters" && wide-auto > 0.005:
		return "behind 0.9"
	case iota <= 0.3 && behind > 0.01, iota > 0.3 && l.Elliptical() && best >= 0.95 && behind > 0.02:
		return "mean"
	case iota <= 0.3 && low > 0.03, iota > 0.3 && l.Elliptical() && low > 0.05:
		return "5%"
	case iota > 0.3 && l.Elliptical() && best < 0.95 && 1-auto > 1.35*(1-best):
		return fmt.Sprintf("%.2f times", (1-auto)/math.Max(1e-9, 1-best))
	}
	return ""
}

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"covey/internal/coordinator"
	"covey/internal/round"
	"covey/internal/study"
)

// progress shows a study's views: a bar on a terminal, a line for each change
// of what there is to say elsewhere.
type progress struct {
	out  io.Writer
	bar  *progressbar.ProgressBar
	said string
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(1,
			progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(24), progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true))
	}
	return p
}

func (p *progress) see(v coordinator.View) {
	text := describe(v)
	if p.bar != nil {
		if len(v.Waiting) > 0 && v.Status == round.StatusRunning && len(missingSites(v)) == 0 {
			text += ", awaits " + few(v.Waiting) // changes with every upload: on a terminal alone
		}
		p.bar.ChangeMax(v.Queries)
		p.bar.Describe(text)
		p.bar.Set(v.Query)
		return
	}
	if text != p.said {
		p.said = text
		fmt.Fprintln(p.out, text)
	}
}

func (p *progress) done() {
	if p.bar != nil {
		p.bar.Finish()
	}
}

// describe says in one line where a study stands, for whom it waits and until when.
func describe(v coordinator.View) string {
	connected := 0
	for _, s := range v.Sites {
		if s.Connected {
			connected++
		}
	}
	sites := fmt.Sprintf("%d/%d sites", connected, len(v.Sites))
	switch v.Status {
	case round.StatusProposed:
		return "waiting for approval by " + few(v.Waiting)
	case round.StatusSetup:
		text := fmt.Sprintf("setup, %s", sites)
		if missing := missingSites(v); len(missing) > 0 {
			text += ", waiting for " + few(missing)
		}
		return text
	case round.StatusRunning:
		text := fmt.Sprintf("%s, %s, %s", step(v), sites, privacy(v))
		if v.NoiseToSignal != nil {
			text += fmt.Sprintf(", noise-to-signal %.3f", *v.NoiseToSignal)
		}
		if missing := missingSites(v); len(missing) > 0 {
			if until := time.Until(v.Deadline); until > 0 {
				text += fmt.Sprintf(", waiting for %s until %s", strings.Join(missing, ", "), v.Deadline.Format(time.TimeOnly))
			} else {
				text += ", waiting for " + strings.Join(missing, ", ")
			}
		}
		return text
	default:
		return fmt.Sprintf("%s after %d rounds, %d queries, %s", v.Status, v.Round, v.Released, privacy(v))
	}
}

// privacy is the study's bound and how much of it is charged.
func privacy(v coordinator.View) string {
	share := 0.0
	if v.RhoPlanned > 0 {
		share = 100 * v.Rho / v.RhoPlanned
	}
	return fmt.Sprintf("ε = %g (%.0f%% charged)", v.Epsilon, share)
}

// few names at most five.
func few(names []string) string {
	if len(names) > 5 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), len(names)-5)
	}
	return strings.Join(names, ", ")
}

// step says what the open query is for.
func step(v coordinator.View) string {
	kind := v.Kind
	if kind == study.KindHistogram {
		kind = v.Of
	}
	switch kind {
	case study.KindMean:
		return fmt.Sprintf("mean, step %d/2", v.Round+1)
	case study.KindMoment:
		return "covariance"
	case study.KindVariance, study.KindTotal:
		if v.Kind == study.KindHistogram && kind == study.KindTotal {
			return "norms of rows"
		}
		return "explained variance"
	case study.KindRows:
		return "rows per unit"
	case study.KindLambda, study.KindSelect:
		return "scale"
	}
	text := fmt.Sprintf("round %d/%d", v.Round+1, v.Rounds)
	if v.Runs > 1 {
		text = fmt.Sprintf("component %d/%d, %s", v.Run+1, v.Runs, text)
	}
	return text
}

// missingSites are the awaited sites without a link.
func missingSites(v coordinator.View) []string {
	var out []string
	for _, s := range v.Sites {
		for _, w := range v.Waiting {
			if s.Name == w && !s.Connected {
				out = append(out, w)
			}
		}
	}
	return out
}

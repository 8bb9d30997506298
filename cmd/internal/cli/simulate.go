package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/simulate"
)

// Simulate runs studies of a study file on rows that are here, without a federation.
type Simulate struct {
	Study     string   `arg:"" type:"existingfile" help:"study.toml."`
	Files     []string `arg:"" optional:"" help:"One for each site: a file of rows with the study's columns, or an agent.toml (or its folder), whose data set and mapping are used."`
	Synthetic string   `placeholder:"SHAPE" help:"Draw a table instead: n=20000,spectrum=slow0.2 and, if wanted, d, sites, tails, gaps, per_unit."`
	Times     int      `default:"20" help:"How many studies."`
	Result    string   `placeholder:"FILE" help:"Write the first study's result to this new file, to try the export on it. It is marked as simulated and never verifies."`
	Values    bool     `help:"Print even where stdout is not a terminal. With real files it prints exact figures of the pooled rows."`
}

// Help is kong's longer text.
func (Simulate) Help() string {
	return `Runs the study's own queries on the rows, with noise drawn anew each time, and compares each result
with the principal components of the pooled rows without privacy. Keys and masks are left out: they
cancel in every sum. It opens no ledger and sends nothing. What it prints about real files is exact,
and no budget counts it: use nothing of it to choose a study on the same rows.

--synthetic draws rows of a spectrum in a random basis: ` + simulate.Spectra + `.
tails=3 makes them heavy, gaps=0.05 empties cells.`
}

// mostTimes bounds --times.
const mostTimes = 10_000

// simulated is simulate's --json.
type simulated struct {
	Study   string  `json:"study"`
	Sites   int     `json:"sites"`
	N       int     `json:"n"`
	D       int     `json:"d"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Rho     float64 `json:"rho"`
	Queries int     `json:"queries"`
	Bytes   int     `json:"bytes_per_site"` // of masked sums
	simulate.Report
	auto bool // the studies find the number of components
}

// Run prints what the studies find.
func (c *Simulate) Run(t *Terminal) error {
	trials, err := c.trials(t)
	if err != nil {
		return err
	}
	plan, _, err := trials.Plan([32]byte{})
	if err != nil {
		return InFile(c.Study, err)
	}
	for _, text := range plan.Warnings() {
		t.Say("warning: %s", text)
	}
	width := Width(t.Err)
	if width != nil {
		trials.Step = func(done int) { fmt.Fprintf(Raw(t.Err), "\r%d of %d studies\x1b[K", done, trials.Times) }
		trials.Step(0) // one can take minutes
	}
	begun := time.Now()
	studies, first, err := trials.Run(t.Ctx)
	if width != nil {
		fmt.Fprint(Raw(t.Err), "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	if err := c.write(t, first); err != nil {
		return err
	}
	out := simulated{
		Study: trials.Spec.Name, Sites: len(trials.Sites), N: plan.N, D: plan.D, Epsilon: trials.Spec.Epsilon, Delta: trials.Spec.Delta, Rho: plan.Rho,
		Queries: plan.Queries.Left(0), Bytes: plan.Queries.Bytes(), Report: simulate.Sum(studies, time.Since(begun)),
		auto: trials.Spec.Components == proposal.ComponentsAuto,
	}
	err = t.Print(out, out.print)
	if len(c.Files) > 0 {
		t.Say("These are exact figures of the pooled rows: keep them here, and choose nothing from this that goes into a study on the same rows.")
	}
	return err
}

// trials reads the study and the rows, and refuses a place to print to that others may read.
func (c *Simulate) trials(t *Terminal) (*simulate.Trials, error) {
	if err := c.check(t); err != nil {
		return nil, err
	}
	text, err := ReadStudy(c.Study)
	if err != nil {
		return nil, err
	}
	spec, _, err := ReadSpec(c.Study, text)
	if err != nil {
		return nil, err
	}
	out := &simulate.Trials{Spec: spec, Times: c.Times}
	if _, err := rand.Read(out.Key[:]); err != nil {
		return nil, err
	}
	if c.Synthetic != "" {
		err = c.draw(out)
	} else {
		err = c.read(out)
	}
	if err != nil {
		return nil, err
	}
	if out.Pooled, err = simulate.NewPooled(spec, simulate.Visits(out.Sites)); err != nil {
		return nil, &InputError{err}
	}
	return out, nil
}

// check refuses arguments that do not go together.
func (c *Simulate) check(t *Terminal) error {
	switch {
	case c.Times < 1 || c.Times > mostTimes:
		return Bad("--times must be in 1..%d, got %d", mostTimes, c.Times)
	case c.Synthetic != "" && len(c.Files) > 0:
		return Bad("--synthetic draws a table: leave the files out")
	case c.Synthetic == "" && len(c.Files) < 2:
		return Bad("give the files of two sites or more, each a site's, or --synthetic %s", simulate.TableForm)
	}
	if len(c.Files) > 0 {
		if err := t.OnlyShown("this shows exact figures of the pooled rows", c.Values); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(c.Result); c.Result != "" && err == nil {
		return Bad("%s exists: --result writes a new file", c.Result)
	}
	return IsFile(c.Result)
}

// draw draws the sites' rows from the law of --synthetic.
func (c *Simulate) draw(out *simulate.Trials) error {
	table, err := simulate.ParseTable(c.Synthetic)
	if err != nil {
		return Bad("--synthetic: %w", err)
	}
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		return err
	}
	if out.Sites, out.Law, err = table.Draw(out.Spec, key); err != nil {
		return Bad("--synthetic: %w", err)
	}
	return nil
}

// read reads each site's rows from its file.
func (c *Simulate) read(out *simulate.Trials) error {
	for i, file := range c.Files {
		if slices.Contains(c.Files[:i], file) {
			return Bad("%s is given twice: each row would count as two people, and all figures would look better than they are", file)
		}
		site, err := simulate.ReadSite(file, out.Spec)
		if err != nil {
			return Bad("%w", err)
		}
		out.Sites = append(out.Sites, site)
	}
	if n := len(out.Spec.Sites); n > 0 && n != len(out.Sites) {
		return Bad("the study names %d sites, and %d files are given", n, len(out.Sites))
	}
	return nil
}

// write writes the first study's result, for its owner alone.
func (c *Simulate) write(t *Terminal, r *result.Result) error {
	if c.Result == "" {
		return nil
	}
	if r == nil {
		t.Say("%s is not written: the first study ended without a result", c.Result)
		return nil
	}
	f, err := os.OpenFile(c.Result, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(r.Write(f), f.Close())
}

// with counts the studies that have so many components at least.
func (s simulated) with(least int) (count int) {
	for k, n := range s.Components {
		if k >= least {
			count += n
		}
	}
	return count
}

func (s simulated) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	line("simulated", "%d studies of %q: %d units × %d numbers at %d sites, in %.1f s", s.Times, s.Study, s.N, s.D, s.Sites, s.Seconds)
	for _, code := range slices.Sorted(maps.Keys(s.Ended)) {
		line("ended", "%d of them without a result: %s; docs/errors.md says what to do", s.Ended[code], code)
	}
	if s.Captured != nil {
		s.printCaptured(line)
	}
	line("a real one costs", "ε = %g, δ = %g: ρ = %.6g of each site's budget; %d queries, at most %d bytes of masked sums from each site, besides keys, shares and signatures", s.Epsilon, s.Delta, s.Rho, s.Queries, s.Bytes)
	w.Flush()
}

// CapturedText is a captured share to four decimals, never rounded up: only all of it, but for the
// last digits of sums of floats, is 1.
func CapturedText(v float64) string {
	if v < 1-1e-9 {
		v = min(v, math.Floor(1e4*v+1e-6)/1e4)
	}
	return Fixed(v, 4)
}

// angleText is an angle in degrees; of the small ones only the digits that a cosine keeps.
func angleText(v float64) string {
	switch {
	case v < 1e-5:
		return "0°"
	case v < 0.001:
		return "< 0.001°"
	}
	return fmt.Sprintf("%.3g°", v)
}

// printCaptured prints how near the components are to those of the pooled rows.
func (s simulated) printCaptured(line func(name, format string, args ...any)) {
	shares := func(v simulate.Spread) string {
		return fmt.Sprintf("%s in the median, 5%% of studies under %s, the worst %s", CapturedText(v.Median), CapturedText(v.Tail), CapturedText(v.Worst))
	}
	angles := func(v simulate.Spread) string {
		return fmt.Sprintf("%s in the median, 5%% of studies over %s, the worst %s", angleText(v.Median), angleText(v.Tail), angleText(v.Worst))
	}
	captured, angle, each := s.Captured, s.Angle, s.Angles
	of := "of the variance that as many components of the pooled rows have, under the study's constants and without privacy"
	if s.Correlated != nil { // what such a study is about
		captured, angle, each = s.Correlated, s.AngleCorrelated, s.AnglesCorrelated
		of = "of what as many components of the pooled rows' correlations have, without privacy"
	}
	line("captured", "%s", shares(*captured))
	line("", "%s", of)
	if s.CapturedLaw != nil {
		line("of the law", "%s", shares(*s.CapturedLaw))
	}
	line("angle", "%s: the largest between the spans", angles(*angle))
	if s.auto {
		var found []string
		for _, k := range slices.Sorted(maps.Keys(s.Components)) {
			found = append(found, fmt.Sprintf("%d in %d", k, s.Components[k]))
		}
		text := "found: " + strings.Join(found, ", ")
		if len(found) > 1 {
			text += "; the shares and angles above are for different numbers of components, and fewer are easier"
		}
		line("components", "%s", text)
	}
	if len(each) > 1 {
		for i, v := range each {
			text := angles(v)
			if with := s.with(i + 1); with < s.with(1) {
				text += fmt.Sprintf(", of the %d studies that have it", with)
			}
			line(fmt.Sprintf("component %d", i+1), "%s", text)
		}
	}
	switch done := s.Times; {
	case s.Bounds == 0:
		line("its own bound", "no study stated one")
	default:
		for _, n := range s.Ended {
			done -= n
		}
		of := "variance"
		if s.Correlated != nil {
			of = "correlations"
		}
		line("its own bound", "%d of %d studies stated a lower bound, %s in the median, on captured %s; for these pooled rows it held in %d", s.Bounds, done, CapturedText(s.Lower.Median), of, s.Held)
	}
	for _, why := range slices.Sorted(maps.Keys(s.NoBounds)) {
		line("", "none in %d: %s", s.NoBounds[why], why)
	}
	if s.Correlated != nil {
		line("as scores", "captured %s", shares(*s.Captured))
		line("", "angle %s", angles(*s.Angle))
		line("", "for scores, which are divided by the learned scales and share their error")
	}
	var methods []string
	for _, m := range slices.Sorted(maps.Keys(s.Methods)) {
		methods = append(methods, fmt.Sprintf("%s in %d", m, s.Methods[m]))
	}
	line("method", "%s", strings.Join(methods, ", "))
}

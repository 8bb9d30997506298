package main

import (
	_ "embed"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"covey/experiments/run"
	"covey/internal/proposal"
)

//go:embed reference.csv
var reference string

// row is one line of reference.csv.
type row struct {
	spectrum            string
	d, n, rounds        int
	epsilon             float64
	last, pooled, covar string // covar is empty where none is listed
	paper               bool
}

// utility prints each row of reference.csv next to what it measured. A mean that is more than
// -slack below its listed value is a miss.
func utility(f *flag.FlagSet) func(io.Writer) (int, error) {
	rows := f.String("rows", "", "only rows whose spectrum has this prefix")
	seeds := f.Int("seeds", 20, "studies a row; data and noise are seeded")
	slack := f.Float64("slack", 0.005, "how far below its listed value a mean may be")
	real := f.Bool("real", false, "noise from the operating system instead of the seed")
	return func(w io.Writer) (int, error) { return reproduce(w, *rows, *seeds, *slack, !*real) }
}

func reproduce(to io.Writer, prefix string, seeds int, slack float64, fixed bool) (missed int, err error) {
	rows, err := parse()
	if err != nil {
		return 0, err
	}
	progress := run.NewProgress(os.Stderr, len(rows))
	w := columns(to, "spectrum\td\tn\tT\tε\tlast\tlisted\tpooled\tlisted\tcovariance\tlisted\tprivate R: last\tpooled\toutput\t")
	for _, r := range rows {
		progress.Step(r.spectrum)
		if !strings.HasPrefix(r.spectrum, prefix) {
			continue
		}
		got, err := run.Repeat(seeds, func(seed uint64) ([]float64, error) { return r.measure(seed, fixed) })
		if err != nil {
			return missed, fmt.Errorf("%s: %w", r.spectrum, err)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%g\t", r.spectrum, r.d, r.n, r.rounds, r.epsilon)
		for i, want := range []string{r.last, r.pooled, r.covar} {
			if want == "" {
				fmt.Fprint(w, "\t\t")
				continue
			}
			listed, err := strconv.ParseFloat(want, 64)
			if err != nil {
				return missed, err
			}
			mark := ""
			if !(got[i].Mean() >= listed-slack) {
				missed++
				mark = " short"
			}
			fmt.Fprintf(w, "%.3f\t%s%s\t", got[i].Mean(), want, mark)
		}
		for _, i := range []int{3, 4, 5} {
			if r.paper {
				fmt.Fprint(w, "\t")
			} else {
				fmt.Fprintf(w, "%.3f\t", got[i].Mean())
			}
		}
		fmt.Fprintln(w)
	}
	return missed, w.Flush()
}

func parse() ([]row, error) {
	lines := csv.NewReader(strings.NewReader(reference))
	lines.Comment = '#'
	all, err := lines.ReadAll()
	if err != nil {
		return nil, err
	}
	var out []row
	for _, f := range all[1:] {
		r := row{spectrum: f[0], last: f[5], pooled: f[6], covar: f[7], paper: strings.HasSuffix(f[0], "-paper")}
		if r.d, err = strconv.Atoi(f[1]); err != nil {
			return nil, err
		}
		if r.n, err = strconv.Atoi(f[2]); err != nil {
			return nil, err
		}
		if r.rounds, err = strconv.Atoi(f[3]); err != nil {
			return nil, err
		}
		if r.epsilon, err = strconv.ParseFloat(f[4], 64); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// measure runs the row's studies on one data set: power steps with the listed radius, the
// covariance, and power steps with a private radius. It returns xᵀΣx/λ1 of six directions: the
// first study's last iterate and pooled direction, the covariance's, and the third's last iterate,
// pooled direction and output. The paper's rows have the first two alone.
func (r row) measure(seed uint64, fixed bool) ([]float64, error) {
	source, err := run.Gaussian(strings.TrimSuffix(r.spectrum, "-paper"), r.d)
	if err != nil {
		return nil, err
	}
	m, err := source.Draw(r.n, seed)
	if err != nil {
		return nil, err
	}
	spec := run.Spec(r.d, r.epsilon)
	spec.Rounds = r.rounds
	if r.paper {
		spec.Profile, spec.Lambda = proposal.ProfilePaper, "1"
	} else {
		spec.Radius = proposal.Scalar(strconv.FormatFloat(2*math.Sqrt(m.Trace()*m.Top()), 'g', -1, 64))
	}
	out := make([]float64, 6)
	given, err := run.Study{Spec: spec, Fixed: fixed}.On(m, seed)
	if err != nil {
		return nil, err
	}
	out[0], out[1] = m.Captured(given.Outputs[proposal.OutputLast]), m.Captured(given.Outputs[proposal.OutputPooled])
	if r.paper {
		return out, nil
	}
	spec.Radius = proposal.RadiusPrivate
	private, err := run.Study{Spec: spec, Fixed: fixed}.On(m, seed)
	if err != nil {
		return nil, err
	}
	out[3], out[4] = m.Captured(private.Outputs[proposal.OutputLast]), m.Captured(private.Outputs[proposal.OutputPooled])
	out[5] = m.Captured(private.Components)
	spec = run.Spec(r.d, r.epsilon)
	spec.Method = proposal.MethodCovariance
	covariance, err := run.Study{Spec: spec, Fixed: fixed}.On(m, seed)
	if err != nil {
		return nil, err
	}
	out[2] = m.Captured(covariance.Components)
	return out, nil
}

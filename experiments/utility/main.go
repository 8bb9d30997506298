// Command utility measures the captured variance of studies on synthetic Gaussian
// rows, through the real query path (package run). It prints each row of reference.csv
// beside what it measured, and fails if a mean is more than -slack below its listed value.
package main

import (
	_ "embed"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"covey/experiments/run"
	"covey/internal/study"
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

func main() {
	rows := flag.String("rows", "", "only rows whose spectrum has this prefix")
	seeds := flag.Int("seeds", 20, "studies a row; data and noise are seeded")
	slack := flag.Float64("slack", 0.005, "how far below its listed value a mean may be")
	real := flag.Bool("real", false, "noise from the operating system instead of the seed")
	flag.Parse()
	failed, err := check(*rows, *seeds, *slack, !*real)
	if err != nil {
		fmt.Fprintln(os.Stderr, "utility:", err)
		os.Exit(1)
	}
	if failed > 0 {
		fmt.Fprintf(os.Stderr, "utility: %d means are more than %g below their listed values\n", failed, *slack)
		os.Exit(1)
	}
}

func check(prefix string, seeds int, slack float64, fixed bool) (failed int, err error) {
	rows, err := parse()
	if err != nil {
		return 0, err
	}
	progress := run.NewProgress(os.Stderr, len(rows))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "spectrum\td\tn\tT\tε\tlast\tlisted\tpooled\tlisted\tcovariance\tlisted\tprivate R: last\tpooled\toutput\t")
	for _, r := range rows {
		progress.Step(r.spectrum)
		if !strings.HasPrefix(r.spectrum, prefix) {
			continue
		}
		got, err := run.Repeat(seeds, func(seed uint64) ([]float64, error) { return r.measure(seed, fixed) })
		if err != nil {
			return failed, fmt.Errorf("%s: %w", r.spectrum, err)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%g\t", r.spectrum, r.d, r.n, r.rounds, r.epsilon)
		for i, want := range []string{r.last, r.pooled, r.covar} {
			if want == "" {
				fmt.Fprint(w, "\t\t")
				continue
			}
			listed, err := strconv.ParseFloat(want, 64)
			if err != nil {
				return failed, err
			}
			mark := ""
			if !(got[i].Mean() >= listed-slack) {
				failed++
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
	return failed, w.Flush()
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
// covariance, and power steps with a private radius. It gives xᵀΣx/λ1 of the last
// iterate and the pooled direction of the first, of the covariance's, and of the last, the pooled
// and the output in force of the third; the paper's rows have no more than the first two.
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
		spec.Profile, spec.Lambda = study.ProfilePaper, "1"
	} else {
		spec.Radius = study.Scalar(strconv.FormatFloat(2*math.Sqrt(m.Trace()*m.Top()), 'g', -1, 64))
	}
	out := make([]float64, 6)
	given, err := run.Study{Spec: spec, Fixed: fixed}.On(m, seed)
	if err != nil {
		return nil, err
	}
	out[0], out[1] = m.Captured(given.Outputs[study.OutputLast]), m.Captured(given.Outputs[study.OutputPooled])
	if r.paper {
		return out, nil
	}
	spec.Radius = study.RadiusPrivate
	private, err := run.Study{Spec: spec, Fixed: fixed}.On(m, seed)
	if err != nil {
		return nil, err
	}
	out[3], out[4] = m.Captured(private.Outputs[study.OutputLast]), m.Captured(private.Outputs[study.OutputPooled])
	out[5] = m.Captured(private.Components)
	spec = run.Spec(r.d, r.epsilon)
	spec.Method = study.MethodCovariance
	covariance, err := run.Study{Spec: spec, Fixed: fixed}.On(m, seed)
	if err != nil {
		return nil, err
	}
	out[2] = m.Captured(covariance.Components)
	return out, nil
}

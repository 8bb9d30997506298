// Command utility measures the captured variance of studies on synthetic Gaussian
// rows, through the real query path: clip's integers, study's plan and noise's
// exact sampler; only the masks, which cancel to the bit, are left out. It prints
// each row of reference.csv beside what it measured, and fails if a mean is more
// than -slack below its listed value.
package main

import (
	"crypto/ed25519"
	_ "embed"
	"encoding/binary"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"covey/internal/clip"
	"covey/internal/local"
	"covey/internal/noise"
	"covey/internal/study"
)

//go:embed reference.csv
var reference string

// row is one line of reference.csv.
type row struct {
	spectrum            string
	d, n, rounds        int
	epsilon             float64
	last, pooled, covar string
	paper               bool
}

func main() {
	rows := flag.String("rows", "", "only rows whose spectrum has this prefix")
	seeds := flag.Int("seeds", 20, "studies a row; data are seeded, noise keyed by the seed")
	slack := flag.Float64("slack", 0.01, "how far below its listed value a mean may be")
	flag.Parse()
	failed, err := run(*rows, *seeds, *slack)
	if err != nil {
		fmt.Fprintln(os.Stderr, "utility:", err)
		os.Exit(1)
	}
	if failed > 0 {
		fmt.Fprintf(os.Stderr, "utility: %d means are more than %g below their listed values\n", failed, *slack)
		os.Exit(1)
	}
}

func run(prefix string, seeds int, slack float64) (failed int, err error) {
	rows, err := parse()
	if err != nil {
		return 0, err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "spectrum\td\tn\tT\tε\tlast\tlisted\tpooled\tlisted\tprivate R: last\tpooled\tauto\t")
	for _, r := range rows {
		if !strings.HasPrefix(r.spectrum, prefix) {
			continue
		}
		var given, private outcome
		for seed := range seeds {
			if err := r.measure(uint64(seed), &given, &private); err != nil {
				return failed, fmt.Errorf("%s: %w", r.spectrum, err)
			}
			fmt.Fprintf(os.Stderr, "\r%s d=%d n=%d: %d of %d ", r.spectrum, r.d, r.n, seed+1, seeds)
		}
		fmt.Fprint(os.Stderr, "\r\033[K")
		k := float64(seeds)
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%g\t%.3f\t%s\t%.3f\t%s\t", r.spectrum, r.d, r.n, r.rounds, r.epsilon,
			given.last/k, r.last, given.pooled/k, r.pooled)
		if r.paper {
			fmt.Fprintln(w, "\t\t\t")
		} else {
			fmt.Fprintf(w, "%.3f\t%.3f\t%.3f\t\n", private.last/k, private.pooled/k, private.auto/k)
		}
		for _, c := range []struct {
			got  float64
			want string
		}{{given.last / k, r.last}, {given.pooled / k, r.pooled}} {
			want, err := strconv.ParseFloat(c.want, 64)
			if err != nil {
				return failed, err
			}
			if c.got < want-slack {
				failed++
			}
		}
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

// spectrum gives the eigenvalues λ of a row's Σ = diag(λ), as reference.csv
// defines them.
func spectrum(name string, d int) ([]float64, error) {
	l := make([]float64, d)
	for j := range l {
		switch strings.TrimSuffix(name, "-paper") {
		case "flat4":
			if l[j] = 1; j >= 4 {
				l[j] = 0.7 * math.Exp(-3*float64(j-4)/float64(d))
			}
		case "flatq":
			q := d / 4
			if l[j] = 1; j >= q {
				l[j] = 0.95 - 0.90*float64(j-q)/float64(d-q-1)
			}
		case "pow1":
			l[j] = 1 / float64(j+1)
		case "lowrank":
			if l[j] = 0.01; j < 8 {
				l[j] = math.Pow(0.8, float64(j))
			}
		case "gap2":
			if l[j] = 0.5; j == 0 {
				l[j] = 1
			}
		default:
			return nil, fmt.Errorf("unknown spectrum %q", name)
		}
	}
	return l, nil
}

// outcome sums xᵀΣx/λ1 of each output over studies.
type outcome struct{ last, pooled, auto float64 }

// measure runs one study with the row's radius and, where it is not the paper's,
// one with a private radius, on the same data.
func (r row) measure(seed uint64, given, private *outcome) error {
	lambda, err := spectrum(r.spectrum, r.d)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 0x636f766579))
	values := make([]float64, r.n*r.d)
	for i := range values {
		values[i] = math.Sqrt(lambda[i%r.d]) * rng.NormFloat64()
	}
	rows, err := clip.NewMatrix(r.d, values)
	if err != nil {
		return err
	}
	spec := study.Spec{Name: r.spectrum, Dataset: "gaussian", Epsilon: r.epsilon, Delta: 1e-6, Rounds: r.rounds, ExplainedVariance: study.VarianceNone}
	for j := range r.d {
		spec.Columns = append(spec.Columns, study.Column{Name: fmt.Sprint("y", j), Scale: 1})
	}
	if r.paper {
		spec.Profile, spec.Lambda = study.ProfilePaper, "1"
		return simulate(local.New(rows), spec, seed, lambda, given)
	}
	trace := 0.0
	for _, l := range lambda {
		trace += l
	}
	if err := simulate(local.New(rows), spec, seed, lambda, private); err != nil {
		return err
	}
	spec.Radius = study.Scalar(strconv.FormatFloat(2*math.Sqrt(trace)*math.Sqrt(lambda[0]), 'g', -1, 64))
	return simulate(local.New(rows), spec, seed, lambda, given)
}

// simulate runs a study's queries over all rows at once: the sum that five sites'
// masked sums open to.
func simulate(rows *local.Rows, spec study.Spec, seed uint64, lambda []float64, out *outcome) error {
	var roster []study.Member
	for i := range 5 {
		key := ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i+1))).Public().(ed25519.PublicKey)
		units := rows.Units() / 5
		if i == 0 {
			units += rows.Units() % 5
		}
		roster = append(roster, study.Member{Name: fmt.Sprint("site-", i), Identity: study.Key(key), Units: units})
	}
	var nonce [32]byte
	binary.BigEndian.PutUint64(nonce[:], seed)
	body, err := study.Propose(spec, roster, ed25519.PublicKey(roster[0].Identity), nonce)
	if err != nil {
		return err
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		return err
	}
	source := noise.NewKeyed([32]byte(plan.Digest))
	course := plan.Start()
	var releases []study.Release
	for i, q := range plan.Queries {
		ask, err := plan.NewAsk(course, i, 0)
		if err != nil {
			return err
		}
		sum, err := rows.Answer(plan, 0, ask, 0)
		if err != nil {
			return err
		}
		sampler, err := noise.NewGaussian(ask.Sigma.Squared())
		if err != nil {
			return err
		}
		draws := make([]int64, q.Values)
		if err := sampler.Fill(source, draws); err != nil {
			return err
		}
		for j := range sum {
			sum[j] += draws[j]
		}
		r, err := plan.NewRelease(ask, []int{0, 1, 2, 3, 4}, sum)
		if err != nil {
			return err
		}
		if course, err = plan.Next(course, r, releases); err != nil {
			return err
		}
		releases = append(releases, r)
	}
	result, err := study.NewResult(plan, releases)
	if err != nil {
		return err
	}
	captured := func(x []float64) float64 {
		v := 0.0
		for j, l := range lambda {
			v += l * x[j] * x[j]
		}
		return v / lambda[0]
	}
	out.last += captured(result.Outputs[study.OutputLast][0])
	out.pooled += captured(result.Outputs[study.OutputPooled][0])
	out.auto += captured(result.Components[0]) // a practical study's output is auto
	return nil
}

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/simulate"
	"covey/internal/study"
	"covey/internal/worth"
)

// Validate checks a study file, or a proposal, and prints its plan.
type Validate struct {
	File  string `arg:"" type:"existingfile" help:"study.toml, or a proposal."`
	Units Counts `placeholder:"N,..." help:"Units of each site, to plan without sites: --units 1610,4906,12082."`
}

// Check prints the plan. ask plans a study file's text with the units of sites that are connected,
// where neither the file nor a flag has any.
func (c *Validate) Check(t *Terminal, ask func(text []byte) (*study.Plan, error)) error {
	text, err := ReadStudy(c.File)
	if err != nil {
		return err
	}
	plan, err := c.plan(text, ask)
	if err != nil {
		return err
	}
	t.Warn(plan.Warnings())
	if names := unranged(plan.Proposal.Spec); len(names) > 0 {
		t.Say("hint: with range, sites can check their values against the unit of %s", strings.Join(names, ", "))
	}
	lines, prediction, err := Expected(plan)
	if err != nil {
		return err
	}
	if t.JSON {
		return PrintJSON(t.Out, struct {
			*study.Plan
			Score      float64           `json:"score,omitempty"`
			Shares     study.Shares      `json:"shares"`
			Prediction *worth.Prediction `json:"prediction"` // null where none is made
		}{plan, plan.Learning.Score, plan.Shares(), prediction})
	}
	return PrintPlan(t.Out, plan, lines)
}

// unranged are learned columns with a unit of measurement and no plausible range.
func unranged(s proposal.Spec) (names []string) {
	const most = 10
	for _, c := range s.Columns {
		if c.Measure == "" || len(c.Range) > 0 || c.Standardize != proposal.StandardizePrivate {
			continue
		}
		if len(names) == most {
			return append(names, "and others")
		}
		names = append(names, strconv.Quote(c.Name))
	}
	return names
}

// Expected is what a plan is expected to find, in words, and the prediction where there is one.
func Expected(plan *study.Plan) ([]string, *worth.Prediction, error) {
	prediction, err := worth.Predict(plan)
	if errors.Is(err, worth.ErrNoPrediction) {
		return []string{err.Error()}, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return prediction.Lines(), prediction, nil
}

func (c *Validate) plan(text []byte, ask func(text []byte) (*study.Plan, error)) (*study.Plan, error) {
	if bytes.Contains(text, []byte("[[roster]]")) {
		plan, err := study.NewPlan(text)
		return plan, InFile(c.File, err)
	}
	spec, text, err := ReadSpec(c.File, text)
	if err != nil {
		return nil, err
	}
	for field, names := range map[string][]string{"sites": spec.Sites, "readers": spec.Readers} {
		for _, name := range names {
			if err := pki.ValidName(name); err != nil {
				return nil, Bad("%s: %s: %v", c.File, field, err)
			}
		}
	}
	if len(c.Units) == 0 {
		plan, err := ask(text)
		return plan, InFile(c.File, err)
	}
	if len(c.Units) == 1 {
		return nil, Bad(oneCount, c.Units[0])
	}
	if err := counts(c.Units); err != nil {
		return nil, err
	}
	if len(spec.Sites) > 0 && len(spec.Sites) != len(c.Units) {
		return nil, Bad("--units has %d counts, the study names %d sites", len(c.Units), len(spec.Sites))
	}
	plan, _, err := simulate.Plan(spec, c.Units, [32]byte{})
	if Is[*proposal.FieldError](err) {
		err = InFile(c.File, err)
	}
	return plan, err
}

// oneCount answers somebody who gave the units of all sites together.
const oneCount = "--units %d is one site's count, and a study needs at least 2 sites: give a count per site, such as --units 1610,4906,12082"

// Counts are units of sites, as a flag lists them.
type Counts []int

// UnmarshalText adds what a flag lists. A blank after a comma is no fault.
func (c *Counts) UnmarshalText(text []byte) error {
	for one := range strings.SplitSeq(string(text), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(one))
		if err != nil {
			return fmt.Errorf("one whole number for each site, with commas between, such as 1610,4906,12082; got %.40q", one)
		}
		*c = append(*c, n)
	}
	return nil
}

// counts checks the numbers of --units, of which no study file is to blame.
func counts(units []int) error {
	if i := slices.IndexFunc(units, func(n int) bool { return n < 1 || n > proposal.MaxUnits }); i >= 0 {
		return Bad("--units: a site has 1 to 2^40 units, got %d; leave out sites that take no part", units[i])
	}
	return nil
}

// Warn says what a plan warns of.
func (t *Terminal) Warn(warnings []string) {
	for _, text := range warnings {
		t.Say("warning: %s", text)
	}
}

// UntilWhen says how long approvals are waited for.
func UntilWhen(expires time.Time) string {
	if expires.IsZero() {
		return "with no deadline"
	}
	return "until " + expires.UTC().Format(time.RFC3339) + ", when the study expires"
}

// PrintPlan prints a plan for people, with what is expected of it.
func PrintPlan(out io.Writer, p *study.Plan, prediction []string) error {
	s := p.Proposal.Spec
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	radius := "private"
	if p.Radius > 0 {
		radius = fmt.Sprintf("%.6g (%s)", p.Radius, s.Radius)
	}
	fmt.Fprintf(w, "study\t%s (%s)\n", s.Name, s.Profile)
	fmt.Fprintf(w, "privacy\tε = %g, δ = %g (%s accountant): ρ = %.6g in all\n", s.Epsilon, s.Delta, s.Accountant, p.Rho)
	fmt.Fprintf(w, "\tadjacency %s: one unit is replaced by another; the number of units is public\n", p.Adjacency)
	fmt.Fprintf(w, "\t%s\n", study.AtSites(p.SitesPerUnit))
	shares := p.Shares()
	fmt.Fprintf(w, "data\t%d units × %s at %d sites\n", p.N, proposal.ColumnsText(len(s.Columns), p.D), p.Thresholds.Sites)
	if share := shares.Levels; share > 0 {
		fmt.Fprintf(w, "levels\tscaled by noised counts, which take %.3g%% of the budget; rare ones join \"other\"\n", 100*share)
	}
	if s.Unit != "" {
		fmt.Fprintf(w, "unit\tall rows with one value of %q at one site\n", s.Unit)
		fmt.Fprintf(w, "\twith a unit column the result has no bound on its error, however few units have several rows\n")
	}
	center := s.Center
	if s.CenterShare > 0 {
		center += fmt.Sprintf(", for %.3g%% of the budget", 100*s.CenterShare)
	}
	if s.Standardize == proposal.StandardizePrivate {
		learned := 0
		for _, c := range s.Columns {
			if c.Standardize == proposal.StandardizePrivate {
				learned++
			}
		}
		fmt.Fprintf(w, "standardize\tprivate: the constants of %d of %d columns are learned, for %.3g%% of the budget\n", learned, len(s.Columns), 100*shares.Standardize)
		fmt.Fprintf(w, "\tscore %.1f: a plain column's counts should exceed the noise by so many standard deviations\n", p.Learning.Score)
	}
	fmt.Fprintf(w, "components\t%s, %s; center %s; explained variance %s\n", p.Proposal.Spec.ComponentsWords(), s.Subspace, center, s.ExplainedVariance)
	if share := shares.Filled; share > 0 {
		what := "filled from the other cells of their row, by released components"
		if s.Missing == proposal.MissingZero {
			what = "taken as the center"
		}
		fmt.Fprintf(w, "missing\tcells without a value are %s; each column's share of them is released with noise, for %.3g%% of the budget\n", what, 100*share)
	}
	if s.Missing == proposal.MissingDropRow {
		fmt.Fprintf(w, "missing\trows with a missing value are left out; how many are kept is released, noised, for %.3g%% of the budget\n", 100*shares.Rows)
	}
	if share := p.Proposal.Spec.PictureShare; share > 0 {
		fmt.Fprintf(w, "picture\t%s, for %.3g%% of the budget\n", p.PictureWords(), 100*share)
	}
	fmt.Fprintf(w, "method\t%s\n", p.Method.Rule())
	if p.Groups > 0 {
		fmt.Fprintf(w, "scale\tΛ from %d groups of %d units\n", p.Groups, p.GroupSize)
	}
	fmt.Fprintf(w, "sites\tη = %d corrupt, q = %d to open, at least %d in a sum\n", p.Thresholds.Corrupt, p.Thresholds.Quorum, p.Thresholds.MinSurvivors)
	fmt.Fprintf(w, "\t%s\n", p.Thresholds.Collusion())
	fmt.Fprintf(w, "rounds\tT = %d, %d queries, %d slots (%d spare)\n", p.Rounds, p.Queries.Left(0), p.Slots, p.Slots-p.Queries.Left(0))
	fmt.Fprintf(w, "radius\tR = %s\n", radius)
	if p.Paper != nil {
		fmt.Fprintf(w, "paper\tu = %.6g, τ = %.6g, δ̄ = %.3g\n", p.Paper.U, p.Paper.Tau, p.Paper.DeltaBar)
	}
	fmt.Fprintf(w, "output\t%s\n", s.Output)
	fmt.Fprintf(w, "expected\t%s\n", strings.Join(prediction, "\n\t"))
	if s.Expires != "" {
		fmt.Fprintf(w, "expires\t%s, unless all sites have approved by then\n", s.Expires)
	}
	fmt.Fprintf(w, "wire\tb = %d bits per number, at most %d bytes of masked sums from each site; `agent study show` lists all messages\n", p.Bits, p.Queries.Bytes())
	fmt.Fprintf(w, "noise\t%s\n", p.Noise.Words())
	printQueries(w, p.Queries)
	if said := s.Statements(); len(said) > 0 {
		fmt.Fprintf(w, "\n%s\n  %s\n", proposal.StatementsTitle, strings.Join(said, "\n  "))
	}
	return w.Flush()
}

func printQueries(w io.Writer, queries study.Queries) {
	fmt.Fprintln(w, "\nQUERY\tKIND\tROUND\tσ/Δ\tρ\tBYTES\t")
	for _, q := range queries {
		kind := string(q.Kind)
		if q.Of != "" {
			kind += " of " + string(q.Of)
		}
		if q.Run > 0 {
			kind += fmt.Sprintf(", component %d", q.Run+1)
		}
		only := ""
		if q.Branch != "" {
			only = "if auto takes " + q.Branch
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%.4g\t%.4g\t%d\t%s\n", q.Index+1, kind, q.Round, q.Multiplier, q.Rho, q.Bytes, only)
	}
}

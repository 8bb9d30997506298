package cli

import (
	"errors"
	"fmt"
	"io"

	"covey/internal/proposal"
	"covey/internal/simulate"
	"covey/internal/study"
	"covey/internal/worth"
)

// Plan answers with what a study takes to capture a share: its units, its ε or its components.
type Plan struct {
	Study    string  `arg:"" type:"existingfile" help:"study.toml, which may leave out what --solve computes."`
	Captured float64 `required:"" placeholder:"SHARE" help:"The share to capture, such as 0.95, of the most variance that this many components could have."`
	Solve    string  `enum:",units,epsilon,components" default:"" placeholder:"units|epsilon|components" help:"What to solve for: units (of all sites together), epsilon or components. By default units if --units is not given, or else epsilon if the file has none."`
	Units    Counts  `placeholder:"N,..." help:"Units of each site: --units 1610,4906,12082. With --solve units give --sites-count."`
	Sites    int     `name:"sites-count" help:"With --solve units: how many sites share the units evenly; as many as the study names, or 5."`
}

// Run prints the answer.
func (c *Plan) Run(t *Terminal) error {
	text, err := ReadStudy(c.Study)
	if err != nil {
		return err
	}
	if c.Solve == "" {
		if c.Solve = c.open(text); c.Solve == "" {
			return Bad("nothing is left to solve for: --units and the file's epsilon are given; --solve epsilon or --solve components computes one anyway")
		}
	}
	if err := counts(c.Units); err != nil {
		return err
	}
	spec, err := c.spec(text)
	if err != nil {
		return err
	}
	if c.Solve == worth.SolveUnits && c.Sites == 0 {
		if c.Sites = len(spec.Sites); c.Sites == 0 {
			c.Sites = 5
			t.Say("5 sites are taken to share the units evenly: --sites-count says how many do")
		}
	}
	if len(spec.Sites) > 0 && len(spec.Sites) != max(c.Sites, len(c.Units)) {
		return Bad("the study names %d sites, %d are given", len(spec.Sites), max(c.Sites, len(c.Units)))
	}
	answer, err := worth.Solve(c.Solve, c.Captured, func(value float64) (*study.Plan, error) {
		s, units := spec, c.Units
		switch c.Solve {
		case worth.SolveUnits:
			units = evenly(int(value), c.Sites)
		case worth.SolveEpsilon:
			s.Epsilon = value
		case worth.SolveComponents:
			s.Components, s.ComponentsMax = proposal.Components(value), 0 // of "auto"
		}
		p, _, err := simulate.Plan(s, units, [32]byte{})
		return p, err
	})
	if errors.Is(err, worth.ErrNoPrediction) {
		return Bad("%w; simulate tries it on files", err)
	}
	if err != nil {
		return InFile(c.Study, err)
	}
	return t.Print(answer, func(out io.Writer) {
		for _, text := range answer.Lines() {
			fmt.Fprintln(out, text)
		}
	})
}

// open returns what neither the file nor a flag says: units or ε; empty where both do.
func (c *Plan) open(text []byte) string {
	if len(c.Units) == 0 {
		return worth.SolveUnits
	}
	if _, _, err := ReadSpec(c.Study, text); lacksEpsilon(err) {
		return worth.SolveEpsilon
	}
	return ""
}

func lacksEpsilon(err error) bool {
	field := faulty(err)
	return field != nil && field.Field == "epsilon" && field.Line == 0
}

// faulty returns the key that reading a study file stopped at; nil where it did not.
func faulty(err error) *proposal.FieldError {
	bad, ok := errors.AsType[*InputError](err)
	if !ok {
		return nil
	}
	field, _ := errors.AsType[*proposal.FieldError](bad.Err)
	return field
}

// spec reads the study file; an ε that is solved for may be absent.
func (c *Plan) spec(text []byte) (proposal.Spec, error) {
	switch {
	case !(c.Captured > 0 && c.Captured < 1):
		return proposal.Spec{}, Bad("--captured must be between 0 and 1, got %v", c.Captured)
	case c.Solve == worth.SolveUnits && len(c.Units) > 0:
		return proposal.Spec{}, Bad("--solve units computes the units: give --sites-count instead of --units")
	case c.Solve != worth.SolveUnits && len(c.Units) == 0:
		return proposal.Spec{}, Bad("--solve %s needs the sites' counts: --units 1610,4906,12082, one count per site", c.Solve)
	case len(c.Units) == 1:
		return proposal.Spec{}, Bad(oneCount, c.Units[0])
	case c.Solve != worth.SolveUnits && c.Sites != 0:
		return proposal.Spec{}, Bad("--sites-count goes with --solve units, got %d", c.Sites)
	case c.Sites < 0 || c.Sites > proposal.MaxSites:
		return proposal.Spec{}, Bad("--sites-count must be between 2 and %d, got %d", proposal.MaxSites, c.Sites)
	}
	spec, _, err := ReadSpec(c.Study, text)
	if c.Solve == worth.SolveEpsilon && lacksEpsilon(err) {
		// a first line of its own, so that no table takes it in
		spec, _, err = ReadSpec(c.Study, append([]byte("epsilon = 1.0\n"), text...))
	}
	if field := faulty(err); c.Solve == worth.SolveComponents && field != nil && field.Field == "picture" {
		// of the one component that a file without the key has there is no picture
		if two, _, again := ReadSpec(c.Study, append([]byte("components = 2\n"), text...)); again == nil {
			return two, nil
		}
	}
	return spec, err
}

// evenly shares units over sites.
func evenly(units, sites int) []int {
	out := make([]int, sites)
	for i := range out {
		if out[i] = units / sites; i < units%sites {
			out[i]++
		}
	}
	return out
}

package doctor

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	exact "covey/internal/answer"
	"covey/internal/dataset"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// dryRun computes this site's sum for the dearest query of a study, as in a round, and sends
// nothing. body is the proposal; without one the roster is made up: this site, and two others like
// it. figures are of the rows, for this site's operator alone.
func dryRun(c *siteconfig.Config, spec proposal.Spec, body []byte) (detail string, figures *sitedata.Figures, err error) {
	d, ok := c.Dataset(spec.Dataset)
	if !ok {
		return "", nil, c.Errorf("dataset", "no data set %q, which the study asks for", spec.Dataset)
	}
	request := d.Request(spec)
	rows, err := dataset.Read(c.Source(d), request, dataset.ReadOptions{})
	if err != nil {
		return "", nil, &sitedata.DataError{Dataset: d.Name, Err: err}
	}
	seen := sitedata.LookAt(rows, request.Columns, request.Readings...)
	seen.Beside(spec.Columns)
	figures = &seen
	matrix, err := sitedata.Matrix(rows)
	if err != nil {
		return "", figures, &sitedata.DataError{Dataset: d.Name, Err: err}
	}
	if body == nil {
		if body, err = imagine(c, spec, matrix.N()); err != nil {
			return "", figures, err
		}
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		return "", figures, err
	}
	figures.Central = plan.Honest == 0
	self := slices.IndexFunc(plan.Proposal.Roster, func(m proposal.Member) bool { return m.Name == c.Site })
	if self < 0 {
		return "", figures, fmt.Errorf("the proposal's roster has no site %q", c.Site)
	}
	if want := plan.Proposal.Roster[self].Units; matrix.N() != want {
		return "", figures, &sitedata.DataError{Dataset: d.Name, Err: &sitedata.UnitsError{Has: matrix.N(), Roster: want}}
	}
	ask, err := dearest(plan)
	if err != nil {
		return "", figures, err
	}
	begun := time.Now()
	if _, err := exact.New(matrix).Answer(plan, self, ask, d.Workers); err != nil {
		return "", figures, &sitedata.DataError{Dataset: d.Name, Err: err}
	}
	q := plan.Queries[ask.Query]
	return fmt.Sprintf("the dearest of at most %d queries (%s, %d numbers) was computed on your %d rows in %v. Nothing was sent",
		plan.Left(0), q.Kind.Title(q.Of), q.Values, rows.Rows, time.Since(begun).Round(time.Millisecond)), figures, nil
}

// dearest is an ask for the query that takes a site longest, with a radius and a center made up.
func dearest(p *study.Plan) (study.Ask, error) {
	at, most := 0, 0
	for i, q := range p.Queries {
		cost := 0 // operations a row, roughly
		switch q.Kind {
		case study.KindMoment:
			cost = p.D * (p.D + 1) / 2
		case study.KindLambda, study.KindSelect:
			cost = p.D * p.D
		case study.KindPower:
			cost = 2 * q.Values
		case study.KindMean:
			cost = p.D
		case study.KindOctaves, study.KindTree, study.KindMoments:
			cost = 8 * len(p.Single(q.Kind)) // bins are found one by one
		}
		if q.Run == 0 && cost > most {
			at, most = i, cost
		}
	}
	c := p.Start()
	c.Query = at
	q := p.Queries[at]
	if !q.Kind.Definition().Counts && c.Radii[q.Kind] == 0 {
		c.Radii[q.Kind] = 1
	}
	if p.Proposal.Spec.Center == proposal.CenterPrivate && q.Kind != study.KindMean && q.Kind != study.KindOctaves {
		c.Center = make([]float64, p.D)
		if p.Proposal.Spec.Standardize == proposal.StandardizePrivate {
			c.Scale = slices.Repeat([]float64{1}, p.D)
		}
	}
	return p.NewAsk(c, 0, 0)
}

// imagine makes a proposal for this site and others like it.
func imagine(c *siteconfig.Config, spec proposal.Spec, units int) ([]byte, error) {
	names := spec.Sites
	if !slices.Contains(names, c.Site) {
		names = []string{c.Site, "another-site", "a-third-site"}
	}
	spec.Sites = nil
	var roster []proposal.Member
	for i, name := range names {
		seed := [ed25519.SeedSize]byte{byte(i + 1), byte((i + 1) >> 8)}
		roster = append(roster, proposal.Member{Name: name, Identity: proposal.Key(ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)), Units: units})
	}
	nobody := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	return proposal.Propose(spec, roster, nobody, [32]byte{})
}

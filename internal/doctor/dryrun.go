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

// manyUnits is how many every other site of a made-up roster has where a study of sites like this
// one would be too small.
const manyUnits = 1 << 20

// planOf returns the plan of a study of this site's data set of so many units, and the site's place
// in its roster. body is the proposal; without one the roster is made up of this site and two like
// it, or of two far larger ones: then small says why.
func planOf(c *siteconfig.Config, spec proposal.Spec, body []byte, units int) (plan *study.Plan, self int, small, err error) {
	if body != nil {
		plan, err = study.NewPlan(body)
	} else if plan, err = imagined(c, spec, units, units); err != nil {
		if larger, bad := imagined(c, spec, units, manyUnits); bad == nil {
			plan, small, err = larger, err, nil
		}
	}
	if err != nil {
		return nil, 0, nil, err
	}
	self = slices.IndexFunc(plan.Proposal.Roster, func(m proposal.Member) bool { return m.Name == c.Site })
	if self < 0 {
		return nil, 0, nil, fmt.Errorf("the proposal's roster has no site %q", c.Site)
	}
	if want := plan.Proposal.Roster[self].Units; units != want {
		return nil, 0, nil, &sitedata.DataError{Dataset: spec.Dataset, Err: &sitedata.UnitsError{Has: units, Roster: want}}
	}
	return plan, self, small, nil
}

// dryRun computes this site's sums for each kind of query of a study, as in its rounds, and sends
// nothing: it reports the slowest one. figures describe the rows, for this site's operator alone,
// and are returned even if unplanned says why there is no plan.
func dryRun(c *siteconfig.Config, spec proposal.Spec, plan *study.Plan, self int, unplanned error) (detail string, figures *sitedata.Figures, err error) {
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
	if unplanned != nil {
		return "", figures, unplanned
	}
	figures.Central = plan.Honest == 0
	matrix, err := sitedata.Matrix(rows)
	if err != nil {
		return "", figures, &sitedata.DataError{Dataset: d.Name, Err: err}
	}
	answers := exact.New(matrix)
	q, took, err := slowest(plan, func(ask study.Ask) error {
		_, err := answers.Answer(plan, self, ask, d.Workers)
		return err
	})
	if err != nil {
		return "", figures, &sitedata.DataError{Dataset: d.Name, Err: err}
	}
	return fmt.Sprintf("the slowest of at most %d queries (%s, %d numbers) was computed on your %d rows in %v. Nothing was sent",
		plan.Queries.Left(0), q.Kind.Title(q.Of), q.Values, rows.Rows, took.Round(time.Millisecond)), figures, nil
}

// slowest has one query of each kind of a plan answered, with made-up released values, and returns
// the one that took longest. Of each kind it takes the last query, which has the most directions
// found and gaps to fill.
func slowest(p *study.Plan, answer func(study.Ask) error) (most study.Query, took time.Duration, err error) {
	type kind struct{ kind, of study.Kind }
	last := map[kind]int{}
	for i, q := range p.Queries {
		last[kind{q.Kind, q.Of}] = i
	}
	for i, q := range p.Queries {
		if last[kind{q.Kind, q.Of}] != i {
			continue
		}
		ask, err := p.Trial(i)
		if err != nil {
			return most, 0, err
		}
		begun := time.Now()
		if err := answer(ask); err != nil {
			return most, 0, err
		}
		if spent := time.Since(begun); spent > took {
			most, took = q, spent
		}
	}
	return most, took, nil
}

// imagined is the plan of a study of this site and others of so many units each.
func imagined(c *siteconfig.Config, spec proposal.Spec, units, others int) (*study.Plan, error) {
	names := spec.Sites
	if !slices.Contains(names, c.Site) {
		names = []string{c.Site, "another-site", "a-third-site"}
	}
	spec.Sites = nil
	var roster []proposal.Member
	for i, name := range names {
		seed := [ed25519.SeedSize]byte{byte(i + 1), byte((i + 1) >> 8)}
		roster = append(roster, proposal.Member{Name: name, Identity: proposal.Key(ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)), Units: others})
		if name == c.Site {
			roster[i].Units = units
		}
	}
	nobody := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	body, err := proposal.Propose(spec, roster, nobody, [32]byte{})
	if err != nil {
		return nil, err
	}
	return study.NewPlan(body)
}

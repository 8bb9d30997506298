package doctor

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"slices"
	"time"

	exact "covey/internal/answer"
	"covey/internal/dataset"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// farScales is how many scales most values of a column may be away from its public offset before a
// person is asked: centimetres for metres are, and hardly anything that was meant.
const farScales = 10

// farColumns names up to five columns most of whose values lie farther than farScales from the
// offset: most likely they are in another unit of measurement. Only this site's operator is told.
func farColumns(rows *dataset.Rows, columns []study.Column) []string {
	var out []string
	absent := len(rows.Absent) // rows of zeros, which are near
	for j, column := range columns {
		far := 0
		for i := range rows.Rows {
			at := i*rows.D + j
			if rows.Values != nil && math.Abs(rows.Values[at]) > farScales || rows.Values32 != nil && math.Abs(float64(rows.Values32[at])) > farScales {
				far++
			}
		}
		if 2*far > rows.Rows-absent && len(out) < 5 {
			out = append(out, column.Name)
		}
	}
	return out
}

// dryRun computes this site's sum for the first query of a study, as in a round, and sends nothing.
// body is the proposal; without one the roster is made up: this site, and two others like it. far
// is of farColumns where the study takes public offsets for the centre.
func dryRun(c *siteconfig.Config, spec study.Spec, body []byte) (detail string, far []string, err error) {
	d, ok := c.Dataset(spec.Dataset)
	if !ok {
		return "", far, c.Errorf("dataset", "no data set %q, which the study asks for", spec.Dataset)
	}
	rows, err := dataset.Read(c.Source(d), d.Request(spec), dataset.ReadOptions{})
	if err != nil {
		return "", far, &sitedata.DataError{Dataset: d.Name, Err: err}
	}
	if spec.Center == study.CenterPublic {
		far = farColumns(rows, spec.Columns)
	}
	matrix, err := sitedata.Matrix(rows)
	if err != nil {
		return "", far, &sitedata.DataError{Dataset: d.Name, Err: err}
	}
	if body == nil {
		if body, err = imagine(c, spec, matrix.N()); err != nil {
			return "", far, err
		}
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		return "", far, err
	}
	self := slices.IndexFunc(plan.Proposal.Roster, func(m study.Member) bool { return m.Name == c.Site })
	if self < 0 {
		return "", far, fmt.Errorf("the proposal's roster has no site %q", c.Site)
	}
	if want := plan.Proposal.Roster[self].Units; matrix.N() != want {
		return "", far, &sitedata.DataError{Dataset: d.Name, Err: &sitedata.UnitsError{Has: matrix.N(), Roster: want}}
	}
	ask, err := plan.NewAsk(plan.Start(), 0, 0)
	if err != nil {
		return "", far, err
	}
	begun := time.Now()
	sum, err := exact.New(matrix).Answer(plan, self, ask, d.Workers)
	if err != nil {
		return "", far, &sitedata.DataError{Dataset: d.Name, Err: err}
	}
	return fmt.Sprintf("%s: %d numbers in %v; masked they would be %d bytes, for the first of %d queries. Nothing was sent",
		ask.Kind, len(sum), time.Since(begun).Round(time.Millisecond), plan.Queries[0].Bytes, len(plan.Queries)), far, nil
}

// imagine makes a proposal for this site and others like it.
func imagine(c *siteconfig.Config, spec study.Spec, units int) ([]byte, error) {
	names := spec.Sites
	if !slices.Contains(names, c.Site) {
		names = []string{c.Site, "another-site", "a-third-site"}
	}
	spec.Sites = nil
	var roster []study.Member
	for i, name := range names {
		seed := [ed25519.SeedSize]byte{byte(i + 1), byte((i + 1) >> 8)}
		roster = append(roster, study.Member{Name: name, Identity: study.Key(ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)), Units: units})
	}
	nobody := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	return study.Propose(spec, roster, nobody, [32]byte{})
}

package agent

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"covey/internal/dataset"
	"covey/internal/local"
	"covey/internal/study"
)

// dryRun computes this site's sum for the first query of a study, as in a round, and sends nothing. body is
// the proposal; without one the roster is made up: this site, and two others like it.
func (c *Config) dryRun(spec study.Spec, body []byte) (string, error) {
	d, ok := c.dataset(spec.Dataset)
	if !ok {
		return "", c.error("dataset", "no data set %q, which the study asks for", spec.Dataset)
	}
	rows, err := dataset.Read(c.source(d), d.request(spec), dataset.ReadOptions{})
	if err != nil {
		return "", &DataError{d.Name, err}
	}
	matrix, err := matrixOf(rows)
	if err != nil {
		return "", &DataError{d.Name, err}
	}
	if body == nil {
		if body, err = c.imagine(spec, matrix.N()); err != nil {
			return "", err
		}
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		return "", err
	}
	self := slices.IndexFunc(plan.Proposal.Roster, func(m study.Member) bool { return m.Name == c.Site })
	if self < 0 {
		return "", fmt.Errorf("the proposal's roster has no site %q", c.Site)
	}
	if want := plan.Proposal.Roster[self].Units; matrix.N() != want {
		return "", &DataError{d.Name, &unitsError{matrix.N(), want}}
	}
	ask, err := plan.NewAsk(plan.Start(), 0, 0)
	if err != nil {
		return "", err
	}
	begun := time.Now()
	sum, err := local.New(matrix).Answer(plan, self, ask, d.Workers)
	if err != nil {
		return "", &DataError{d.Name, err}
	}
	return fmt.Sprintf("%s: %d numbers in %v; masked they would be %d bytes, for the first of %d queries. Nothing was sent",
		ask.Kind, len(sum), time.Since(begun).Round(time.Millisecond), plan.Queries[0].Bytes, len(plan.Queries)), nil
}

// imagine makes a proposal for this site and others like it.
func (c *Config) imagine(spec study.Spec, units int) ([]byte, error) {
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

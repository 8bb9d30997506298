package main

import (
	"covey/cmd/internal/cli"
	"covey/internal/study"
)

type validateCmd struct{ cli.Validate }

func (c *validateCmd) Run(t *terminal) error {
	return c.Check(t.Terminal, func([]byte) (*study.Plan, error) {
		return nil, cli.Bad("the file is in order, but a plan needs the sites' counts: give --units (such as --units 1610,4906,12082, one count per site); analyst propose --dry-run plans with the counts of sites that are connected")
	})
}

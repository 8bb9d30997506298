package main

import shared "covey/cmd/internal/cli"

type verifyCmd struct{ shared.Verify }

func (c *verifyCmd) Run(s *streams) error { return c.Check(s.stdout, s.stderr) }

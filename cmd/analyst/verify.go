package main

import (
	"covey/cmd/internal/cli"
	"covey/internal/analyst"
	"covey/internal/result"
)

type verifyCmd struct{ cli.Verify }

func (c *verifyCmd) Run(t *terminal) error {
	return c.Check(t.Terminal, func(v *result.Verified) (here, known string, err error) {
		dir, err := t.folder()
		if err != nil {
			return "", "", nil
		}
		client, err := analyst.Open(dir)
		if t.dir == "" && cli.Is[*analyst.NotJoinedError](err) {
			return "", "", nil // nobody named an analyst's folder
		}
		if err != nil {
			return "", "", err
		}
		known, err = client.Known(v)
		return "", known, err
	})
}

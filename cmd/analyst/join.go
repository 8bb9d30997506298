package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"covey/cmd/internal/cli"
	"covey/internal/analyst"
	"covey/internal/enroll"
)

type joinCmd struct {
	File  string `arg:"" help:"The join file."`
	Again bool   `help:"Join again into the folder of an analyst who has joined: the certificate expired, or the coordinator has another CA. The keys stay."`
}

// Help is kong's longer text.
func (joinCmd) Help() string {
	return `A folder belongs to one federation. For a second federation give --dir with every command, or set
COVEY_ANALYST_DIR.`
}

func (c *joinCmd) Run(t *terminal) error {
	text, join, err := cli.ReadJoin(c.File, t.Err)
	if err != nil {
		return err
	}
	dir, err := t.folder()
	if err != nil {
		return err
	}
	t.Say("Joining at %s (at most %v for each address)\nunder the CA with this fingerprint, which the coordinator's operator can read to you:\n  %s",
		strings.Join(join.Coordinator, ", "), enroll.JoinTimeout, join.Fingerprint)
	if err := analyst.Newcomer(c.Again).Join(t.Ctx, text, dir, time.Now()); err != nil {
		if t.Ctx.Err() != nil {
			return errors.New("interrupted: try the same join file again")
		}
		if other, ok := errors.AsType[*enroll.JoinedError](err); ok && t.dir == "" {
			return fmt.Errorf("%w; --dir names a folder for another federation", other)
		}
		return err
	}
	client, err := analyst.Open(dir)
	if err != nil {
		return err
	}
	joined := struct {
		Analyst     string    `json:"analyst"`
		Dir         string    `json:"dir"`
		Config      string    `json:"config"`
		Fingerprint string    `json:"fingerprint"`
		Expires     time.Time `json:"certificate_expires"`
	}{join.Analyst, dir, filepath.Join(dir, analyst.File), client.Fingerprint(), client.Ends()}
	next := "analyst propose study.toml"
	if t.dir != "" {
		next += " --dir " + t.dir
	}
	t.Say("Analyst %s has joined; keys and proposals are in %s. Next: %s", joined.Analyst, dir, next)
	t.Say("The join file is used up; delete it. Tell the sites your key's fingerprint, and not through this coordinator:")
	return t.Print(joined, func(w io.Writer) { fmt.Fprintln(w, joined.Fingerprint) })
}

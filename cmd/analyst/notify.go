package main

import (
	"log/slog"
	"time"

	"covey/cmd/internal/cli"
)

type notifyCmd struct {
	Once bool `help:"Ask once and exit, for cron. The next run retries receivers that did not answer."`
}

// asked is how often the coordinator is asked: what an analyst sees changes on whole minutes.
const asked = time.Minute

// Run tells people until it is interrupted.
func (c *notifyCmd) Run(t *terminal) error {
	client, err := t.client()
	if err != nil {
		return err
	}
	defer client.Close()
	notices, err := client.Notices(cli.NewLogger(t.Err, "text", slog.LevelInfo))
	if err != nil {
		return err
	}
	if c.Once {
		return notices.Step(t.Ctx)
	}
	t.Say("Notifying the receivers in analyst.toml about your studies, until Ctrl-C. The coordinator is asked every minute.")
	for said := ""; ; {
		err := notices.Step(t.Ctx)
		switch {
		case t.Ctx.Err() != nil:
			return nil
		case err != nil && badInput(err):
			return err
		case err != nil && err.Error() != said:
			said = err.Error()
			t.Say("The coordinator cannot be reached; nobody is notified until it can: %v", err)
		case err == nil && said != "":
			said = ""
			t.Say("The coordinator answers again.")
		}
		select {
		case <-time.After(asked):
		case <-t.Ctx.Done():
			return nil
		}
	}
}

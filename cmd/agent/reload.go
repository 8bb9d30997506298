package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"covey/internal/agent"
	"covey/internal/frame"
	"covey/internal/holding"
)

type reloadCmd struct {
	Yes bool `short:"y" help:"Also move a data set to another population, whose budget does not count what was charged before."`
}

func (c *reloadCmd) Run(t *terminal) error {
	path := []string{"reload"}
	if c.Yes {
		path = append(path, "yes")
	}
	done, err := ask[agent.Reloaded](t, "POST", path...)
	if err != nil {
		return err
	}
	for _, words := range slices.Concat(done.Anew, done.Below) {
		t.Say("%s", frame.Cleaned(words))
	}
	if len(done.Changed) == 0 {
		t.Say("agent.toml has not changed since it was last read.")
	} else {
		t.Say("agent.toml was read again. Studies under way keep the data sets that were approved; proposals still wait for you.")
	}
	t.Say("The coordinator is told again how many units each data set has.")
	return t.Print(done, func(w io.Writer) {
		for _, key := range done.Changed {
			fmt.Fprintln(w, frame.Cleaned(key))
		}
	})
}

func printDatasets(line func(string, ...any), all []holding.Status) {
	line("DATA SET\tPOPULATION\tUNIT\tKIND\tSTUDIES\tDATA\tREAD")
	for _, d := range all {
		name, unit, data, read := frame.Word(d.Name), "row", d.Data, "not since the start"
		if !d.Offered {
			name += " (as approved; no longer in agent.toml)"
		}
		if d.Unit != "" {
			unit = frame.Word(d.Unit)
		}
		switch {
		case d.Fault != "":
			data = frame.Cleaned(d.Fault)
		case data == "":
			data = "no study"
		}
		if d.Read != nil {
			read = d.Read.UTC().Format(time.RFC3339)
		}
		line("%s\t%s\t%s\t%s\t%d\t%s\t%s", name, frame.Word(d.Population), unit, d.Kind, d.Studies, data, read)
	}
}

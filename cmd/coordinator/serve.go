package main

import (
	"fmt"
	"log/slog"
	"time"
)

type initCmd struct {
	Dir     string   `arg:"" help:"The data folder to make."`
	Listen  string   `default:":7443" help:"Where agents will connect."`
	Address []string `default:"localhost:7443" help:"host:port as agents see it; goes into join files and the server's certificate."`
}

func (c *initCmd) Run(s *streams) error {
	if err := initDir(c.Dir, config{Listen: c.Listen, Addresses: c.Address}, time.Now()); err != nil {
		return err
	}
	fmt.Fprintf(s.stderr, "made %s: keep ca.key and signing.key safe, everything rests on them\nnext: coordinator serve --data %s\n", c.Dir, c.Dir)
	return nil
}

// dataFlag is the data folder of every command that needs one.
type dataFlag struct {
	Data string `default:"." env:"COVEY_DATA" help:"The data folder, as made by init."`
}

type serveCmd struct {
	dataFlag
	Verbose bool `help:"Log more."`
}

func (c *serveCmd) Run(s *streams) error {
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(s.stderr, &slog.HandlerOptions{Level: level}))
	n, err := openNode(c.Data, log)
	if err != nil {
		return err
	}
	log.Info("serving", "listen", n.sites.Addr(), "addresses", n.config.Addresses)
	return n.run(s.ctx)
}

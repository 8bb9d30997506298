package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"covey/experiments/bench/delay"
	"covey/experiments/bench/federation"
	"covey/internal/study"
)

func linksCommand(f *flag.FlagSet) func() (*report, error) {
	s := shape{k: 1}
	f.IntVar(&s.sites, "sites", 5, "sites")
	f.IntVar(&s.rows, "rows", 1000, "rows of each site")
	f.IntVar(&s.d, "d", 64, "columns")
	f.IntVar(&s.rounds, "rounds", 4, "T")
	repeat := f.Int("repeat", 5, "interleaved studies, of whose queries the median counts")
	delays := f.String("delays", "0s,20ms,100ms", "one-way delays of the links between agents and coordinator")
	tick := f.Duration("tick", time.Millisecond, "deadlines.tick: 1ms leaves little but trips")
	where := f.String("dir", quickest(), "where the folders of the run are made: in memory, fsyncs do not blur the trips")
	return func() (*report, error) {
		dir, drop, err := scratch(*where)
		if err != nil {
			return nil, err
		}
		defer drop()
		path := filepath.Join(dir, "rows.csv")
		if err := federation.WriteRows(path, s.rows, s.d); err != nil {
			return nil, err
		}
		t := table{
			Title: fmt.Sprintf("A query over long links: %d sites x %d rows x d = %d, tick %v", s.sites, s.rows, s.d, *tick),
			Head:  []string{"one way, ms", "on_dropout", "noise", "round trips a query", "round trips a setup", "a query, ms", "setup, ms", "up a query and site, kB"},
		}
		var here []*mode // without a delay
		for _, text := range strings.Split(*delays, ",") {
			oneWay, err := time.ParseDuration(text)
			if err != nil {
				return nil, err
			}
			modes, err := overLinks(filepath.Join(dir, text), path, s, oneWay, *tick, *repeat)
			if err != nil {
				return nil, err
			}
			if oneWay == 0 {
				here = modes
			}
			for i, m := range modes {
				var trips, setup any
				if oneWay > 0 && here != nil {
					trips, setup = (m.queries.ms()-here[i].queries.ms())/ms(2*oneWay), (m.setup.ms()-here[i].setup.ms())/ms(2*oneWay)
				}
				t.row(int(oneWay/time.Millisecond), m.dropout, m.noise, trips, setup, m.queries.ms(), m.setup.ms(), median(m.up))
			}
		}
		t.note("Each site's connection goes through a proxy that delivers every byte that much later; bandwidth is not limited, and folders are in memory where there is room for them. Round trips: the time beyond that without a delay, over twice the delay. A query is from its being open to its release's commit, the next one's beginning; medians over the queries of %d studies. The bytes are all that goes up, setup included, TLS and all, over the number of queries.", *repeat)
		return &report{Tables: []table{t}}, nil
	}
}

// quickest is a folder in memory, or the system's temporary one.
func quickest() string {
	if info, err := os.Stat(inMemory); err == nil && info.IsDir() {
		return inMemory
	}
	return ""
}

// mode is one way of running a study, and what its studies took.
type mode struct {
	dropout, noise string
	queries, setup times
	up             []float64 // kB a query and site
}

// overLinks measures all modes with links of one length.
func overLinks(dir, path string, s shape, oneWay, tick time.Duration, repeat int) ([]*mode, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	var proxy *delay.Proxy
	f, err := federation.Start(dir, s.sites, path, func(address string) (at string, err error) {
		if proxy, err = delay.Listen(address, oneWay); err != nil {
			return "", err
		}
		return proxy.Address(), nil
	})
	if proxy != nil {
		defer proxy.Close()
	}
	if err != nil {
		return nil, err
	}
	defer f.Stop()
	modes := []*mode{
		{dropout: study.DropoutWait, noise: study.NoiseCentral}, {dropout: study.DropoutContinue, noise: study.NoiseCentral},
		{dropout: study.DropoutWait, noise: study.NoiseDistributed}, {dropout: study.DropoutContinue, noise: study.NoiseDistributed},
	}
	for r := range repeat {
		progress("links: %v: %d of %d", oneWay, r+1, repeat)
		for _, m := range modes {
			spec := s.spec(tick)
			spec.OnDropout, spec.Noise = m.dropout, m.noise
			before, _ := proxy.Bytes()
			spent, err := masked(f, spec)
			if err != nil {
				return nil, err
			}
			after, _ := proxy.Bytes()
			m.queries, m.setup = append(m.queries, spent.trace.Queries...), append(m.setup, spent.trace.Setup)
			m.up = append(m.up, float64(after-before)/float64(len(spent.trace.Queries)*s.sites)/1000)
		}
	}
	return modes, nil
}

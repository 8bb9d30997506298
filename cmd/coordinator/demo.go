package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pelletier/go-toml/v2"

	shared "covey/cmd/internal/cli"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/simulate"
	"covey/internal/study"
	"covey/internal/worth"
)

type demoCmd struct {
	Raw bool `help:"The diamonds unprepared: all ten columns, three of them categories, 5% of the cells emptied at random, no constants. The study learns everything."`

	Epsilon float64 `default:"1" help:"The ε of the study."`
	Delta   float64 `default:"1e-6" help:"The δ of the study."`
	Profile string  `default:"practical" help:"practical, or paper: Algorithm 1 to the letter."`
	Asked   *int    `name:"rounds" placeholder:"INT" help:"T; 12, or 10 with --profile paper."`
	Rounds  int     `kong:"-"` // what is asked for, or the default
	Output  string  `help:"auto, pooled, last or random; the profile's own if not given."`

	Components int    `default:"1" help:"k, how many principal components."`
	Method     string `enum:"power,covariance,auto," default:"" help:"power, covariance or auto; power if not given, with --raw auto."`
	Subspace   string `default:"block" enum:"block,deflation" help:"How power iteration finds several components: block or deflation."`
	Center     string `enum:"public,private,pairs," default:"" help:"public, private (the columns' public offsets are then not used) or pairs; public if not given, with --raw private."`
	Noise      string `enum:"central,distributed," default:"" help:"central, or distributed, with which not even the coordinator sees an exact sum. By default central; distributed with --raw."`
	Unit       string `enum:"row,parcel," default:"" help:"The unit of privacy: row, or parcel (three rows of a site); row if not given."`
	Lambda     string `help:"With --profile paper: the public Λ, 7 if not given, or private."`
	Variance   string `default:"private" enum:"private,none" help:"Buy explained variance, or none."`
	Picture    bool   `help:"Buy pictures of scores, with at least 2 components."`

	KillSite int `help:"Stop the agent of this site, 1 to 5."`
	AtRound  int `help:"The round at whose start it stops."`
	ReturnAt int `help:"The round at whose start the site comes back."`

	Coordinators      int `default:"1" help:"How many coordinators share the lead, 1 to 7."`
	KillLeaderAtRound int `help:"Stop the coordinator that leads at the start of this round, for good."`

	Keep    string `type:"path" help:"Keep configurations, keys, join files and studies in this new folder."`
	Verbose bool   `help:"Log what the coordinator and the agents do."`
}

// enough is the captured share below which the demo counts as failed.
const enough = 0.9

// demoReport is what demo --json prints; scripts rely on the names.
type demoReport struct {
	Captured             float64            `json:"captured"` // share of the best possible variance
	CapturedOutputs      map[string]float64 `json:"captured_outputs"`
	Epsilon              float64            `json:"epsilon"` // spent: the proposal's
	Delta                float64            `json:"delta"`
	Adjacency            string             `json:"adjacency"`
	Rho                  float64            `json:"rho"`
	Profile              string             `json:"profile"`
	Rounds               int                `json:"rounds"`
	Sites                int                `json:"sites"`
	FewestSurvivors      int                `json:"fewest_survivors"`
	N                    int                `json:"n"`
	D                    int                `json:"d"`
	Output               string             `json:"output"`
	Columns              []string           `json:"columns"`
	Component            []float64          `json:"component"`
	Digest               proposal.Digest    `json:"digest"`
	NoiseToSignal        float64            `json:"noise_to_signal"`
	BytesPerSitePerRound float64            `json:"bytes_per_site_per_round"`
	Seconds              float64            `json:"seconds"`
	Coordinators         int                `json:"coordinators"`
	LeadersKilled        int                `json:"leaders_killed"`
	// from the kill to the next released query
	ResumeSeconds float64 `json:"resume_seconds"`

	Components        [][]float64      `json:"components_"`
	ExplainedVariance []float64        `json:"explained_variance_"`
	LeftOut           []result.LeftOut `json:"left_out_,omitempty"`
	Filled            []float64        `json:"filled_,omitempty"`
	Method            string           `json:"method"`
	MethodWhy         string           `json:"method_why"`
	Center            string           `json:"center"`
	Noise             string           `json:"noise"`

	result *result.Result
	bytes  int         // uploaded by each site
	best   [][]float64 // the pooled non-private components
}

func (c *demoCmd) Run(s *terminal) error {
	if c.Unit == "row" { // which a study says by naming none
		c.Unit = ""
	}
	if err := c.check(); err != nil {
		return err
	}
	// Checked before anything is built, so that a bad flag costs nothing.
	text, spec, err := c.parsed()
	if err != nil {
		return err
	}
	dir := c.Keep
	if dir != "" {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return shared.Bad("%w", err)
		}
	} else {
		if dir, err = os.MkdirTemp("", "covey"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	if err := os.WriteFile(filepath.Join(dir, "study.toml"), text, 0o600); err != nil {
		return err
	}
	report, err := c.study(s, dir, spec)
	if err != nil {
		return err
	}
	if s.JSON {
		err = json.NewEncoder(s.Out).Encode(report)
	} else {
		err = report.print(s.Out)
	}
	if err != nil {
		return err
	}
	if c.Keep != "" {
		fmt.Fprintf(s.Err, "kept everything in %s: see README.md there\n", dir)
	}
	if report.Captured < enough && report.Output == proposal.OutputRandom {
		return fmt.Errorf("the component captures %s of the best possible variance, under %g: Algorithm 1 returns a random iterate, x_0 among them, and promises no more than a constant probability; --output pooled costs nothing",
			shared.CapturedText(report.Captured), enough)
	}
	if report.Captured < enough {
		return fmt.Errorf("the component captures %s of the best possible variance, under %g", shared.CapturedText(report.Captured), enough)
	}
	return nil
}

// parsed returns the demo's study, and its study.toml: of a raw table as a person would write it,
// else with every default in force.
func (c *demoCmd) parsed() ([]byte, proposal.Spec, error) {
	if c.Raw {
		text := c.rawStudy()
		spec, err := proposal.ParseSpec(text)
		return text, spec, ofFlag(err)
	}
	text, err := toml.Marshal(c.spec())
	if err != nil {
		return nil, proposal.Spec{}, err
	}
	spec, err := proposal.ParseSpec(text)
	if err != nil {
		return nil, proposal.Spec{}, ofFlag(err)
	}
	text, err = toml.Marshal(spec)
	return text, spec, err
}

// ofFlag names the flag where a study that nobody wrote has a fault.
func ofFlag(err error) error {
	bad, ok := errors.AsType[*proposal.FieldError](err)
	if !ok {
		return err
	}
	flag := bad.Field
	if flag == "explained_variance" {
		flag = "variance"
	}
	if !slices.Contains([]string{"epsilon", "delta", "profile", "rounds", "output", "components", "method", "subspace", "center", "noise", "unit", "lambda", "variance", "picture"}, flag) {
		return err
	}
	return shared.Bad("--%s: %s", flag, bad.Reason)
}

func (c *demoCmd) check() error {
	if c.Asked != nil {
		if c.Rounds = *c.Asked; c.Rounds < 1 || c.Rounds > proposal.MaxRounds {
			return shared.Bad("--rounds must be in 1..%d, got %d", proposal.MaxRounds, c.Rounds)
		}
	}
	most := c.Rounds
	if c.Raw {
		if err := c.checkRaw(); err != nil {
			return err
		}
		most = cmp.Or(most, 24) // the study's default, which stays out of its study.toml
	} else {
		c.Method, c.Center, c.Noise = cmp.Or(c.Method, proposal.MethodPower), cmp.Or(c.Center, proposal.CenterPublic), cmp.Or(c.Noise, proposal.NoiseCentral)
		switch {
		case c.Rounds != 0 || c.Method == proposal.MethodCovariance: // which has no rounds
		case c.Profile == proposal.ProfilePaper:
			c.Rounds = 10
		default:
			c.Rounds = 12
		}
		most = max(c.Rounds, 1)
	}
	return c.checkKills(most)
}

// checkKills checks how many coordinators there are, and what is killed in which of so many rounds.
func (c *demoCmd) checkKills(most int) error {
	if c.Coordinators < 1 || c.Coordinators > 7 {
		return shared.Bad("--coordinators must be in 1..7, got %d", c.Coordinators)
	}
	if c.KillLeaderAtRound != 0 {
		if c.Coordinators < 3 {
			return shared.Bad("--kill-leader-at-round goes with --coordinators 3 or more: with %d nobody is left to lead", c.Coordinators)
		}
		if c.KillLeaderAtRound < 1 || c.KillLeaderAtRound > most {
			return shared.Bad("--kill-leader-at-round must be in 1..%d, got %d", most, c.KillLeaderAtRound)
		}
	}
	if c.KillSite == 0 {
		if c.AtRound != 0 || c.ReturnAt != 0 {
			return shared.Bad("--at-round and --return-at go with --kill-site")
		}
		return nil
	}
	if c.KillSite < 1 || c.KillSite > len(diamondCuts) {
		return shared.Bad("--kill-site must be in 1..%d, got %d", len(diamondCuts), c.KillSite)
	}
	if c.AtRound < 1 || c.AtRound > most {
		return shared.Bad("--at-round must be in 1..%d, got %d", most, c.AtRound)
	}
	if c.ReturnAt != 0 && (c.ReturnAt <= c.AtRound || c.ReturnAt > most) {
		return shared.Bad("--return-at must be in %d..%d, got %d", c.AtRound+1, most, c.ReturnAt)
	}
	return nil
}

// spec is the demo's study.toml.
func (c *demoCmd) spec() proposal.Spec {
	s := proposal.Spec{
		Name: "diamonds", Dataset: "diamonds", Epsilon: c.Epsilon, Delta: c.Delta, Profile: c.Profile, Rounds: c.Rounds, Output: c.Output,
		Components: proposal.Components(c.Components), Method: c.Method, Subspace: c.Subspace, Center: c.Center, Noise: c.Noise, Unit: c.Unit, Picture: c.Picture,
		Columns:   c.columns(),
		Deadlines: c.deadlines(),
		Sites:     diamondSites(),
	}
	if c.Profile == proposal.ProfilePaper {
		// The trace of columns of unit variance: λ1 <= Λ without looking.
		s.Lambda = proposal.Scalar(strconv.Itoa(len(diamondColumns)))
		if c.Lambda != "" {
			s.Lambda = proposal.Scalar(c.Lambda)
		}
		if c.Components > 1 || c.Method != proposal.MethodPower || c.Center == proposal.CenterPrivate || c.Noise != proposal.NoiseCentral {
			s.Accountant = proposal.AccountantGDP // the paper's τ pays for its own steps alone
		}
	} else {
		s.ExplainedVariance = c.Variance
	}
	if c.KillSite != 0 {
		s.OnDropout = proposal.DropoutContinue
	}
	return s
}

// deadlines are short where a site will be missing.
func (c *demoCmd) deadlines() proposal.Deadlines {
	out := proposal.Deadlines{Round: proposal.Duration(30 * time.Second), Tick: proposal.Duration(20 * time.Millisecond)}
	if c.KillSite != 0 {
		out.Round = proposal.Duration(2 * time.Second)
	}
	return out
}

// columns returns the demo's columns, without offsets if a private mean has to find them.
func (c *demoCmd) columns() []proposal.Column {
	columns := slices.Clone(diamondColumns)
	if c.Center == proposal.CenterPrivate {
		for i := range columns {
			columns[i].Offset = 0
		}
	}
	return columns
}

// study runs the whole federation in dir, and the study of spec in it.
func (c *demoCmd) study(s *terminal, dir string, spec proposal.Spec) (*demoReport, error) {
	level := slog.LevelError
	if c.Verbose {
		level = slog.LevelInfo
	}
	log := slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: level}))
	fmt.Fprintf(s.Err, "preparing %s and five sites with the diamonds of one cut each\n", plural(c.Coordinators, "coordinator"))
	if c.Raw {
		fmt.Fprintf(s.Err, "%g%% of their cells are emptied at random. Each site alone has its level of cut: noise is distributed, so that nobody reads what it adds there\n", 100*emptied)
	}
	data, err := splitDiamonds(dir, spec, c.Raw)
	if err != nil {
		return nil, err
	}
	f, err := startFederation(s.Ctx, dir, c, log)
	if err != nil {
		return nil, err
	}
	defer f.stop()
	if c.Keep != "" {
		if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte(c.readme()), 0o600); err != nil {
			return nil, err
		}
	}
	if err := f.connected(s.Ctx, spec); err != nil {
		return nil, err
	}
	plan, err := f.leader().Coordinator.Create(spec)
	if err != nil {
		return nil, err
	}
	s.Warn(plan.Warnings())
	began := time.Now()
	show := newProgress(s.Err)
	var last outline.View
	ctx, cancel := context.WithCancelCause(s.Ctx)
	defer cancel(nil)
	go func() { cancel(f.failed()) }() // a part that fails ends the wait
	err = f.watch(ctx, plan.Digest, func(v outline.View) error {
		last = v
		show.see(v)
		return f.fault(v)
	})
	show.Clear()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err == nil {
		err = ended(last)
	}
	if err != nil {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	result, err := f.leader().Coordinator.Result(plan.Digest)
	if err != nil {
		return nil, err
	}
	if c.Keep != "" {
		if err := keepResult(dir, result); err != nil {
			return nil, err
		}
	}
	report := newReport(data, plan, result, seconds)
	report.Coordinators, report.LeadersKilled, report.ResumeSeconds = c.Coordinators, f.leadersKilled, f.resumed.Seconds()
	return report, nil
}

func keepResult(dir string, result *result.Result) error {
	text, err := result.File()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "result.json"), text, 0o600)
}

func newReport(data *simulate.Pooled, plan *study.Plan, r *result.Result, seconds float64) *demoReport {
	out := &demoReport{
		CapturedOutputs: map[string]float64{}, Epsilon: r.Epsilon, Delta: r.Delta, Adjacency: r.Adjacency, Rho: r.Rho, Profile: r.Profile,
		Rounds: r.Rounds, Sites: len(r.Sites), FewestSurvivors: len(r.Sites), N: r.N, D: r.D, Output: r.Output,
		Columns: r.Columns, Component: r.Components[0], Digest: r.Digest, NoiseToSignal: r.NoiseToSignal,
		Seconds:    seconds,
		Components: r.Components, ExplainedVariance: r.ExplainedVariance, Method: r.Method, MethodWhy: r.MethodWhy, Center: r.Center, Noise: r.Noise,
		LeftOut: r.LeftOut, Filled: r.Filled, result: r,
	}
	bytes := 0 // of all queries
	for _, q := range plan.Queries {
		bytes += q.Bytes
	}
	out.BytesPerSitePerRound = float64(bytes) / float64(plan.Rounds*plan.Runs)
	for _, release := range r.Releases {
		out.bytes += plan.Queries[release.Query].Bytes
		out.FewestSurvivors = min(out.FewestSurvivors, len(release.Survivors))
	}
	for name, x := range r.Outputs {
		out.CapturedOutputs[name] = data.Fit(r, x).Captured
	}
	out.Captured = data.Fit(r, out.Components).Captured
	_, out.best = data.Best(r.K)
	return out
}

func (r *demoReport) print(out io.Writer) error {
	if r.LeadersKilled > 0 {
		fmt.Fprintf(out, "The coordinator that led was stopped; another released the next query %.1f s later.\n\n", r.ResumeSeconds)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	head, heading := "column\t", "component\tpooled, not private\t"
	for i := range r.Components {
		if len(r.Components) > 1 {
			heading = fmt.Sprintf("component %d\tpooled\t", i+1)
		}
		head += heading
	}
	fmt.Fprintln(w, head)
	for j, name := range r.Columns {
		fmt.Fprintf(w, "%s\t", name)
		for i, x := range r.Components {
			fmt.Fprintf(w, "%s\t%s\t", shared.Fixed(x[j], 4), shared.Fixed(r.best[i][j], 4))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	said, err := worth.Read(r.result)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, `
captured      %s of the best possible variance (%s output, %s profile)
method        %s (%s)
%sworth         %s
privacy       ε = %g, δ = %g spent, for replacing any one of %d units (ρ = %.5f)
noise         %s
rounds        %s, at least %d of %d sites in each sum, last noise-to-signal %.3f
wire          %d bytes of masked sums from each site, besides keys, shares and signatures
time          %.1f s
digest        %s
`, shared.CapturedText(r.Captured), r.Output, r.Profile, r.Method, r.MethodWhy, shared.VarianceText(said.Shown(r.result)), strings.Join(said.Sentences, "\n              "), r.Epsilon, r.Delta, r.N, r.Rho, noiseText[r.Noise], r.result.Done(), r.FewestSurvivors, r.Sites, r.NoiseToSignal, r.bytes, r.Seconds, r.Digest)
	return err
}

var noiseText = map[string]string{
	proposal.NoiseCentral:     "central: the coordinator that leads sees exact sums over all sites, nobody else does",
	proposal.NoiseDistributed: "distributed: every site adds its share, nobody sees an exact sum",
}

// freeAddress returns a loopback address that nothing listens on just now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// connected waits until every site offers the data set.
func (f *federation) connected(ctx context.Context, spec proposal.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		_, err := f.leader().Coordinator.Roster(spec)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// fault stops the leader and the chosen site's agent, and returns the agent, at the start
// of the chosen rounds.
func (f *federation) fault(v outline.View) error {
	if v.Status != round.StatusProposed && v.Status != round.StatusSetup {
		f.faultLeader(v)
	}
	if f.demo.KillSite == 0 || v.Status != round.StatusRunning {
		return nil
	}
	site := siteName(diamondCuts[f.demo.KillSite-1])
	if v.Round+1 >= f.demo.AtRound && !f.killed {
		f.killed = true
		f.kill(site)
	}
	if f.demo.ReturnAt != 0 && v.Round+1 >= f.demo.ReturnAt && !f.returned {
		f.returned = true
		return f.start(site)
	}
	return nil
}

// readme is the kept folder's README.md.
func (c *demoCmd) readme() string {
	text := keepReadme
	if c.Raw {
		text = strings.Replace(text, "`SITE.csv` its rows,", fmt.Sprintf("`SITE.csv` its rows, of which %g%% of the cells were emptied,", 100*emptied), 1)
	}
	if c.Coordinators == 1 {
		return text
	}
	text = strings.Replace(text, "`coordinator/` is the coordinator's data folder", fmt.Sprintf("`coordinator-1/` to `coordinator-%d/` are the coordinators' data folders", c.Coordinators), 1)
	text = strings.Replace(text, "coordinator serve --data coordinator\n", fmt.Sprintf("coordinator serve --data coordinator-1    # and so on to coordinator-%d; any of them takes the commands below\n", c.Coordinators), 1)
	return strings.ReplaceAll(text, "--data coordinator ", "--data coordinator-1 ")
}

var keepReadme = strings.TrimLeft(`
# What this folder holds

`+"`coordinator/`"+` is the coordinator's data folder, `+"`SITE/`"+` each site's with its agent.toml, `+"`SITE.csv`"+` its rows, `+"`SITE.join`"+` its join file, used up,
and `+"`study.toml`"+` the study. Nothing here was made up for the demo: start the parts by hand, each in its own terminal, and run the study again.

    coordinator serve --data coordinator
    agent run -C fair                      # and good, very-good, premium, ideal
    coordinator study create --data coordinator study.toml
    coordinator study watch --data coordinator DIGEST
    coordinator study result --data coordinator DIGEST

Each site's ledger remembers what the demo spent of its budget; a site hears that the demo's study is over when it next connects.
`, "\n")

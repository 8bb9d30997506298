package main

import (
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	shared "covey/cmd/internal/cli"
	"covey/internal/proposal"
)

// emptied is the share of cells that a raw table lacks.
const emptied = 0.05

// rawColumns are the diamonds' ten, in the file's order; those with levels are categories.
var rawColumns = []proposal.Column{
	{Name: "carat"}, {Name: "cut", Levels: diamondCuts},
	{Name: "color", Levels: []string{"D", "E", "F", "G", "H", "I", "J"}},
	{Name: "clarity", Levels: []string{"I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"}},
	{Name: "depth"}, {Name: "table"}, {Name: "price"}, {Name: "x"}, {Name: "y"}, {Name: "z"},
}

// emptier returns a function that copies a row and empties its cells at random, each with
// probability emptied, differently in every run.
func emptier() (func([]string) []string, error) {
	var seed [32]byte
	if _, err := crand.Read(seed[:]); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewChaCha8(seed))
	return func(row []string) []string {
		row = slices.Clone(row)
		for j := range row {
			if rng.Float64() < emptied {
				row[j] = ""
			}
		}
		return row
	}, nil
}

// checkRaw refuses flags that make no sense of a raw table.
func (c *demoCmd) checkRaw() error {
	switch {
	case c.Noise == proposal.NoiseCentral:
		return shared.Bad("--noise central does not go with --raw: each site alone has its level of cut, and the coordinator that leads would read that site's exact sums there. A study.toml can allow it, with central_detail = true")
	case c.Profile != proposal.ProfilePractical:
		return shared.Bad("--profile %s does not go with --raw: Algorithm 1 knows no constants that a study learns", c.Profile)
	case c.Lambda != "":
		return shared.Bad("--lambda goes with --profile paper, which does not go with --raw")
	case c.Center != "" && c.Center != proposal.CenterPrivate:
		return shared.Bad("--center %s does not go with --raw: the columns' means are learned", c.Center)
	case c.Method != proposal.MethodPower && (c.KillSite != 0 || c.KillLeaderAtRound != 0):
		return shared.Bad("--kill-site and --kill-leader-at-round wait for a round of power iteration: with --raw give --method power, too")
	}
	return nil
}

// rawStudy is the study.toml of a raw table.
func (c *demoCmd) rawStudy() []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	text := func(key, value string) {
		if value != "" {
			line("%s = %q", key, value)
		}
	}
	line("# The diamonds as they come. No column has an offset and a scale: the study learns them.")
	text("name", "diamonds-raw")
	text("dataset", "diamonds")
	line("sites = [%s]", quoted(diamondSites()))
	line("epsilon = %v\ndelta = %v", c.Epsilon, c.Delta)
	line("components = %d", c.Components)
	line(`standardize = "private"   # constants and levels are counted column by column, so that noise is distributed`)
	line(`missing = "fill"          # an empty cell becomes what the components predict from its row's others`)
	text("method", c.Method)
	if c.Rounds != 0 {
		line("rounds = %d", c.Rounds)
	}
	if c.Subspace != proposal.SubspaceBlock {
		text("subspace", c.Subspace)
	}
	text("output", c.Output)
	text("unit", c.Unit)
	if c.Variance != proposal.VariancePrivate {
		text("explained_variance", c.Variance)
	}
	if c.Picture {
		line("picture = true")
	}
	line("columns = [")
	var names []string
	flush := func() {
		if len(names) > 0 {
			line("  %s,", quoted(names))
		}
		names = nil
	}
	for _, column := range rawColumns {
		if len(column.Levels) == 0 {
			names = append(names, column.Name)
			continue
		}
		flush()
		line("  { name = %q, levels = [%s] },", column.Name, quoted(column.Levels))
	}
	flush()
	line("]\n\n[deadlines]\nround = %q\ntick = %q", time.Duration(c.deadlines().Round), time.Duration(c.deadlines().Tick))
	return []byte(b.String())
}

func quoted(texts []string) string {
	var out []string
	for _, text := range texts {
		out = append(out, strconv.Quote(text))
	}
	return strings.Join(out, ", ")
}

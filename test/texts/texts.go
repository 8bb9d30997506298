// Package texts has a study.toml of every kind of study, for tests.
package texts

import (
	"slices"
	"strings"
)

// Four has four columns and buys what a study of public offsets buys by default.
// All of it is in the digest, which draws the start of the iteration; from some
// starts a few rounds are not enough.
const Four = `
name = "four"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
center = "public"
deadlines = { round = "1m", tick = "100ms" }
[[columns]]
name = "a"
scale = 1
[[columns]]
name = "b"
scale = 1
[[columns]]
name = "c"
scale = 1
[[columns]]
name = "d"
scale = 1
`

// With is the text with more lines, of which a center takes the text's place.
func With(text string, lines ...string) string {
	if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "center =") }) {
		text = strings.Replace(text, "center = \"public\"\n", "", 1)
	}
	return strings.Replace(text, "delta = 1e-6", "delta = 1e-6\n"+strings.Join(lines, "\n"), 1)
}

// Studies are a study of every kind.
var Studies = map[string]string{
	"default":          Four,
	"block":            With(Four, "components = 2"),
	"all components":   With(Four, "components = 4", "rounds = 3"),
	"deflation":        With(Four, "components = 3", `subspace = "deflation"`, "rounds = 20"),
	"covariance":       With(Four, "components = 2", `method = "covariance"`),
	"public bound":     With(Four, `method = "covariance"`, "norm_bound = 3.0"),
	"auto":             With(Four, "components = 2", `method = "auto"`),
	"auto, no tail":    With(Four, `method = "auto"`, `explained_variance = "none"`),
	"private mean":     With(Four, `center = "private"`),
	"pairs":            With(Four, `center = "pairs"`),
	"units":            With(Four, `unit = "patient"`, `center = "private"`),
	"private scale":    With(Four, `lambda = "private"`, `radius = "paper"`, "rounds = 3"),
	"scale in a range": With(Four, `lambda = "private"`, `lambda_range = [0.1, 20.0]`, `radius = "paper"`, "rounds = 3"),
	"distributed":      With(Four, `noise = "distributed"`, `center = "private"`, "components = 2"),
	"distributed auto": With(Four, `noise = "distributed"`, `method = "auto"`),
	"distributed range": With(Four, `noise = "distributed"`, `lambda = "private"`, `lambda_range = [0.1, 20.0]`, `radius = "paper"`,
		"rounds = 3"),
	"standardized": With(LearningAll, `method = "power"`, `rows = "plain"`, "rounds = 12"),
	"standardized by deflation": With(LearningAll, "central_detail = true", "components = 2", `subspace = "deflation"`, "rounds = 20",
		`explained_variance = "private"`, `missing = "drop-row"`),
	"everything": With(Four, `noise = "distributed"`, `method = "auto"`, `center = "private"`, `unit = "patient"`, `subspace = "deflation"`,
		"components = 2", "rounds = 24"),
	"levels":                  With(Leveled, "components = 2"),
	"levels, private mean":    With(Leveled, `center = "private"`, `method = "covariance"`),
	"levels, pairs":           With(Leveled, `center = "pairs"`, `method = "covariance"`),
	"levels, central":         With(Leveled, "central_detail = true", `method = "covariance"`),
	"levels, units":           With(Leveled, `unit = "patient"`, `center = "private"`),
	"levels, deflation":       With(Leveled, "components = 2", `subspace = "deflation"`, "rounds = 20"),
	"picture":                 Pictured,
	"pictures, covariance":    With(Four, "components = 3", `method = "covariance"`, "picture = true", "picture_share = 0.1", "picture_pairs = [[1, 2], [3, 2]]", `center = "private"`),
	"pictures, deflation":     With(Four, "components = 2", `subspace = "deflation"`, "rounds = 20", "picture = true"),
	"pictures by site":        With(Pictured, `picture_by = "site"`, `center = "private"`),
	"pictures by site, units": With(Pictured, `picture_by = "site"`, `unit = "patient"`, `center = "private"`),
	"pictures by column":      With(Leveled, "components = 2", "picture = true", `picture_by = "column"`, `picture_column = "b"`, `center = "private"`),
}

const Minimal = `
name = "weights"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
explained_variance = "none"
center = "public"
[[columns]]
name = "a"
offset = 1.5
scale = 2.0
[[columns]]
name = "b"
scale = 1
`

// Iterating asks for twelve rounds of power iteration on rows as they are where a text says nothing
// of a method: what most tests here are about.
func Iterating(text string) string {
	for _, key := range []string{"method = ", "profile = ", "radius = "} {
		if strings.Contains(text, key) {
			return text
		}
	}
	if !strings.Contains(text, "rounds = ") {
		text = "rounds = 12\n" + text
	}
	return "method = \"power\"\nrows = \"plain\"\nradius_share = 0.1\n" + text
}

// Leveled is four, of whose columns b has three levels and d one.
const Leveled = `
name = "leveled"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
center = "public"
deadlines = { round = "1m", tick = "100ms" }
[[columns]]
name = "a"
scale = 1
[[columns]]
name = "b"
levels = ["x", "y", "z"]
[[columns]]
name = "c"
scale = 1
[[columns]]
name = "d"
levels = ["yes"]
`

// Learning is a study of five columns, the last of which is scaled as it says.
const Learning = `
name = "learning"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
standardize = "private"
explained_variance = "none"
[[columns]]
name = "a"
[[columns]]
name = "b"
[[columns]]
name = "c"
[[columns]]
name = "d"
[[columns]]
name = "known"
offset = 3.0
scale = 2.0
`

// LearningAll is one of four columns that are all learned.
var LearningAll = strings.Replace(Learning[:strings.Index(Learning, "[[columns]]\nname = \"known\"")], "explained_variance = \"none\"\n", "", 1)

// Pictured is a study of two components and their picture.
var Pictured = With(Four, "components = 2", "picture = true")

// Mixed is a study of three numbers, the second of a public scale, among three columns with
// levels, of 14 coordinates; the last number has one for missing values.
const Mixed = `
name = "mixed"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
standardize = "private"
missing = "zero"
method = "covariance"
explained_variance = "none"
[[columns]]
name = "color"
levels = ["D", "E", "F"]
[[columns]]
name = "x"
[[columns]]
name = "cut"
levels = ["1", "2", "3", "4"]
[[columns]]
name = "known"
offset = 3.0
scale = 2.0
[[columns]]
name = "sold"
levels = ["yes"]
[[columns]]
name = "z"
indicator = true
`

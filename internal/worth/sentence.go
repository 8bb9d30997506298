package worth

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"covey/internal/prior"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// clipSentence is always said: no released value shows what the clip hid.
const clipSentence = "This does not cover what the clip hides: a row beyond the clip counts as a shorter one. If half of the rows, or fewer, carry a direction of their own, or single columns are skewed or heavy-tailed, as costs and laboratory values often are, the components can miss it and the bounds can be wrong, with no sign of either."

// meaningSentence is always said: sums are over what each site takes a column for.
const meaningSentence = "A column that one site has in another unit of measurement, with another sign or with another meaning may show nowhere here, and no bound covers it: compare how sites define their columns."

// pairsSentence is for studies of differences between two rows of one site. If the sites' means
// differ, all rows together have other components: of those, such a study captured 0.28 where its
// bound was 0.99.
const pairsSentence = "Rows were compared in pairs within a site, so this covers only variance within sites; differences between site means play no part."

// spansSentence is for components whose share is 1 whatever they are.
const spansSentence = "There are as many components as columns, so they capture all of the variance whatever they are, and their share says nothing."

// unseen reports whether there are figures that heavy tails would have taken away, were explained
// variance known.
func (out *Report) unseen(r *result.Result) bool {
	return out.Share != nil && r.TotalInterval == nil && r.ScaleNote == ""
}

// spans reports whether the components span all columns that are not left out.
func spans(r *result.Result) bool { return r.K >= r.D-len(r.LeftOut) }

// say writes the sentences. why is the reason for which figures are left out, if any.
func (out *Report) say(p *study.Plan, r *result.Result, why string) {
	out.sayShare(p, r, why)
	out.sayRounds(p, r)
	out.sayComponents(r)
	out.sayColumns(r)
	out.sayRows(r)
	out.sayDoubts(p, r, why)
}

func (out *Report) tell(format string, args ...any) {
	out.Sentences = append(out.Sentences, fmt.Sprintf(format, args...))
}

// sayShare says how much is captured, or why that is not known, and of what.
func (out *Report) sayShare(p *study.Plan, r *result.Result, why string) {
	tell := out.tell
	these, best := "this component captures", "the best one could"
	if r.K > 1 {
		these, best = fmt.Sprintf("these %d components capture", r.K), fmt.Sprintf("the best %d could", r.K)
	}
	covers := "noise and sampling"
	if r.Method == proposal.MethodPower {
		covers = "noise, sampling and unfinished rounds"
	}
	switch {
	case why != "":
		out.sayUncalibrated(p, r, why)
	case out.Share != nil && spans(r): // a share and a bound would look like a finding
		tell("%s", spansSentence)
	case out.Share == nil:
		tell("Nothing stands out from the noise; at this budget no share can be given.")
	case p.Proposal.Spec.Standardizes():
		tell("For the correlations of the rows as they were scaled: %s about %s of the variance that %s, and at least %s (95%% bound: noise, sampling and learned constants). "+
			"These figures describe the distribution from which the rows were drawn, not these rows; columns that are left out play no part, and every value counts as at most %d scales from its column's mean.",
			these, percent(out.Share.Estimate), best, percent(out.Share.Lower), study.LearnedLimit)
	default:
		tell("%s about %s of the variance that %s, and at least %s (95%% bound: %s). "+
			"The variance is that of the distribution from which the rows were drawn (second moment about the center), not of these rows; with heavy tails a few large rows can dominate the rows' own.",
			capital(these), percent(out.Share.Estimate), best, percent(out.Share.Lower), covers)
	}
	if out.Share != nil && !spans(r) {
		if text, _ := out.Share.blindText(); text != "" {
			tell("%s", text)
		}
	}
	if r.Center == proposal.CenterPairs {
		tell("%s", pairsSentence)
	}
	if r.ComponentsWhy != "" {
		tell("%s.", capital(r.ComponentsText()))
	}
}

// sayUncalibrated says why no share is given, what was released all the same, and what would help.
func (out *Report) sayUncalibrated(p *study.Plan, r *result.Result, why string) {
	tell := out.tell
	tell("No share of captured variance is given: it is not calibrated for this study (%s).", why)
	tell("What was released shows this: %s.", released(p, r))
	clipped := why == beyondWhy || why == belowWhy || why == alikeWhy
	if clipped && r.ExplainedVariance != nil {
		tell("%s", uncountedSentence)
	}
	switch why {
	case heavyWhy:
		tell("%s", logarithmsSentence)
	case nearWhy, shortWhy, alongWhy:
		tell("%s", plainSentence)
	case beyondWhy, belowWhy:
		tell("%s", scalesSentence)
	case alikeWhy:
		tell("%s", alikeSentence)
	}
}

// outputSentence says what components are that are not the last round's answer.
var outputSentence = map[string]string{
	proposal.OutputRandom:    " The components are not that answer: they are what a round picked at random was asked about.",
	proposal.OutputPooled:    " The components are not that answer alone: the later half of the rounds is pooled.",
	proposal.OutputPosterior: " The components are not that answer alone: they are of a posterior mean, which weighs the two parts of a covariance that the rounds started at and all rounds by their noise (output \"posterior\").",
}

// sayRounds says what power iteration left undone, and what components its rounds give.
func (out *Report) sayRounds(p *study.Plan, r *result.Result) {
	tell := out.tell
	if out.Unfinished {
		tell("The iteration had not finished: about %s, perhaps as low as %s. More rounds, or method = \"covariance\", would help.", percent(out.Share.Estimate), percent(out.Share.Lower))
	}
	if len(out.Moved) > 0 && p.K < r.D-len(r.LeftOut) { // all columns span the same in every round
		tell("The last round turned the answer by %.1f degrees, including noise.%s", out.Moved[len(out.Moved)-1], outputSentence[r.Output])
	}
	if start := p.Proposal.Spec.Start; start != nil && !spans(r) && r.Method == proposal.MethodPower {
		tell("The components are within %.1f degrees of the start that was given: what the rounds did not turn may be the start, and not what the rows show.",
			math.Ceil(10*prior.Round{X: columns(start.Vectors, r.D), Z: r.Components}.Turned())/10)
	}
}

// sayComponents says which components are told apart, and what their order is worth.
func (out *Report) sayComponents(r *result.Result) {
	tell := out.tell
	for _, c := range out.Components {
		if text := c.sentence(r.K); !slices.Contains(out.Sentences, text) { // those of a group have one together
			tell("%s", text)
		}
	}
	if text := out.orderText(r); text != "" {
		tell("%s", text)
	}
}

// sayColumns says how columns were scaled, and which levels were joined.
func (out *Report) sayColumns(r *result.Result) {
	tell := out.tell
	if text := r.LearnedText(); text != "" {
		tell("%s. A scale is the standard deviation of values clipped at 2 to 4 scales: below the column's own if its tails are heavy.", capital(text))
	}
	if text := r.ScalesText(); text != "" && r.ExplainedVariance != nil {
		tell("%s. Their intervals do not cover this.", capital(text))
	}
	if text := r.LevelsText(); text != "" {
		tell("%s.", capital(text))
	}
}

// sayRows says which rows and cells are in the sums, and what their variances do not cover.
func (out *Report) sayRows(r *result.Result) {
	tell := out.tell
	if n := summed(r); n < r.N {
		tell("Some sums lacked a site: %d of %d units are in every sum behind the components, and these statements cover only their distribution.", n, r.N)
	}
	if text := r.KeptText(); text != "" {
		tell("Rows kept: %s.", text)
	}
	if text := limited(r); text != "" {
		tell("%s", text)
	}
	if text := apartSites(r); text != "" {
		tell("%s", text)
	}
	if text := r.FilledText(); text != "" {
		tell("%s.", capital(text))
	}
	if text := r.PictureText(); text != "" {
		tell("%s.", capital(text))
	}
	if r.VarianceUnknown() {
		tell("%s.", capital(r.VarianceNote))
	}
}

// sayDoubts says what speaks against the figures, and what no figure covers.
func (out *Report) sayDoubts(p *study.Plan, r *result.Result, why string) {
	tell := out.tell
	if text := centered(r); text != "" && out.Share == nil && why != blurredWhy {
		tell("%s", text)
	}
	if out.Apart {
		tell("%s", apartSentence)
	}
	for _, text := range out.Constants {
		tell("%s", text)
	}
	if out.Alarm != nil && *out.Alarm {
		tell("Large rows look different from small rows here: do not rely on the bounds.")
	}
	if text := short(p, r); text != "" && out.Share != nil { // it is about the bounds
		tell("%s", text)
	}
	if out.unseen(r) {
		tell("%s", unboughtSentence)
	}
	if out.Share != nil && r.K == 1 && stepped(r) && !out.alone(p, r) {
		tell("%s", closeSentence)
	}
	if out.Share != nil && !spans(r) {
		tell("%s", repeatsSentence)
	}
	tell("%s", meaningSentence)
	tell("%s", clipSentence)
}

// apartSites returns that components may be differences between sites, or "" where these play no
// part or components span all columns. Of five sites whose means are apart, and whose rows have no
// component otherwise, components = "auto" finds four, with a cut after them.
func apartSites(r *result.Result) string {
	if r.Center == proposal.CenterPairs || spans(r) {
		return ""
	}
	most, which := len(r.Sites), "this component"
	if r.Center == proposal.CenterPrivate {
		most-- // about the mean of all
	}
	if r.K > 1 {
		which = fmt.Sprintf("up to %d of these components", min(r.K, most))
	}
	return fmt.Sprintf("Differences between the sites' means are part of the variance: %s can be how sites differ, such as in devices or codes, and loadings do not tell. A study with center = \"pairs\" leaves these out.", which)
}

// limited says up to how many rows of a unit are counted; empty where they are not. Noise hides
// which units have more. Of numbers of rows such as 1 + 3·exp(1.2·g), g normal, 8% of 53,000 are
// clipped off, and explained variances are up to 1.2 times those of the rows.
func limited(r *result.Result) string {
	if r.Unit == "" {
		return ""
	}
	for _, rel := range r.Releases {
		switch {
		case rel.Kind != study.KindRows:
		case rel.Unread():
			return "Noise hid how many rows units have, so each unit counts as one row. Where units have more, whatever is divided by the number of rows, such as explained variances, is too high, and no interval covers that."
		default:
			return fmt.Sprintf("At most %.1f rows of one unit are counted, a limit read from noised counts. If no unit has more, nothing is lost. If some have more, too few rows are counted, and whatever is divided by the number of rows, such as explained variances, is too high: by a tenth or two where few units have most rows. No interval covers that.", rel.Radius)
		}
	}
	return ""
}

// groupsSentence is for studies in which the directions of rows decided more than their lengths:
// groups1-pow1, d = 100, n = 10,000, captures 0.991 where the bound is 0.994
// (docs/figures/accuracy/table.csv).
const groupsSentence = " If rows come in groups with different averages, such as women and men, the components can be some degrees farther off than these bounds say"

// zerosSentence is for rows divided by their lengths, of short ones that [astray] does not see
// (docs/experiments.md).
const zerosSentence = " If some rows are short and alike, such as rows of zeros, a component can be partly theirs, and the bound too high: a twentieth of the rows goes unseen (in simulations 0.85 captured where the bound was 0.95), and with three components a fifth can. Sites see such rows with \"agent data profile\"."

// logarithmsSentence says what may help against heavy tails.
const logarithmsSentence = "Where columns are skewed, as costs and counts are, a study of their logarithms has shorter tails; where a code such as -999 stands for a missing value, sites must name it in missing_values."

// What is said about rows that are too long for a histogram to measure ([study.Plan.Beyond]), or
// too short ([study.Plan.Below]).
const (
	beyondWhy         = "rows are longer than can be counted, 2^32 after offset and scale, and all such rows were clipped"
	belowWhy          = "most rows, after offset, scale and center, are zeros or shorter than can be counted, 2^-32, and noise hides them"
	uncountedSentence = "Explained variances are of clipped rows, and can be any number of times too low."
	scalesSentence    = "Give each column a scale near the usual spread of its values, or let the study learn it."
)

// unboughtSentence is for figures that explained variance might have taken away ([spectrum.heavy]).
const unboughtSentence = "No explained variance is known here, so heavy tails may have gone unseen: where it shows them, no such figures are given."

// repeatsSentence is for figures of a study whose units are rows: where 20,000 rows were 500, each
// there forty times, bounds near 0.99 held in 5 of 30 studies (docs/experiments.md).
const repeatsSentence = "Every row counts as an independent draw. If an export or a join repeats rows, or people have several similar rows, these bounds are too good, and privacy covers only one row of a person: a study with a unit column counts people."

// closeSentence warns of two variances that rounds can hardly tell from equal ones. Equal ones
// would cost nothing (docs/figures/worth-close.csv).
const closeSentence = "If another direction has at least 0.8 of this one's variance, the bound can be too high: in simulations of such tables it held in 126 of 156 studies at ε = 1, and in 57 of 64 at ε = 4."

// alone reports whether released variances leave less than 0.8 of the first component's variance to
// all other directions together, whatever the clip took off the total. On the sphere they are of
// other rows than the component.
func (out *Report) alone(p *study.Plan, r *result.Result) bool {
	if p.Method.Sphere || out.Apart || r.TotalInterval == nil || len(r.VarianceInterval) == 0 {
		return false
	}
	least := r.VarianceInterval[0][0]
	return clippedTotal*r.TotalInterval[1]-least < 0.8*least
}

// stepped reports whether power iteration found the components.
func stepped(r *result.Result) bool {
	return slices.ContainsFunc(r.Releases, func(rel study.Release) bool { return rel.Kind == study.KindPower })
}

// short says where directions alone decided more than lengths, and why: a covariance was clipped
// low, or power iteration found the components on the unit sphere. It is empty elsewhere, and where
// auto took steps on the sphere and then a covariance of the rows as they are.
func short(p *study.Plan, r *result.Result) string {
	groups := groupsSentence + ", and capture 1% less."
	if spans(r) { // all directions together capture all
		groups = groupsSentence + "."
	}
	if r.Method == proposal.MethodPower {
		if !p.Method.Sphere {
			return ""
		}
		why := "Noise is the limit here, so rows were divided by their lengths."
		if p.Proposal.Spec.Rows == proposal.RowsSphere {
			why = "Rows were divided by their lengths, as asked (rows = \"sphere\")."
		}
		return why + groups + zerosSentence
	}
	var clips []float64
	for _, rel := range r.Releases {
		if rel.Kind == study.KindMoment {
			clips = append(clips, rel.Radius)
		}
	}
	if len(clips) > 1 && clips[len(clips)-1] < slices.Max(clips) {
		return "Noise is the limit here, so rows were clipped short." + groups
	}
	return ""
}

// places words what each of the r.D places of a row is: with levels a column has several.
func places(r *result.Result) string {
	if r.LevelsNote != "" {
		return "numbers of a row"
	}
	return "columns"
}

// released returns what released values and public sizes show about a study without figures.
func released(p *study.Plan, r *result.Result) string {
	alone := "1" // of a power step; the largest eigenvalue of a matrix of noise is near τ√(2d)
	if r.Output == proposal.OutputCovariance {
		alone = "0.5"
	}
	out := fmt.Sprintf("the noise of the last step is %.2g of what it measured, where noise alone has about %s or more", r.NoiseToSignal, alone)
	if r.NoiseToSignal == math.MaxFloat64 {
		out = "nothing but noise was left in the last step"
	}
	if score := p.Learning.Score; score > 0 {
		out += fmt.Sprintf("; by the public sizes, a plain column's counts stand out from the noise by %.1f standard deviations", score)
	}
	if r.ScaleNote != "" || len(r.LeftOut) > 0 {
		out += fmt.Sprintf("; %d of %d %s are left out", len(r.LeftOut), r.D, places(r))
	}
	return out
}

// sentence returns what is known about a component.
func (c Component) sentence(k int) string {
	switch {
	case c.Separated:
		return fmt.Sprintf("Component %d is within %.0f degrees (95%%) of the direction that infinitely many rows would show, and is separated from all others.", c.Number, ceil(*c.Angle))
	case c.Beyond:
		return fmt.Sprintf("%s cannot be told apart from %s: do not interpret %s loadings.", capital(name(c.Group)), behind(c.Group, k), its(c.Group))
	case c.GroupAngle == nil:
		return fmt.Sprintf("Component %d is not determined: it can be more than %d degrees (95%%) from the direction that infinitely many rows would show. Do not interpret its loadings.", c.Number, separatedBelow)
	default:
		span := "space"
		if len(c.Group) == 2 {
			span = "plane"
		}
		return fmt.Sprintf("%s cannot be told apart: only the %s that they span is determined (within %.0f degrees, 95%%); do not interpret their loadings singly.", capital(name(c.Group)), span, ceil(*c.GroupAngle))
	}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func name(group []int) string {
	if len(group) == 1 {
		return fmt.Sprintf("component %d", group[0])
	}
	var parts []string
	for _, g := range group[:len(group)-1] {
		parts = append(parts, fmt.Sprint(g))
	}
	return fmt.Sprintf("components %s and %d", strings.Join(parts, ", "), group[len(group)-1])
}

func its(group []int) string {
	if len(group) == 1 {
		return "its"
	}
	return "their"
}

func behind(group []int, k int) string {
	other := "the next, which was not asked for"
	if k == 0 || len(group) == 1 {
		return other
	}
	return "each other or from " + other
}

func ceil(v float64) float64 { return float64(int(v + 0.999999)) }

// percent writes a share as a percentage that is never rounded up.
func percent(v float64) string { return fmt.Sprintf("%.1f%%", math.Floor(v*1000+1e-6)/10) }

// Note returns what is known about a component in a few words.
func (c Component) Note() string {
	switch {
	case c.Separated:
		return fmt.Sprintf("separated, within %.0f°", ceil(*c.Angle))
	case c.GroupAngle != nil:
		return "only as " + name(c.Group)
	default:
		return "not separated: do not interpret"
	}
}

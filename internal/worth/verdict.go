package worth

import (
	"fmt"

	"covey/internal/proposal"
	"covey/internal/result"
)

// Trust is how far a result's figures can be relied on.
type Trust string

// Every result has one. Sound is a result that has figures and no doubt; Doubtful has figures that
// a reader must not take at their face; Unknown has no figure.
const (
	Sound    Trust = "sound"
	Doubtful Trust = "doubtful"
	Unknown  Trust = "unknown"
)

// Where a share's bound is too wide to be shown as an answer: below leastLower, or more than
// mostSpread under the estimate.
const (
	leastLower = 0.5
	mostSpread = 0.2
)

// Verdict is a report in one line, for the top of a page.
type Verdict struct {
	Trust Trust
	// Headline begins with the lower bound where there is one: never with the estimate, which noise
	// can flatter.
	Headline string
	// Doubts say what speaks against the figures, the gravest first; a sound result has none.
	Doubts []string
}

// Verdict returns the report's one line for the result that it is of.
func (out *Report) Verdict(r *result.Result) Verdict {
	v := Verdict{Trust: Sound, Doubts: out.doubts(r)}
	if len(v.Doubts) > 0 {
		v.Trust = Doubtful
	}
	switch {
	case r.Simulated:
		v.Trust, v.Headline = Unknown, "Simulated: nobody found this"
		v.Doubts = append([]string{"No site took part and nobody signed it; it proves nothing."}, v.Doubts...)
	case out.Uncalibrated != "":
		v.Trust, v.Headline = Unknown, "How good this is cannot be stated"
		v.Doubts = append([]string{fmt.Sprintf("Bounds are not calibrated for this study: %s.", out.Uncalibrated)}, v.Doubts...)
	case out.Share == nil:
		v.Trust, v.Headline = Unknown, "Nothing stands out from the noise"
		v.Doubts = append([]string{"At this budget the components may be noise alone: do not interpret them."}, v.Doubts...)
	case spans(r):
		v.Headline = "As many components as columns: no share would say anything"
	default:
		any := "one component could"
		if r.K > 1 {
			any = fmt.Sprintf("%d components could", r.K)
		}
		v.Headline = fmt.Sprintf("At least %s of the variance that %s capture; about %s", percent(out.Share.Lower), any, percent(out.Share.Estimate))
	}
	return v
}

// doubts returns what speaks against the figures of r, the gravest first.
func (out *Report) doubts(r *result.Result) (all []string) {
	doubt := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if out.Alarm != nil && *out.Alarm {
		doubt("Large rows look different from small rows: do not rely on the bounds.")
	}
	if text := centered(r); text != "" && out.Share == nil && out.Uncalibrated != blurredWhy {
		doubt("%s", text)
	}
	if out.Apart {
		doubt("%s", apartSentence)
	}
	for _, text := range out.Constants {
		doubt("%s", text)
	}
	if spans(r) {
		doubt("%s", spansSentence)
	}
	if out.Share != nil && !spans(r) {
		if text, little := out.Share.blindText(); little {
			doubt("%s", text)
		}
	}
	if out.Unfinished {
		doubt("The iteration had not finished: more rounds would turn the components further.")
	}
	if s := out.Share; s != nil && (s.Lower < leastLower || s.Estimate-s.Lower > mostSpread) {
		doubt("The bound is wide: the noise leaves room for %s or %s.", percent(s.Lower), percent(s.Estimate))
	}
	if out.unseen(r) {
		doubt("%s", unboughtSentence)
	}
	if text := out.togetherText(); text != "" {
		doubt("%s", text)
	}
	if text := out.orderText(r); text != "" {
		doubt("%s", text)
	}
	if n := summed(r); n < r.N {
		doubt("Some sums lacked a site: %d of %d units are in every sum behind the components, and these statements cover only their distribution.", n, r.N)
	}
	if r.KeptFew() {
		doubt("Rows kept: %s.", r.KeptText())
	}
	if n := len(r.LeftOut); n > 0 {
		doubt("%d of %d %s are left out and play no part in any component.", n, r.D, places(r))
	}
	if r.Center == proposal.CenterPairs {
		doubt("%s", pairsSentence)
	}
	return all
}

// togetherText returns how many components cannot be told apart; empty where all can.
func (out *Report) togetherText() string {
	together := 0
	for _, c := range out.Components {
		if !c.Separated {
			together++
		}
	}
	switch n := len(out.Components); {
	case together == 0:
		return ""
	case n == 1:
		return "The component cannot be told apart from others: do not interpret its loadings."
	default:
		return fmt.Sprintf("%d of %d components cannot be told apart from others: do not interpret their loadings singly.", together, n)
	}
}

package standardize

import "math"

// Limits of a standardized value |z|: in a moment query, and in later queries.
const (
	MomentLimit = 4
	RowLimit    = 3
)

// Bounds of [Score]: a study whose score is below Warn may find wrong scales, one below Refuse
// mostly would.
const (
	WarnScore   = 6
	RefuseScore = 4
	weakScore   = 3
)

// MomentRounds is how often moments are asked for, each time about the columns by the result of the
// last.
const MomentRounds = 2

// Shares are parts of a study's budget.
type Shares struct {
	Octaves, Tree float64
	Moments       float64 // of each of MomentRounds
}

// All returns their sum.
func (s Shares) All() float64 { return s.Octaves + s.Tree + MomentRounds*s.Moments }

// SharesOf returns the parts of the budget that learning the constants of d columns of n units
// takes, moments being asked of so many columns, where multiplier is σ/Δ of a query that takes the
// whole budget: a function of public numbers. Of units at s sites, n is the number of units over s.
func SharesOf(n, d, moments int, multiplier float64) Shares {
	// the noise of a count of one bit a column, as a part of n, at the whole budget
	u := func(columns int) float64 { return math.Sqrt(float64(columns)) * multiplier / float64(max(n, 1)) }
	return Shares{Octaves: share(u(d), 0.015, 0.06), Tree: share(u(d), 0.015, 0.06), Moments: share(u(moments), 0.01, 0.03)}
}

// share is what brings a noise of u at the whole budget to the noise wanted, at least 0.002 and at
// most most.
func share(u, wanted, most float64) float64 {
	r := u / wanted
	return max(0.002, min(float64(r*r), most))
}

// Score returns how far a plain column stands out of the noise, for arguments as in [SharesOf]: the
// signal over the noise that a histogram of its magnitudes in single octaves would have for the
// octaves' share. It is the scale on which [WarnScore] and [RefuseScore] were measured; places and
// moments fail where it is low, whatever the octaves say.
func Score(n, d int, multiplier float64) float64 {
	const signal = 0.46 // √Σp² of a normal law about 0
	of := SharesOf(n, d, d, multiplier).Octaves
	return signal * float64(n) * math.Sqrt(of/float64(2*d)) / multiplier
}

// NeededUnits returns the least number of units at which [Score] is at least score.
func NeededUnits(d int, multiplier, score float64) int {
	low, high := 0, 1
	for Score(high, d, multiplier) < score && high < 1<<52 {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; Score(middle, d, multiplier) < score {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

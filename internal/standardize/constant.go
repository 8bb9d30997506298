package standardize

import "math"

// A column has one value if its tree is parted, or nearly all of it is zero, and its z has no
// variance: less than so many standard deviations of the noise, and less than mostStill.
const (
	still     = 2.5
	mostStill = 0.1
	nearly    = 0.9 // of the units
)

// Constants leaves out the columns of one value, or nearly, by what the last moment query made of
// them; tau is the noise of its values.
func Constants(columns []Column, tau float64) []Column {
	most := min(still*noisy(tau)/math.Sqrt(MomentRounds), mostStill)
	out := make([]Column, len(columns))
	for j, c := range columns {
		if out[j] = c; c.Out == In && (c.Parted || c.Zero > nearly) && c.Variance < most {
			out[j] = c.out(Constant)
		}
	}
	return out
}

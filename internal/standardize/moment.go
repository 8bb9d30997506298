package standardize

import (
	"math"
	"slices"
)

const (
	varianceDoubt = 0.6 // standard deviation of a column's log variance, before its moments
	narrowMiddle  = -1  // of one whose tree is parted: it may be much less than that says
	narrowDoubt   = 1.2
	DiagonalDoubt = 0.3 // the same, before its diagonal
)

// Moments returns each column with a better center and scale, by the noised means h of
// query.Moments about columns: d means of 2z, then d means of z².
func Moments(h []float64, tau float64, columns []Column) []Column {
	tau = noisy(tau)
	d, half := len(columns), tau/2
	out := make([]Column, d)
	for j, c := range columns {
		if out[j] = c; c.Out != In {
			continue
		}
		mu := sane(h[j]) / 2
		square := float64(mu * mu)
		mu *= square / (square + float64(half*half)) // doubt stays where it was
		rest := sane(h[d+j]) - float64(mu*mu)
		middle, doubt := 0.0, varianceDoubt
		if c.Parted {
			middle, doubt = narrowMiddle, narrowDoubt
		}
		v := variance(rest, tau, middle, doubt)
		out[j] = c.at(c.Center+float64(c.Scale*mu), float64(c.Scale*root(v)))
		out[j].Variance += rest / MomentRounds
		out[j].Doubt = Doubt(v, tau, doubt)
	}
	return out
}

// Doubt is the standard deviation that noise tau on a variance v leaves of its logarithm, which
// was known to prior before.
func Doubt(v, tau, prior float64) float64 {
	left := v / noisy(tau)
	return 1 / math.Sqrt(1/float64(prior*prior)+float64(left*left))
}

// variance is e to the posterior mean of a log variance: of a noised value v with standard
// deviation tau, and prior N(log middle, doubt²).
func variance(v, tau, middle, doubt float64) float64 {
	const steps, width = 120, 6.0
	best, total, sum := 0.0, 0.0, 0.0
	for pass := range 2 {
		for i := range steps + 1 {
			x := float64(width*float64(2*i-steps)) / steps // in standard deviations
			log := middle + float64(x*doubt)
			off := (exp(log) - v) / tau
			l := -float64(off*off)/2 - float64(x*x)/2
			if pass == 0 {
				if i == 0 || l > best {
					best = l
				}
				continue
			}
			w := exp(l - best)
			total += w
			sum += float64(w * log)
		}
	}
	return exp(sum / total)
}

// Diagonal returns the variance of each column by the noised diagonal of a second-moment matrix of
// standardized rows, in the units of the entries: shrunk to the median, so that a column whose
// entry is noise does not blow up. It is 0 for a column that is left out, and positive for all
// others.
func Diagonal(entries []float64, tau float64, columns []Column) []float64 {
	tau = noisy(tau)
	var in []float64
	for j, c := range columns {
		if c.Out == In {
			in = append(in, sane(entries[j]))
		}
	}
	out := make([]float64, len(columns))
	if len(in) == 0 {
		return out
	}
	slices.Sort(in)
	middle := log(max(in[len(in)/2], tau, 0x1p-30))
	for j, c := range columns {
		if c.Out == In {
			out[j] = variance(sane(entries[j]), tau, middle, DiagonalDoubt)
		}
	}
	return out
}

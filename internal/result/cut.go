package result

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/study"
)

// Constants of components = "auto", frozen before the laws that judge it were drawn
// (docs/experiments.md).
const (
	// cutReach is how many components after a cut are looked at: a cut is a fall larger than
	// theirs.
	cutReach = 5
	// cutFactor is by how much it is larger.
	cutFactor = 1.7
	// edgeQuantile is the 99% quantile of the Tracy-Widom law of real matrices (Tracy and Widom
	// 1996): of the largest eigenvalue of noise, in standard deviations of its edge.
	edgeQuantile = 2.0234
	// edgeMissed is how often one of the variances along directions without a component stands out.
	edgeMissed = 0.01
	// equalGap bounds the gap of two equal eigenvalues, in standard deviations of either half of
	// it: the 99% quantile of Rayleigh's law.
	equalGap = 3.0348542587702925
	// cutSlack is how near a threshold must be for another processor to decide otherwise.
	cutSlack = 1e-6
)

// spectrum is what a study released of its components' variances, and the law of the noise on it. A
// covariance has the leading eigenvalues of M + E, where E is symmetric, of independent normal
// entries: standard deviation tau on the diagonal, tau/√2 off it. Power iteration has variances
// along its directions, each with normal noise of its own.
type spectrum struct {
	values []float64 // descending, in squared units of the scaled columns
	total  float64   // of all d
	d      int
	n      float64 // units
	tau    float64
	// along reports whether values are variances along directions, whose total has noise tauTotal.
	along    bool
	tauTotal float64
}

// level returns the mean b of all values but the first k and, above it, the edge that the largest
// of these passes with probability 0.01 where they are equal but for noise and sampling, and what a
// value of its own would have to be above b to be seen at all.
//
// The largest eigenvalue of noise and of the sampling of equal variances is at b + bγ + 2√w, with γ
// = (d-k)/n and w = (d-k)(tau²/2 + b²/n), and spreads by √w·(d-k)^(-2/3) times Tracy and Widom's
// law; an eigenvalue of its own, θ above b, shows at b + θ + w/θ from θ = √w on (Baik, Ben Arous,
// Péché 2005), and below is hidden.
func (s *spectrum) level(k int) (b, edge, hidden float64) {
	left := float64(s.d - k)
	b = s.total
	for _, v := range s.values[:k] {
		b -= v
	}
	b = max(0, b/left)
	gamma := left / s.n
	if s.along {
		z := distuv.UnitNormal.Quantile(1 - edgeMissed/float64(max(1, len(s.values)-k)))
		edge = b*(2*math.Sqrt(gamma)+gamma) + z*math.Hypot(s.tau, s.tauTotal/left)
		return b, edge, edge
	}
	w := left * (s.tau*s.tau/2 + b*b/s.n)
	return b, b*gamma + math.Sqrt(w)*(2+edgeQuantile*math.Pow(left, -2.0/3)), math.Sqrt(w)
}

// own returns what value v is above b by itself, without what noise adds: hidden at least.
func (s *spectrum) own(v, b, hidden float64) float64 {
	y := v - b
	if s.along {
		return max(y, hidden)
	}
	return max(hidden, (y+math.Sqrt(max(0, y*y-4*hidden*hidden)))/2)
}

// standing counts the values that stand out: each is tested against the edge of those behind it.
// slack raises every threshold by so much of itself.
func (s *spectrum) standing(most int, slack float64) int {
	for k := range most {
		if k+1 >= s.d || k >= len(s.values) {
			return k
		}
		if b, edge, _ := s.level(k); !(s.values[k]-b > edge*(1+slack)) {
			return k
		}
	}
	return most
}

// clears reports whether the spectrum has a cut behind value k: whether it falls there by more than
// cutFactor times what it falls by over the next cutReach values, and by more than two equal values
// differ. Values in the noise count as what they may hide: as large as hidden, next to nothing
// behind it.
func (s *spectrum) clears(k int, slack float64) bool {
	if k < 1 || k >= len(s.values) || k >= s.d {
		return false
	}
	b, edge, hidden := s.level(k)
	top, next, low := s.own(s.values[k-1], b, hidden), s.own(s.values[k], b, hidden), 0.0
	if at := k + cutReach; at < len(s.values) && s.values[at]-b > edge {
		low = s.own(s.values[at], b, hidden)
	}
	noise := equalGap * math.Sqrt(2*s.tau*s.tau+4*s.values[k-1]*s.values[k-1]/s.n)
	return top-next >= max(cutFactor*(next-low), noise)*(1+slack)
}

// choice is how many components there are, and why.
type choice struct {
	k   int
	why string
}

// of names what the values are of.
func (s *spectrum) of() string {
	if s.along {
		return "the noised variances"
	}
	return "the noised covariance of the clipped rows"
}

// choose returns the last cut among the values that stand out, of at most most components; where
// there is none, all that stand out, and at least one.
func (s *spectrum) choose(most int, slack float64) choice {
	standing := s.standing(most, slack)
	if standing == 0 {
		b, edge, _ := s.level(0)
		return choice{1, fmt.Sprintf("no component stands out: the largest variance, %.3g, is below %.3g, which noise and sampling alone reach if all variances are equal; 1 is kept, since a result has at least one: do not interpret it", s.values[0], b+edge)}
	}
	for k := standing; k > 0; k-- {
		if !s.clears(k, slack) {
			continue
		}
		b, edge, hidden := s.level(k)
		why := fmt.Sprintf("the spectrum has a cut after component %d: in %s its variance is %.3g, and the next one's %.3g", k, s.of(), s.values[k-1], s.values[k])
		if !(s.values[k]-b > edge) {
			why += fmt.Sprintf(", within the noise; a component below %.3g would not be seen", b+hidden)
		} else {
			why += "; more components stand out from the noise, but fall slowly"
		}
		return choice{k, why}
	}
	b, _, hidden := s.level(standing)
	all := fmt.Sprintf("%d stand out from the noise and are", standing)
	if standing == 1 {
		all = "1 stands out from the noise and is"
	}
	if standing == most {
		return choice{standing, fmt.Sprintf("the spectrum has no cut among the first %d components, all of which stand out from the noise: components_max limits them", most)}
	}
	return choice{standing, fmt.Sprintf("the spectrum has no cut that shows above the noise: %s taken; a component below %.3g would not be seen", all, b+hidden)}
}

// chosen returns what "auto" finds, of a study whose releases are all there. Variances are in the
// units of the result, whose scales were multiplied by unit.
func chosen(p *study.Plan, method string, moment *spectrum, releases []study.Release, unit, slack float64) (choice, error) {
	s := moment
	if method != proposal.MethodCovariance {
		s = &spectrum{along: true, d: p.D, n: float64(p.N)}
		for _, r := range releases {
			switch z := r.Z(); r.Kind {
			case study.KindVariance:
				if r.Unread() {
					return choice{1, "there are too few units at this ε to tell how large scores are, so no spectrum is known; 1 is kept, since a result has at least one: do not interpret it"}, nil
				}
				for _, i := range linalg.Falling(z) {
					s.values = append(s.values, z[i])
				}
				s.tau = r.Tau()
			case study.KindTotal:
				s.total, s.tauTotal = z[0], r.Tau()
			}
			if len(r.Scale) == p.D {
				s.d = 0
				for _, v := range r.Scale {
					if v != 0 {
						s.d++
					}
				}
			}
		}
	}
	if s == nil || len(s.values) == 0 || s.d < len(s.values) {
		return choice{}, proposal.FieldErrorf("releases", "they show no spectrum to find the number of components in")
	}
	return s.over(unit*unit).choose(min(p.K, s.d), slack), nil
}

// over returns the spectrum in units of square: the same cuts in other words.
func (s *spectrum) over(square float64) *spectrum {
	out := *s
	out.values = make([]float64, len(s.values))
	for i, v := range s.values {
		out.values[i] = v / square
	}
	out.total, out.tau, out.tauTotal = s.total/square, s.tau/square, s.tauTotal/square
	return &out
}

// spectrumOf is that of a released covariance.
func spectrumOf(m study.Moment, values []float64, d, n int) *spectrum {
	live := live(m, d)
	return &spectrum{values: values[:min(len(values), live)], tau: m.Tau, n: float64(n), total: m.Trace(d), d: live}
}

// live counts the coordinates that are not left out: those have zeros.
func live(m study.Moment, d int) (count int) {
	for i, at := 0, 0; i < d; i++ {
		if m.Packed[at] != 0 {
			count++
		}
		at += d - i
	}
	return count
}

// ComponentsText says how many components were found, and why; empty where their number was asked
// for.
func (r *Result) ComponentsText() string {
	if r.ComponentsWhy == "" {
		return ""
	}
	return fmt.Sprintf("the number of components, %d, was found by the study: %s", r.K, r.ComponentsWhy)
}

// trim keeps the components that "auto" found, of those that were asked about: what more there is
// of others stays in the releases and in Outputs.
func (r *Result) trim(c choice) {
	r.K, r.ComponentsAsked, r.ComponentsWhy = c.k, proposal.ComponentsAuto.String(), c.why
	r.Components = r.Components[:c.k]
	if len(r.ExplainedVariance) > 0 {
		r.ExplainedVariance, r.VarianceInterval = r.ExplainedVariance[:c.k], r.VarianceInterval[:c.k]
	}
	if len(r.VarianceRatio) > 0 {
		r.VarianceRatio = r.VarianceRatio[:c.k]
	}
	if len(r.Scores) > 0 {
		r.Scores = r.Scores[:c.k]
	}
	var pictures []Picture
	for _, p := range r.Pictures {
		if max(p.Pair[0], p.Pair[1]) <= c.k {
			pictures = append(pictures, p)
		}
	}
	r.Pictures = pictures
}

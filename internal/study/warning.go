package study

import (
	"fmt"
	"math"
	"strings"

	"covey/internal/proposal"
)

// warnEpsilon is the ε above which people are told what it means.
const warnEpsilon = 4

// Warnings returns what an operator should read before starting or approving the study.
func (p *Plan) Warnings() []string {
	var w []string
	if e := p.Proposal.Spec.Epsilon; e > warnEpsilon {
		w = append(w, fmt.Sprintf("epsilon = %g promises little: anyone who sees the result may come to believe one thing of one unit over another up to e^ε = %.3g times as strongly as before; up to 1 is usual, above %d hardly a promise", e, math.Exp(e), warnEpsilon))
	}
	if p.Thresholds.Corrupt == 0 {
		w = append(w, p.Thresholds.Collusion())
	}
	if few, usual := p.Thresholds.Corrupt, proposal.UsualCorrupt(p.Thresholds.Sites); few > 0 && few < usual {
		w = append(w, fmt.Sprintf("corrupt = %d: the study holds only while no more than %d of the %d sites collude with the coordinator; without this key, it would against %d",
			few, few, p.Thresholds.Sites, usual))
	}
	if s := p.Proposal.Spec; s.OnDropout == proposal.DropoutContinue && s.Noise == proposal.NoiseCentral {
		w = append(w, `on_dropout = "continue" with central noise: a hostile coordinator could subtract the exact sums of two rounds with different survivors and learn a site's sum (docs/threat-model.md)`)
	}
	if s := p.Proposal.Spec; s.Start != nil {
		text := fmt.Sprintf("start: the study begins at directions that its proposer gives, said to be of study %.12s; nothing checks this", s.Start.Result.String())
		if s.Noise == proposal.NoiseCentral {
			text += ". With central noise the coordinator's leader reads the exact sum along them: along a column that is 0 in all rows but one, it is that row"
		}
		w = append(w, text)
	}
	if unused := p.Proposal.Spec.Unused(); len(unused) > 0 {
		w = append(w, fmt.Sprintf("%s: no effect with method = \"covariance\", which has no rounds", strings.Join(unused, ", ")))
	}
	if small := p.Learning.warning(); small != "" {
		w = append(w, small)
	}
	if s := p.Proposal.Spec; s.PictureBy == proposal.PictureByColumn {
		w = append(w, fmt.Sprintf(`picture_by = "column": the picture of a level of %q that one site alone has shows that site, as picture_by = "site" would, and picture_by_site in its policy does not refuse it`, s.PictureColumn))
	}
	if share := p.centerNoise(); share > mostCenterNoise(p.D) {
		w = append(w, fmt.Sprintf("center: %d units are few for %d columns: the noise of the released mean is a direction with about %.2g times the variance of all columns together, and a component may be this noise; more units or fewer columns help, and with given constants center = \"public\" or \"pairs\"", p.N, p.D, share))
	}
	if coarse := p.pictureWarning(); coarse != "" {
		w = append(w, coarse)
	}
	if picked := float64(p.N) * p.Proposal.Spec.Delta; picked > 0.1 {
		// To publish a unit picked at random, with this probability, is (0, δ)-private.
		w = append(w, fmt.Sprintf("delta = %.2g is not small against 1/n = %.2g: such a promise would also let someone publish the data of one unit, picked at random, with probability %.2g", p.Proposal.Spec.Delta, 1/float64(p.N), min(1, picked)))
	}
	return w
}

// mostCenterNoise is the part of the total variance of d columns above which people are told of the
// noise of a released mean: half of what a first component has where eigenvalues fall like
// 1/(1+0.2·j).
func mostCenterNoise(d int) float64 { return 0.5 / (1 + 5*math.Log1p(0.2*float64(d))) }

// centerNoise is the squared length of the noise of a released mean, over that of a row: up to
// which the mean is clipped, or which it has by learned scales. It is 0 without a mean.
func (p *Plan) centerNoise() float64 {
	precision, learned := 0.0, 0.0
	for _, q := range p.Queries {
		tau := func(radius, grid float64) float64 {
			return q.Multiplier * p.Noise.Sensitivity(q, radius) * grid * p.NoiseFactor / float64(p.N)
		}
		switch q.Kind {
		case KindMean:
			precision += 1 / (tau(1, Grid(1)) * tau(1, Grid(1)))
		case KindMoments: // of 2z: the last one moves the center
			learned = tau(0, p.Noise.grid(q, 0)) / 2
		}
	}
	if precision == 0 {
		return learned * learned // a row's squared length is the number of columns, too
	}
	return float64(p.D) / precision
}

// AgainText warns of a study that asks what a completed one asked.
func (p *Plan) AgainText(completed proposal.Digest, name string) string {
	return fmt.Sprintf("study %.12s (%.80q) asked the same and is completed: its result costs nothing to read, and this study charges ρ = %.6g (ε = %g) again to everyone in the rows",
		completed.String(), name, p.Rho, p.Proposal.Spec.Epsilon)
}

// maxAgain is how many of AgainText are shown one by one.
const maxAgain = 3

// Again returns texts of AgainText, and of more than a few the first ones and how many there are: a
// study that is repeated every month must not hide its other warnings.
func Again(texts []string) []string {
	if len(texts) <= maxAgain {
		return texts
	}
	return append(texts[:maxAgain:maxAgain], fmt.Sprintf("%d more completed studies asked the same", len(texts)-maxAgain))
}

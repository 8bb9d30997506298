package worth

import (
	"slices"

	"covey/internal/prior"
	"covey/internal/result"
	"covey/internal/study"
)

// Times this factor is the loss taken that simulated studies bound where rounds start at a
// covariance's components: spectra that show the same of it may lose more than those of the family.
// A single component loses most: with fewer than wideColumns, one direction above many equal ones,
// which the parts do not show, costs a study more than any of the family does.
const (
	severalWider            = 1.1
	singleWider, singleMost = 1.25, 1.75
	wideColumns             = 128
)

func (s *Share) widen(columns, components int) {
	factor := severalWider
	switch {
	case components > 1:
	case columns < wideColumns:
		factor = singleMost
	default:
		factor = singleWider
	}
	s.Lower = max(0, 1-factor*(1-s.Lower))
}

// begins reads the parts of a covariance whose components a study's rounds started at: those of a
// result that ended there, with the one that was clipped low, and in force, as the last. It returns
// why there are no figures, or "", and leaves sky.First nil where nothing stands out of the noise.
func (out *Report) begins(p *study.Plan, r *result.Result, sky *prior.Study) (why string, err error) {
	ended := *r
	var moments []study.Release
	ended.Releases = nil
	for _, rel := range r.Releases {
		switch rel.Kind {
		case study.KindPower:
		case study.KindMoment:
			moments = append(moments, rel)
		default:
			ended.Releases = append(ended.Releases, rel)
		}
	}
	slices.Reverse(moments)
	ended.Releases = append(ended.Releases, moments...)
	ended.Radius = moments[len(moments)-1].Radius
	mu, vectors, tau, err := study.Spectrum(moments, r.D)
	if err != nil {
		return "", err
	}
	a := newSpectrum(mu, tau, int(sampleOf(r)), keptShare(r)*centerVariance(r))
	if a.heavy(p, &ended) {
		return heavyWhy, nil
	}
	out.Alarm = either(a.longer(&ended, vectors), hidden(p, &ended))
	sky.First = prior.Begin(mu, tau, r.K, p.Method.StepQuantile())
	return "", nil
}

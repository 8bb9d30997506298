package result

import (
	"fmt"
	"slices"
	"strings"

	"covey/internal/proposal"
	"covey/internal/study"
)

// Picture is a noised histogram of the scores of all units on two components.
type Picture struct {
	Pair   [2]int   `json:"pair"` // components, from 1
	By     string   `json:"by,omitempty"`
	Column string   `json:"column,omitempty"`
	Groups []string `json:"groups,omitempty"` // levels, or sites; one unnamed where By is empty
	// X and Y are the bins' edges on the first component and on the second, PictureBins + 1 each,
	// in scores of scaled and centered rows.
	X []float64 `json:"x_edges"`
	Y []float64 `json:"y_edges"`
	// Counts are those of each group, a vector of PictureBins² with bin (ix, iy) at
	// ix·PictureBins+iy: units, noised, and so perhaps below zero.
	Counts [][]float64 `json:"counts"`
	Sigma  float64     `json:"sigma"` // the noise's standard deviation on one count
}

// ScoreHistogram is a noised histogram of the scores of all units on one component.
type ScoreHistogram struct {
	Component int       `json:"component"` // from 1
	Edges     []float64 `json:"edges"`     // ScoreBins + 1
	Counts    []float64 `json:"counts"`    // ScoreBins, as in Picture
	Sigma     float64   `json:"sigma"`
}

// picture fills in pictures and histograms of scores, which are divided by unit. A picture has no
// group for sites that are not in the sum, nor for levels that are joined to their column's other:
// their blocks hold only noise.
func (r *Result) picture(p *study.Plan, releases []study.Release, unit float64) {
	s := p.Proposal.Spec
	for _, rel := range releases {
		counts := make([]float64, len(rel.Noised))
		for i, v := range rel.Noised {
			counts[i] = float64(v) * rel.Grid
		}
		sigma := rel.Spread() * rel.Grid
		switch rel.Kind {
		case study.KindScores:
			for l, deviation := range rel.Deviations {
				r.Scores = append(r.Scores, ScoreHistogram{Component: l + 1, Edges: scoreEdges(deviation/unit, study.ScoreBins), Counts: counts[l*study.ScoreBins : (l+1)*study.ScoreBins], Sigma: sigma})
			}
			r.PictureNote = pictureNote(s, r.VarianceUnknown())
		case study.KindPicture:
			x, y := p.Pictures.Pair(p.Queries[rel.Query])
			picture := Picture{Pair: [2]int{x + 1, y + 1}, By: s.PictureBy, Column: s.PictureColumn, Sigma: sigma,
				X: scoreEdges(rel.Deviations[x]/unit, study.PictureBins), Y: scoreEdges(rel.Deviations[y]/unit, study.PictureBins)}
			const bins = study.PictureBins * study.PictureBins
			for at, name := range p.Pictures.Groups {
				if s.PictureBy == proposal.PictureBySite && !slices.Contains(rel.Survivors, at) {
					continue
				}
				if last := p.Pictures.Width - 1; at < last && rel.Scale[p.Pictures.First+at] == 0 {
					continue
				}
				if s.PictureBy != "" {
					picture.Groups = append(picture.Groups, name)
				}
				picture.Counts = append(picture.Counts, counts[at*bins:(at+1)*bins])
			}
			r.Pictures = append(r.Pictures, picture)
		}
	}
}

// pictureNote says what pictures show and what they do not; unread reports whether the variance
// that edges are made of is not known.
func pictureNote(s proposal.Spec, unread bool) string {
	edges := fmt.Sprintf("edges are within %d deviations of the released variance, or of twice its noise where that is more", study.PictureReach)
	if unread {
		edges = "edges do not show how large scores are, since the variance is not known"
	}
	text := fmt.Sprintf("counts of units are noised, and may be below zero; %s, and the outermost bins also hold what lies beyond; "+
		"scores are those of scaled, centered and filled rows, before any clipping", edges)
	if s.Standardizes() {
		text += fmt.Sprintf("; values of learned columns are within %d scales of their center", study.LearnedLimit)
	}
	if s.Unit != "" {
		text += "; a unit counts as the average of its rows"
	}
	switch s.PictureBy {
	case proposal.PictureByColumn:
		text += fmt.Sprintf("; groups are the levels of %q, those that left_out_ has are in its other, and a row without one is in no group", s.PictureColumn)
	case proposal.PictureBySite:
		text += "; each group shows an institution: ε and δ protect units, not sites, and blocks are not authenticated, so that a corrupt site can fill another's"
	}
	return text
}

// PictureText says which pictures a result has, and how many of those that were paid for it has
// not; empty where none were.
func (r *Result) PictureText() string {
	asked := 0
	for _, rel := range r.Releases {
		if rel.Kind == study.KindPicture {
			asked++
		}
	}
	lost := ""
	if n := asked - len(r.Pictures); n > 0 { // cut with the components
		lost = fmt.Sprintf("%d of %d pictures that were asked for are not shown: the study found fewer components than they are of", n, asked)
	}
	if len(r.Pictures) == 0 {
		return lost
	}
	var pairs []string
	for _, picture := range r.Pictures {
		pairs = append(pairs, fmt.Sprintf("%d and %d", picture.Pair[0], picture.Pair[1]))
	}
	first := r.Pictures[0]
	text := fmt.Sprintf("noised counts of scores on components %s, ± %.3g units a bin", strings.Join(pairs, ", "), first.Sigma)
	switch first.By {
	case proposal.PictureByColumn:
		text += fmt.Sprintf(", by %q", first.Column)
	case proposal.PictureBySite:
		text += ", by site: each group shows an institution, and blocks are not authenticated"
	}
	if lost != "" {
		text += "; " + lost
	}
	return text
}

// scoreEdges are those of so many bins of equal width, within PictureReach deviations.
func scoreEdges(deviation float64, bins int) []float64 {
	out := make([]float64, bins+1)
	for i := range out {
		out[i] = deviation * (2*study.PictureReach*float64(i)/float64(bins) - study.PictureReach)
	}
	return out
}

package study

import "covey/internal/proposal"

// Coordinates returns the D coordinates of a row's vector in order, which no caller may change.
func (p *Plan) Coordinates() []proposal.Coordinate { return p.coordinates }

// Single returns the coordinates that a query about single columns is of, ascending, by the
// proposal alone. They are those of columns of numbers: with a public scale too, since these
// queries find its center. Levels and missing values have queries of their own. Moments are of
// some of these as well, as zeros, so that they have room (roomy). No caller may change it.
func (p *Plan) Single(k Kind) []int {
	if k == KindMoments {
		return p.roomy
	}
	return p.numbers
}

// room is of how many coordinates moments are at most, over the columns of numbers. A moment query
// clips its columns together. That makes their scales too small, all alike, which does no harm
// among themselves; but beside levels, whose scales are counts, numbers would weigh too much.
const room = 3

// setCoordinates lists a row's coordinates, and sets what Single returns.
func (p *Plan) setCoordinates() {
	p.coordinates = p.Proposal.Spec.Coordinates()
	p.numbers, p.roomy = nil, nil
	for j := range p.coordinates {
		if !p.counted(j) {
			p.numbers = append(p.numbers, j)
		}
	}
	left := (room - 1) * len(p.numbers)
	for j := range p.coordinates {
		if p.counted(j) {
			if left--; left < 0 {
				continue
			}
		}
		p.roomy = append(p.roomy, j)
	}
}

// leveled reports whether coordinate j is of a column with levels.
func (p *Plan) leveled(j int) bool { return p.coordinates[j].Level >= 0 }

// counted reports whether coordinate j is centered and scaled by a released count: of levels, or of
// cells without a value.
func (p *Plan) counted(j int) bool { return p.leveled(j) || p.coordinates[j].Gap }

package result

import (
	"covey/internal/linalg"
	"covey/internal/proposal"
)

// SetStart sets a spec's start to the components of r, a result that verified, whose columns must
// be the spec's, by name, offset and scale.
func (r *Result) SetStart(s *proposal.Spec) error {
	if r.D != s.Width() || len(r.Components) < s.MostComponents() {
		return proposal.FieldErrorf("start.file", "has %d components of %d columns, the study %d of %d", len(r.Components), r.D, s.MostComponents(), s.Width())
	}
	for i, at := range s.Coordinates() {
		if c := s.Columns[at.Column]; r.Columns[i] != at.Name || r.Offset[i] != c.Offset || r.Scale[i] != c.Scale {
			return proposal.FieldErrorf("start.file", "column %d is another, or has another offset or scale", i+1)
		}
	}
	vectors := r.Components[:s.MostComponents()]
	// orthonormal to the last bit that a file of another processor may have lost
	s.Start = &proposal.Start{Result: r.Digest, Vectors: linalg.Flat(linalg.Orthonormalize(vectors, vectors))}
	return nil
}

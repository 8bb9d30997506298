package result

import (
	"covey/internal/linalg"
	"covey/internal/proposal"
)

// SetStart sets a spec's start to the components of r, a result that verified, whose columns must
// be the spec's, by name, offset and scale.
func (r *Result) SetStart(s *proposal.Spec) error {
	if r.D != s.Width() {
		return proposal.FieldErrorf("start.file", "must have the study's %d columns, got %d", s.Width(), r.D)
	}
	if k := s.MostComponents(); len(r.Components) < k {
		return proposal.FieldErrorf("start.file", "must have at least the study's %d components, got %d", k, len(r.Components))
	}
	for i, at := range s.Coordinates() {
		c := s.Columns[at.Column]
		if r.Columns[i] != at.Name {
			return proposal.FieldErrorf("start.file", "must have the study's columns in its order: column %d is %.80q, want %.80q", i+1, r.Columns[i], at.Name)
		}
		if r.Offset[i] != c.Offset || r.Scale[i] != c.Scale {
			return proposal.FieldErrorf("start.file", "must have the study's offsets and scales: column %.80q has %v and %v, the study %v and %v", at.Name, r.Offset[i], r.Scale[i], c.Offset, c.Scale)
		}
	}
	vectors := r.Components[:s.MostComponents()]
	// orthonormal to the last bit that a file of another processor may have lost
	s.Start = &proposal.Start{Result: r.Digest, Vectors: linalg.Flat(linalg.Orthonormalize(vectors, vectors))}
	return nil
}

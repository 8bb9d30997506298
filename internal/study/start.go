package study

import (
	"encoding/base64"
	"encoding/binary"
	"math"
)

// Start is where power iteration starts: components that an earlier study released. The digest of
// the proposal covers them, so that every site approves the very vectors. Privacy holds for any
// start; a bad one costs rounds.
type Start struct {
	// File is a result file that "coordinator study create" takes the rest from. A proposal has
	// none.
	File string `toml:"file,omitempty" json:"file,omitempty"`
	// Result is the digest of the study that found the vectors.
	Result Digest `toml:"result" json:"result"`
	// Vectors are k orthonormal vectors of d.
	Vectors Vectors `toml:"vectors" json:"vectors"`
}

// Vectors are float64 numbers written in base64, big-endian: exact, and four times as short as
// digits.
type Vectors []float64

// MarshalText writes base64.
func (v Vectors) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		raw = binary.BigEndian.AppendUint64(raw, math.Float64bits(x))
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText reads what MarshalText writes, in its one form.
func (v *Vectors) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil || len(raw)%8 != 0 {
		return fieldError("start.vectors", "base64 of float64 numbers is wanted")
	}
	*v = make(Vectors, len(raw)/8)
	for i := range *v {
		(*v)[i] = math.Float64frombits(binary.BigEndian.Uint64(raw[8*i:]))
	}
	return nil
}

// Encode returns s as a study.toml, with all that it was resolved to.
func (s Spec) Encode() ([]byte, error) { return encode(s) }

// checkStart checks the vectors: as many as components, finite and orthonormal within 1e-9.
func (s *Spec) checkStart() error {
	if s.Start == nil {
		return nil
	}
	if s.Method == MethodCovariance {
		return fieldError("start", `is of no use with method = "covariance"`)
	}
	if s.Start.File != "" { // not read yet
		if s.Start.Result != (Digest{}) || len(s.Start.Vectors) > 0 {
			return fieldError("start", "has a file and vectors; one of them is meant")
		}
		return validText("start.file", s.Start.File)
	}
	if want := s.Width() * s.mostComponents(); len(s.Start.Vectors) != want {
		return fieldError("start.vectors", "must be %d numbers, components times columns, got %d", want, len(s.Start.Vectors))
	}
	if why := orthonormal(s.Start.Vectors, s.Width()); why != "" {
		return fieldError("start.vectors", "%s", why)
	}
	return nil
}

// StartFrom takes the start from a result that verified: its components, whose columns must be the
// spec's, by name, offset and scale.
func (s *Spec) StartFrom(r *Result) error {
	if r.D != s.Width() || len(r.Components) < s.mostComponents() {
		return fieldError("start.file", "has %d components of %d columns, the study %d of %d", len(r.Components), r.D, s.mostComponents(), s.Width())
	}
	for i, at := range s.Coordinates() {
		if c := s.Columns[at.Column]; r.Columns[i] != at.Name || r.Offset[i] != c.Offset || r.Scale[i] != c.Scale {
			return fieldError("start.file", "column %d is another, or has another offset or scale", i+1)
		}
	}
	vectors := r.Components[:s.mostComponents()]
	// orthonormal to the last bit that a file of another processor may have lost
	s.Start = &Start{Result: r.Digest, Vectors: flat(orthonormalize(vectors, vectors))}
	return nil
}

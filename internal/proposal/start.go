package proposal

import (
	"encoding/base64"
	"encoding/binary"
	"math"

	"covey/internal/linalg"
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
		return FieldErrorf("start.vectors", "base64 of float64 numbers is wanted")
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
		return FieldErrorf("start", `is of no use with method = "covariance"`)
	}
	if s.Start.File != "" { // not read yet
		if s.Start.Result != (Digest{}) || len(s.Start.Vectors) > 0 {
			return FieldErrorf("start", "has a file and vectors; one of them is meant")
		}
		return validText("start.file", s.Start.File)
	}
	if want := s.Width() * s.MostComponents(); len(s.Start.Vectors) != want {
		return FieldErrorf("start.vectors", "must be %d numbers, components times columns, got %d", want, len(s.Start.Vectors))
	}
	if why := linalg.Orthonormal(s.Start.Vectors, s.Width()); why != "" {
		return FieldErrorf("start.vectors", "%s", why)
	}
	return nil
}

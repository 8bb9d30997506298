package study

import (
	"crypto/sha256"
	"math"
	"slices"

	"covey/internal/proposal"
)

// historyLabel separates links from every other hash.
const historyLabel = "covey history v1\x00"

// Link returns the hash of encoded release bytes. It covers all earlier releases, too, because the
// bytes hold the previous link.
func Link(encoded []byte) proposal.Digest {
	h := sha256.New()
	h.Write([]byte(historyLabel))
	h.Write(encoded)
	return proposal.Digest(h.Sum(nil))
}

// CheckCourse returns nil if an ask follows from the releases that led to the course: it is for the
// course's query, with the same history, vectors and radius. A number may be off by its last
// digits, which differ between processors (docs/protocol.md); Check compares g and σ with R. The
// error is a *MismatchError, whose Field is FieldHistory where the releases are others.
func (p *Plan) CheckCourse(c Course, a Ask) error {
	if a.Query != c.Query {
		return mismatch(a.Query, "query", "query %d is due", c.Query)
	}
	if a.History != c.History {
		return mismatch(a.Query, FieldHistory, "is not the link of the releases before")
	}
	want, err := p.NewAsk(c, a.Slot)
	if err != nil {
		return err
	}
	const why = "does not follow from the releases before"
	switch {
	case !NearVector(a.X, want.X):
		return mismatch(a.Query, "x", why)
	case !nearCenter(a.Center, want.Center, want.Scale):
		return mismatch(a.Query, "center", why)
	case !slices.EqualFunc(a.Scale, want.Scale, Near):
		return mismatch(a.Query, "scale", why)
	case !NearVector(a.Fill, want.Fill):
		return mismatch(a.Query, "fill", why)
	case !slices.EqualFunc(a.Deviations, want.Deviations, Near):
		return mismatch(a.Query, "deviations", why)
	case !NearVector(a.Found, want.Found):
		return mismatch(a.Query, "found", why)
	case !Near(a.Radius, want.Radius):
		return mismatch(a.Query, "radius", why)
	}
	return nil
}

// FieldHistory is the Field of a MismatchError about a history that is not this party's.
const FieldHistory = "history"

// nearCenter is within verifyTolerance: of the largest coordinate wanted, since a center has units,
// or where scales are learned of each coordinate and its scale, since each has a unit of its own.
func nearCenter(a, b, scale []float64) bool {
	if len(a) != len(b) {
		return false
	}
	size := 0.0
	for _, v := range b {
		size = max(size, math.Abs(v))
	}
	for j, v := range a {
		if len(scale) == len(a) {
			size = max(math.Abs(b[j]), scale[j])
		}
		if v != b[j] && !(math.Abs(v-b[j]) <= verifyTolerance*size) {
			return false
		}
	}
	return true
}

// Near reports whether a equals b up to what two processors may differ by, relative to b.
func Near(a, b float64) bool { return math.Abs(a-b) <= verifyTolerance*math.Abs(b) }

// NearVector is absolute for what is at most 1, such as coordinates of unit vectors.
func NearVector(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(a, b float64) bool {
		return a == b || math.Abs(a-b) <= verifyTolerance*max(1, math.Abs(b))
	})
}

// verifyTolerance bounds how far a number that Verify computes anew may be from
// the file's: relative for noise-to-signal, radius and charges, absolute for the
// coordinates of unit vectors. exp, log, sums of products (fused on some processors)
// and eigenvectors differ in their last bits between processors, and coordinators and
// verifiers need not run on the same. It lets nobody change a file: the
// signature covers every bit. What a coordinator could sign within it is the last
// digits of post-processing, and of the noise what Check allows (docs/protocol.md).
const verifyTolerance = 1e-9

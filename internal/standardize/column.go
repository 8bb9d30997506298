// Package standardize estimates each column's center and scale from released values: noised counts
// of octaves, a noised tree of counts, noised moments and a noised diagonal. It computes only with
// released values and public constants, so privacy does not depend on it. Its results are the same
// to the last bit on every processor, since each site derives the next step from them. For any
// finite input they are finite and within public bounds.
//
// Every step takes the columns that the step before it returned. Rows asked about next are z = (y -
// Center)/Scale, column by column; one of Scale 0 is left out, as zeros. Values are per unit: a
// released sum times its grid over the number of units, and tau is the standard deviation of its
// noise in the same unit.
package standardize

// Reason is why a column is left out.
type Reason string

// Reasons.
const (
	In       Reason = ""
	Weak     Reason = "weak"     // its counts do not stand out from the noise
	Constant Reason = "constant" // it has one value, as far as its counts show
)

// Column is what is known of a column.
type Column struct {
	Center, Scale float64 // rows asked about next are (y - Center)/Scale; Scale 0: left out
	Score         float64 // how far its octaves stand out from the noise, in standard deviations
	Zero          float64 // the part of units that are exactly zero, 0 where noise might be all
	SkipZeros     bool    // a tree is read without the exact zeros, which are in it
	Narrow        bool    // its tree shows no width
	Parted        bool    // its tree shows none but that of two parts, if any: the second may be noise
	Most          float64 // the part of units that one of the finest bins seems to hold
	Variance      float64 // the mean of z's noised variances, of all moment queries
	Doubt         float64 // standard deviation of the logarithm of z's variance, of the last moments
	Out           Reason
}

// Bounds of what is returned: |Center| ≤ farthest, Scale 0 or in [finest, farthest].
const (
	farthest = 0x1p+44
	finest   = 0x1p-64
)

// out leaves the column out.
func (c Column) out(why Reason) Column {
	c.Center, c.Scale, c.SkipZeros, c.Out = 0, 0, false, why
	return c
}

// at is the column with another place, kept within bounds.
func (c Column) at(center, scale float64) Column {
	c.Center = max(-farthest, min(center, farthest))
	c.Scale = max(finest, min(scale, farthest))
	return c
}

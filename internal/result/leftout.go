package result

import (
	"covey/internal/layout"
	"covey/internal/standardize"
)

// LeftOut is a column that a study left out.
type LeftOut struct {
	Column string             `json:"column"`
	Why    standardize.Reason `json:"why"`
}

// Words returns why in words.
func (l LeftOut) Words() string {
	switch l.Why {
	case standardize.Constant:
		return "its noised counts show one value: it may have others, if these are rare, or if all lie hundreds of their deviations from 0"
	case layout.Joined:
		return "it is rare by its noised count, and its rows count as the column's other"
	case layout.Rare:
		return "too few rows have it, as far as its noised count shows"
	case layout.Even:
		return "by the noised count, too few rows lack a value, or too few have one"
	case layout.Single:
		return "fewer than two levels of the column stand out from the noise"
	}
	return "its counts do not stand out from the noise"
}

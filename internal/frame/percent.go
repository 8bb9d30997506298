package frame

import (
	"math"
	"strconv"
)

// Percent writes a part of a whole, rounded to so many decimals: no part is rounded to nothing or
// to all.
func Percent(part float64, decimals int) string {
	format := func(v float64) string { return strconv.FormatFloat(v, 'f', decimals, 64) + "%" }
	step := math.Pow(10, -float64(decimals))
	switch text := format(100 * part); {
	case part > 0 && text == format(0):
		return "< " + format(step)
	case part < 1-1e-9 && text == format(100): // a sum of charges may miss all by its last digits
		return "> " + format(100-step)
	default:
		return text
	}
}

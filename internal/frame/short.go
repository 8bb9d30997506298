package frame

import "strconv"

// Short rounds to four digits, for a log that people read.
func Short(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return v
}

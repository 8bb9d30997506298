package clip

import "math"

// Read returns the sum of all words of values, by the code path in use, as fast as they can be
// read. A sum over rows cannot be faster. Only benchmarks call it, to compare the two.
func Read(values []float64) uint64 {
	n := len(values) &^ 4095
	return readVector(values[:n]) + readPortable(values[n:])
}

// readPortable is the sum of all words of v, four at a time.
func readPortable(v []float64) uint64 {
	var a, b, c, d uint64
	for ; len(v) >= 4; v = v[4:] {
		a += math.Float64bits(v[0])
		b += math.Float64bits(v[1])
		c += math.Float64bits(v[2])
		d += math.Float64bits(v[3])
	}
	for _, x := range v {
		a += math.Float64bits(x)
	}
	return a + b + c + d
}

package clip

// subtract sets out to rows less a center, each value kept within ±top, on the path in use.
func subtract[T number](out []float64, rows []T, center []float64, top float64) {
	rows = rows[:len(out)]
	if len(rows) == 0 || !subtractVector(out, rows, center, top) {
		subtractPortable(out, rows, center, top)
	}
}

func subtractPortable[T number](out []float64, rows []T, center []float64, top float64) {
	for d := len(center); len(rows) > 0; out, rows = out[d:], rows[d:] {
		for j, c := range center {
			out[j] = min(max(float64(rows[j])-c, -top), top)
		}
	}
}

// standard sets out to rows less a center over a scale, each value kept within ±limit, and 0 where
// the scale is, on the path in use.
func standard[T number](out []float64, rows []T, center, scale, limit []float64) {
	rows = rows[:len(out)]
	if len(rows) == 0 || !standardVector(out, rows, center, scale, limit) {
		standardPortable(out, rows, center, scale, limit)
	}
}

func standardPortable[T number](out []float64, rows []T, center, scale, limit []float64) {
	for d := len(center); len(rows) > 0; out, rows = out[d:], rows[d:] {
		for j, c := range center {
			out[j] = 0
			if scale[j] > 0 { // |row - c| is below 2^501: the quotient is finite
				out[j] = min(max((float64(rows[j])-c)/scale[j], -limit[j]), limit[j])
			}
		}
	}
}

// takeOff takes off v row at[i] of rows for each i, one after another, on the path in use. The rows
// are as long as v: a multiple of eight.
func takeOff(v, rows []float64, at []int) {
	if len(at) == 0 || len(v) == 0 || !takeOffVector(v, rows, at) {
		takeOffPortable(v, rows, at)
	}
}

func takeOffPortable(v, rows []float64, at []int) {
	for _, i := range at {
		row := rows[i*len(v):][:len(v)]
		for j, x := range row {
			v[j] -= x
		}
	}
}

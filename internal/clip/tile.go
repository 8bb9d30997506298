package clip

// dotsBlock sets s[l·h+i] to rows[i]ᵀx_l, each as [dot] adds it, for the h rows and the directions
// x_l of length d, on the path in use. far as in [dots].
func dotsBlock[T number](s []float64, rows []T, x []float64, h, d, far int) {
	s, rows = s[:len(x)/d*h], rows[:h*d]
	if h == 0 {
		return
	}
	for len(x) > 0 {
		w, n := dotsTile(s, rows, x, h, d, far)
		for l := 0; l < w && n < h; l++ {
			dots(s[l*h+n:(l+1)*h], rows[n*d:], x[l*d:(l+1)*d], far)
		}
		s, x = s[w*h:], x[w*d:]
	}
}

// accumulateBlock adds to acc, sums of length d of each direction l, the bits of
// round(c[l·h+i]·rows[i]) + 1.5·2^52 for each of the h rows, on the path in use.
// far as in [dots].
func accumulateBlock[T number](acc []uint64, rows []T, c []float64, h, d, far int) {
	c, rows = c[:len(acc)/d*h], rows[:h*d]
	if h == 0 {
		return
	}
	for len(acc) > 0 {
		w, n := accumulateTile(acc, rows, c, h, d, far)
		for l := 0; l < w && n < h; l++ {
			accumulate(acc[l*d:(l+1)*d], rows[n*d:], c[l*h+n:(l+1)*h], far)
		}
		acc, c = acc[w*d:], c[w*h:]
	}
}

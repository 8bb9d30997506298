package worth

import (
	"math"

	"covey/internal/result"
	"covey/internal/study"
)

// shortest is how many times shorter than the clip, squared, rows are of which a histogram's noise
// would be more than what they say.
const shortest = 256

// longTails returns how many times as much a second moment of rows varies as one of as many normal
// rows with its eigenvalues xi. Of elliptical rows that is E ρ⁴/(E ρ²)² over 1 + 2 Σxi²/(Σxi)²
// (Mardia 1970), with ρ the length of a clipped row: the clip leaves a part of a heavy tail.
// Lengths are those of the noised histogram that the clip was read off. Where they say less than 1,
// or where the clip is public, rows count as normal ones.
func longTails(p *study.Plan, r *result.Result, xi []float64) float64 {
	sum, squares, most := 0.0, 0.0, 1.0
	for _, x := range xi {
		sum, squares = sum+x, squares+x*x
	}
	for _, rel := range r.Releases {
		if rel.Kind != study.KindHistogram || p.Queries[rel.Query].Of != study.KindTotal {
			continue
		}
		rows := float64(rel.Units) / rel.Grid * keptShare(r)
		clipped, second, fourth := rows, 0.0, 0.0
		for at := 1; at < len(rel.Noised) && study.BinEdge(at) <= r.Radius; at++ {
			if square := math.Sqrt(study.BinEdge(at-1) * study.BinEdge(at)); square > r.Radius/shortest {
				n := float64(rel.Noised[at])
				clipped, second, fourth = clipped-n, second+n*square, fourth+n*square*square
			}
		}
		second, fourth = second+clipped*r.Radius, fourth+clipped*r.Radius*r.Radius
		// Noise alone can make these numbers anything: what is no number widens nothing.
		if ratio := rows * fourth / (second * second) / (1 + 2*squares/(sum*sum)); second > 0 && ratio > most {
			most = ratio
		}
	}
	return most
}

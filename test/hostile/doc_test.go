// Package hostile holds a coordinator that does what it likes: it speaks the wire protocol with
// real agents, has the CA's and the signing key and all that up to η corrupt sites know, and tries
// to see more than the one sum a query that it is allowed. What it saw is then judged by linear
// algebra over ℚ (checker): which combinations of uploads cancel every unknown key is what it can
// read. Lawful is one a query, with equal coefficients, over the honest sites of one U of at least
// U_min. TestCheckerSees leaves out each of nine rules at otherwise honest sites, and the checker
// must name the break. Only tests use it.
//
// In the model of TestEveryInterleaving "at most one sum" takes L6 (one signature a slot) and L8
// (one opening a query): each opening takes q-η honest sites, each honest site helps in one, and
// 2(q-η) > N-η. Left out alone, either breaks it; L9 or L10 does not.
//
// The rules of docs/protocol.md that a test attacks stand in its comment.
package hostile

import (
	"flag"
	"testing"
)

// variants bounds how many variants of each large table are run; the table is walked in
// even steps, so that each of its parts is met.
var variants = flag.Int("variants", 20, "variants of each large table of attacks; 0 for all")

// chosen returns the indices of a table of n that are run; few with -short, for the race detector.
func chosen(n int) []int {
	step, most := 1, *variants
	if testing.Short() && most > 0 {
		most = min(most, 4)
	}
	if most > 0 && n > most {
		step = n / most
		for n%step == 0 || step%2 == 0 { // no common factor with the table's rows
			step++
		}
	}
	var out []int
	for i := 0; i < n; i += step {
		out = append(out, i)
	}
	return out
}

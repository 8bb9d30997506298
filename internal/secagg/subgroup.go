package secagg

import (
	"crypto/rand"
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"

	"filippo.io/edwards25519"
)

// The curve's group is E[8] × G with G the prime-order subgroup and E[8] cyclic of order 8:
// each point is P + T, T its torsion, in one way. That no torsion is in P_1..P_n is checked
// on random sums:
//
//	Σ_j c_j P_j for independent fair bits c_j has the torsion Σ_j c_j T_j. If any T_i ≠ 0,
//	then whatever the other bits are, at most one value of c_i makes that 0: a sum is
//	outside G with probability 1/2 at least.
//
// Larger coefficients would not help: T of order 2 sees only their lowest bit. So one
// combination with long coefficients is not enough, and subgroupSums independent ones are
// drawn, whose chance to miss is 2^-128. No good set fails. Points that come from one peer
// are fixed (signed) before the bits are drawn, which are used once and thrown away.
const subgroupSums = 128

// Costs in additions of points.
const (
	costExact = 200 // of primeOrder
	maxWindow = 12  // 2^12 points of 160 bytes stay in a core's cache
)

// subgroupWindow returns the w of the cheapest batch of n points, 0 where one by one is cheaper.
func subgroupWindow(n int) int {
	best, least := 0, n*costExact
	for w := 1; w <= maxWindow; w++ {
		if cost := (subgroupSums + w - 1) / w * (n + 2<<w + w*costExact); cost < least {
			best, least = w, cost
		}
	}
	return best
}

// inSubgroup reports whether all points are of the prime-order subgroup. A yes is wrong with
// probability 2^-128 at most, over its own randomness; a no is never wrong.
func inSubgroup(points []*edwards25519.Point) bool {
	w := subgroupWindow(len(points))
	if w == 0 {
		for _, p := range points {
			if !primeOrder(p) {
				return false
			}
		}
		return true
	}
	rounds := (subgroupSums + w - 1) / w
	var next atomic.Int64
	var bad atomic.Bool
	var work sync.WaitGroup
	for range min(rounds, runtime.GOMAXPROCS(0)) {
		work.Go(func() {
			buckets, drawn := make([]edwards25519.Point, 1<<w), make([]byte, 2*len(points))
			for next.Add(1) <= int64(rounds) && !bad.Load() {
				if !subsetSums(points, buckets, drawn) {
					bad.Store(true)
				}
			}
		})
	}
	work.Wait()
	return !bad.Load()
}

// subsetSums draws w bits a point and says that the w sums of the points with bit i set are
// of the subgroup. Points go by all their bits into one of the 2^w buckets, one addition
// each; the sums are then made of the buckets. drawn has room for two bytes a point.
func subsetSums(points []*edwards25519.Point, buckets []edwards25519.Point, drawn []byte) bool {
	for i := range buckets {
		buckets[i].Set(identity)
	}
	rand.Read(drawn) // never fails: the process ends instead
	for i, p := range points {
		b := &buckets[int(binary.LittleEndian.Uint16(drawn[2*i:]))%len(buckets)]
		b.Add(b, p)
	}
	sum := new(edwards25519.Point)
	for half := len(buckets) / 2; half > 0; half /= 2 {
		// This bit is set in the upper half; below it the halves are alike.
		sum.Set(identity)
		for i := range half {
			upper := &buckets[half+i]
			sum.Add(sum, upper)
			buckets[i].Add(&buckets[i], upper)
		}
		if !primeOrder(sum) {
			return false
		}
	}
	return true
}

// checkSubgroup checks the points of all announcements in one batch, and only if that fails
// one batch a dealer, to name it.
func (s *Setup) checkSubgroup() error {
	var all []*edwards25519.Point
	for _, a := range s.sites {
		all = append(all, a.points()...)
	}
	if inSubgroup(all) {
		return nil
	}
	for i, a := range s.sites {
		if !inSubgroup(a.points()) {
			return &SiteError{i, errOrder}
		}
	}
	// Each dealer's batch missed, with probability 2^-128: look at every point.
	for i, a := range s.sites {
		for _, p := range a.points() {
			if !primeOrder(p) {
				return &SiteError{i, errOrder}
			}
		}
	}
	return errOrder
}
